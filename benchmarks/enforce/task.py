"""The input of a contender and its result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

CONTRACT = Path(__file__).with_name("orders.yaml")


@dataclass(frozen=True)
class Work:
    """The orders as a frame, and a folder to write to."""

    spark: SparkSession
    orders: DataFrame
    folder: Path


Answer: TypeAlias = Mapping[str, int]
"""Violations by rule, under the names that `data.expected` has; rules without a count are left out."""
Case: TypeAlias = Callable[[Work], Answer]
