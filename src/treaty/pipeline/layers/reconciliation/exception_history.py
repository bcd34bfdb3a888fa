"""Remembering exceptions: when each was first and last seen, and which ones data have settled since."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from treaty.pipeline.layers.keys import of_keys
from treaty.pipeline.layers.reconciliation.reconciliation_tables import FOUND, State
from treaty.spark.columns import INTERNAL_PREFIX, quoted_col

_BEFORE = f"{INTERNAL_PREFIX}before_"
_NOW = f"{INTERNAL_PREFIX}found"


def remembered(found: DataFrame, before: DataFrame, keys: DataFrame, seen_at: Column, run: int) -> DataFrame:
    """Return the exceptions of the keys that were looked at, as they are to stand now.

    `before` are exceptions as they stood; those of other keys are left out. What is not found any more is resolved.
    """
    key = keys.columns
    marked = found.select(*[quoted_col(name) for name in (*key, *FOUND)], F.lit(True).alias(_NOW))
    old = of_keys(before, keys, key)
    old = old.select(*[quoted_col(name).alias(f"{_BEFORE}{name}") for name in before.columns])
    same = F.lit(True)
    for name in (*key, "assertion"):
        same = same & (quoted_col(name) == quoted_col(f"{_BEFORE}{name}"))
    joined = marked.join(old, same, "full")
    return joined.select(*[_standing(name, seen_at, run).alias(name) for name in before.columns])


def _standing(name: str, seen_at: Column, run: int) -> Column:
    """Return a column as it is to stand: as found, else as it was."""
    is_found, old = quoted_col(_NOW).isNotNull(), quoted_col(f"{_BEFORE}{name}")
    settles = quoted_col(f"{_BEFORE}state") != F.lit(State.RESOLVED.value)
    match name:
        case "first_seen":
            return F.coalesce(old, seen_at)
        case "last_seen":
            return F.when(is_found, seen_at).otherwise(old)
        case "_run":
            return F.when(is_found | settles, F.lit(run).cast("long")).otherwise(old)
        case "state":
            return F.when(is_found, quoted_col(name)).otherwise(F.lit(State.RESOLVED.value))
        case _:
            return F.when(is_found, quoted_col(name)).otherwise(old)
