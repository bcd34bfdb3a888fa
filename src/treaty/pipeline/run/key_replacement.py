"""Writing a step's rows in place of those before: the keys that were looked at, or all keys whose rows differ."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from treaty.pipeline.layers.keys import DELETED, content_digest, with_deleted
from treaty.pipeline.tables import OUTCOME, RUN, NewStamp, Staged
from treaty.spark.columns import INTERNAL_PREFIX, quoted_col

_DIGEST = f"{INTERNAL_PREFIX}digest"
_BEFORE = f"{INTERNAL_PREFIX}before_"


def replace_keys(
    staged: Staged,
    rows: DataFrame,
    keys: DataFrame | None,
    columns: spark.StructType,
    key: Sequence[str],
    stamp: NewStamp,
) -> None:
    """Write rows of some keys; without keys they are all there are, and only what differs from before is written.

    So whoever reads the table sees new rows only where something changed, however it was computed.
    """
    if keys is not None:
        staged.delete_keys(keys, key)
        staged.append(_of_run(with_deleted(rows, keys, columns), stamp), stamp)
        return
    if staged.base is None:
        staged.append(_of_run(rows, stamp), stamp)
        return
    differing = _differing(rows, staged.read(), columns, key)
    staged.supersede(_of_run(differing, stamp), key, stamp)


def _of_run(rows: DataFrame, stamp: NewStamp) -> DataFrame:
    return rows.withColumn(RUN, F.lit(stamp.run).cast("long"))


def _differing(rows: DataFrame, before: DataFrame, columns: spark.StructType, key: Sequence[str]) -> DataFrame:
    """Return the rows that are new or other than before, and keys that have none any more as deleted."""
    held = spark.StructType([item for item in columns if item.name != RUN])
    given = rows.select(*[_column(item, rows.columns) for item in held])
    now = given.withColumn(_DIGEST, content_digest(held))
    old = before.select(
        *[quoted_col(name).alias(f"{_BEFORE}{name}") for name in key],
        content_digest(held).alias(f"{_BEFORE}{_DIGEST}"),
        quoted_col(OUTCOME).alias(f"{_BEFORE}{OUTCOME}"),
    )
    same = F.lit(True)
    for name in key:
        same = same & quoted_col(name).eqNullSafe(quoted_col(f"{_BEFORE}{name}"))
    joined = now.join(old, same, "full")
    is_gone = quoted_col(_DIGEST).isNull() & (quoted_col(f"{_BEFORE}{OUTCOME}") != F.lit(DELETED))
    is_other = quoted_col(_DIGEST).isNotNull() & ~quoted_col(_DIGEST).eqNullSafe(quoted_col(f"{_BEFORE}{_DIGEST}"))
    found = joined.where(is_gone | is_other)
    return found.select(*[_kept(item, key) for item in held])


def _column(item: spark.StructField, there: Sequence[str]) -> Column:
    value = quoted_col(item.name) if item.name in there else F.lit(None)
    return value.cast(item.dataType).alias(item.name)


def _kept(item: spark.StructField, key: Sequence[str]) -> Column:
    is_there = quoted_col(_DIGEST).isNotNull()
    if item.name in key:
        return F.coalesce(quoted_col(item.name), quoted_col(f"{_BEFORE}{item.name}")).alias(item.name)
    if item.name == OUTCOME:
        return F.when(is_there, quoted_col(OUTCOME)).otherwise(F.lit(DELETED)).alias(OUTCOME)
    return quoted_col(item.name)
