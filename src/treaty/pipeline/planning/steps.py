"""Steps: each fills one table from others, under one contract."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from pyspark.sql.types import StructType

from treaty.contracts.model import Contract
from treaty.pipeline.declarations import Declared, Sql
from treaty.pipeline.planning.digests import Digest


class Layer(StrEnum):
    """The layers, upstream first; each has a namespace of its own."""

    RAW = "raw"
    EVENTS = "events"
    PRODUCTS = "products"
    RECONCILIATION = "reconciliation"
    PUBLICATIONS = "publications"


class Mode(StrEnum):
    """What a step computes when its inputs have something new."""

    APPEND = "append"
    """The new rows only."""
    KEYED = "keyed"
    """The keys that new rows touch, from all rows of those keys."""
    FULL = "full"
    """Everything."""


@dataclass(frozen=True)
class Key:
    """By what a step is computed key by key: columns of its own table, and of each input that has the key."""

    columns: tuple[str, ...]
    inputs: Mapping[str, tuple[str, ...]]
    """By the table of the input; a change in any other input touches every key."""


@dataclass(frozen=True)
class Asked:
    """A query of a step, and what it may read, each input by the name that it has there."""

    sql: Sql
    reads: Mapping[str, StructType]


@dataclass(frozen=True)
class Step:
    """What fills one table."""

    name: str
    """The declaration's; the two steps of a source share it."""
    layer: Layer
    table: str
    declared: Declared
    contract: Contract
    reads: tuple[str, ...]
    """The tables that it reads."""
    mode: Mode
    mode_reason: str
    key: Key | None
    parts: Digest
    queries: tuple[Asked, ...] = ()

    @property
    def digest(self) -> str:
        """What tells whether the step is still the one that wrote its table, as a stamp keeps it."""
        return str(self.parts)
