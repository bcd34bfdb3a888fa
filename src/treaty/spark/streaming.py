"""Contracts on streams: rules on single rows need nothing special; each batch is held to the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeAlias

from pyspark.sql import DataFrame

from treaty.contracts.model import Contract
from treaty.spark.enforcing import Enforcement, enforce
from treaty.spark.policy import Policy

OnBatch: TypeAlias = Callable[[Enforcement, int], None]


def each_batch(
    contract: Contract | str | Path,
    act: OnBatch,
    *,
    object_name: str | None = None,
    policy: Policy | None = None,
    references: Mapping[str, DataFrame] | None = None,
) -> Callable[[DataFrame, int], None]:
    """Return a function for `foreachBatch` that holds each batch to every rule, then lets `act` write it."""

    def on_batch(batch: DataFrame, number: int) -> None:
        act(enforce(batch, contract, object_name=object_name, policy=policy, references=references), number)

    return on_batch
