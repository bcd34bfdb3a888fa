"""Counting what a run wrote, by what became of it."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from treaty.pipeline.running.summary import Counts
from treaty.pipeline.tables import OUTCOME, RUN

_COUNTED = {
    "accepted": "accepted",
    "duplicate": "duplicate",
    "conflicting": "conflicting",
    "quarantined": "quarantined",
    "valid": "valid",
    "resolved": "resolved",
    "held": "held",
    "deleted": "deleted",
}
"""The outcomes of rows, and where each is counted."""


def counted(rows: DataFrame, run: int, sums: Mapping[str, str] | None = None) -> Counts:
    """Return how many rows of a run there are by outcome, and the sums of some columns by what they are called."""
    asked = {name: F.coalesce(F.sum(column), F.lit(0)).alias(name) for name, column in (sums or {}).items()}
    groups = rows.where(F.col(RUN) == F.lit(run)).groupBy(OUTCOME).agg(F.count("*").alias("rows"), *asked.values())
    found: dict[str, int] = {}
    for row in groups.collect():
        found[_COUNTED[row[OUTCOME]]] = row["rows"]
        for name in asked:
            found[name] = found.get(name, 0) + row[name]
    return Counts(**found)
