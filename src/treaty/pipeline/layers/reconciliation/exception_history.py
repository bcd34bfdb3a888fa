"""History of exceptions: when each was first and last seen, and which were resolved since."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from treaty.pipeline.layers.keys import rows_of_keys
from treaty.pipeline.layers.reconciliation.reconciliation_tables import EXCEPTION_FIELDS, State
from treaty.spark.columns import INTERNAL_PREFIX, quoted_col

_BEFORE = f"{INTERNAL_PREFIX}before_"
_NOW = f"{INTERNAL_PREFIX}found"


def update_exceptions(found: DataFrame, before: DataFrame, keys: DataFrame, seen_at: Column, run: int) -> DataFrame:
    """Return the updated exceptions of the given keys; an exception that is no longer found is resolved.

    `before` are the exceptions of all keys as they were stored.
    """
    key = keys.columns
    marked = found.select(*[quoted_col(name) for name in (*key, *EXCEPTION_FIELDS)], F.lit(True).alias(_NOW))
    old = rows_of_keys(before, keys, key)
    old = old.select(*[quoted_col(name).alias(f"{_BEFORE}{name}") for name in before.columns])
    same = F.lit(True)
    for name in (*key, "assertion"):
        same = same & (quoted_col(name) == quoted_col(f"{_BEFORE}{name}"))
    joined = marked.join(old, same, "full")
    return joined.select(*[_updated_column(name, seen_at, run).alias(name) for name in before.columns])


def _updated_column(name: str, seen_at: Column, run: int) -> Column:
    """Return the new value of a column: as found, else as before."""
    is_found, old = quoted_col(_NOW).isNotNull(), quoted_col(f"{_BEFORE}{name}")
    becomes_resolved = quoted_col(f"{_BEFORE}state") != F.lit(State.RESOLVED.value)
    match name:
        case "first_seen":
            return F.coalesce(old, seen_at)
        case "last_seen":
            return F.when(is_found, seen_at).otherwise(old)
        case "_run":
            return F.when(is_found | becomes_resolved, F.lit(run).cast("long")).otherwise(old)
        case "state":
            return F.when(is_found, quoted_col(name)).otherwise(F.lit(State.RESOLVED.value))
        case _:
            return F.when(is_found, quoted_col(name)).otherwise(old)
