"""Which tables belong to a reconciliation, and how its keys are written and found."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from treaty.errors import NotFound
from treaty.pipeline.layers.reconciliation.columns import key_of_exceptions
from treaty.pipeline.planning.tables import acceptances_table, exceptions_table
from treaty.pipeline.tables import Tables
from treaty.spark.columns import named

LAYER = "reconciliation"
_EXCEPTIONS = "_exceptions"


@dataclass(frozen=True)
class Kept:
    """The tables of one reconciliation, by its name."""

    name: str

    @property
    def rows(self) -> str:
        """The table of its keys."""
        return f"{LAYER}.{self.name}"

    @property
    def exceptions(self) -> str:
        """The table of its exceptions."""
        return exceptions_table(self.name)

    @property
    def acceptances(self) -> str:
        """The table in which people accept them."""
        return acceptances_table(self.name)


def kept(tables: Tables, name: str | None = None) -> tuple[Kept, ...]:
    """Return the reconciliations that have run, or the one that is named."""
    there = set(tables.listed(LAYER))
    found = [Kept(table.removeprefix(f"{LAYER}.").removesuffix(_EXCEPTIONS)) for table in sorted(there)]
    known = tuple(one for one in dict.fromkeys(found) if {one.rows, one.exceptions} <= there)
    if name is None:
        return known
    chosen = tuple(one for one in known if one.name == name)
    if not chosen:
        listed = ", ".join(one.name for one in known) or "none yet; start with: treaty run"
        raise NotFound(f"no reconciliation {name!r} has run; there are: {listed}")
    return chosen


def key_of(exceptions: DataFrame) -> spark.StructType:
    """Return the columns that hold the key in a table of exceptions."""
    return key_of_exceptions(exceptions.schema)


def key_text(columns: list[str]) -> Column:
    """Write a key as one text."""
    return F.concat_ws(",", *[named(column).cast("string") for column in columns])
