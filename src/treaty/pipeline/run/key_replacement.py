"""Writing the recomputed rows of a step in place of the rows that had the same keys."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from treaty.pipeline.layers.keys import DELETED, content_digest, with_deleted_keys
from treaty.pipeline.tables import OUTCOME, RUN, NewStamp, Staged
from treaty.spark.columns import INTERNAL_PREFIX, quoted_col

_DIGEST = f"{INTERNAL_PREFIX}digest"
_BEFORE = f"{INTERNAL_PREFIX}before_"


def replace_keys(
    branch: Staged,
    rows: DataFrame,
    keys: DataFrame | None,
    columns: spark.StructType,
    key: Sequence[str],
    stamp: NewStamp,
) -> None:
    """Replace the rows of some keys. If `keys` is None, `rows` are all rows, and only those that differ are written.

    Later steps therefore see new rows only where something changed, whether the step was rebuilt or incremental.
    """
    if keys is not None:
        branch.delete_keys(keys, key)
        branch.append(_with_run(with_deleted_keys(rows, keys, columns), stamp), stamp)
        return
    if branch.base is None:
        branch.append(_with_run(rows, stamp), stamp)
        return
    changed = _changed_rows(rows, branch.read(), columns, key)
    branch.supersede(_with_run(changed, stamp), key, stamp)


def _with_run(rows: DataFrame, stamp: NewStamp) -> DataFrame:
    return rows.withColumn(RUN, F.lit(stamp.run).cast("long"))


def _changed_rows(rows: DataFrame, before: DataFrame, columns: spark.StructType, key: Sequence[str]) -> DataFrame:
    """Return the rows that are new or differ from before, and a deleted row for each key that has none any more."""
    compared = spark.StructType([field for field in columns if field.name != RUN])
    new = rows.select(*[_column(field, rows.columns) for field in compared])
    new = new.withColumn(_DIGEST, content_digest(compared))
    old = before.select(
        *[quoted_col(name).alias(f"{_BEFORE}{name}") for name in key],
        content_digest(compared).alias(f"{_BEFORE}{_DIGEST}"),
        quoted_col(OUTCOME).alias(f"{_BEFORE}{OUTCOME}"),
    )
    has_same_key = F.lit(True)
    for name in key:
        has_same_key = has_same_key & quoted_col(name).eqNullSafe(quoted_col(f"{_BEFORE}{name}"))
    joined = new.join(old, has_same_key, "full")
    is_deleted = quoted_col(_DIGEST).isNull() & (quoted_col(f"{_BEFORE}{OUTCOME}") != F.lit(DELETED))
    is_changed = quoted_col(_DIGEST).isNotNull() & ~quoted_col(_DIGEST).eqNullSafe(quoted_col(f"{_BEFORE}{_DIGEST}"))
    changed = joined.where(is_deleted | is_changed)
    return changed.select(*[_new_or_deleted(field, key) for field in compared])


def _column(field: spark.StructField, available: Sequence[str]) -> Column:
    value = quoted_col(field.name) if field.name in available else F.lit(None)
    return value.cast(field.dataType).alias(field.name)


def _new_or_deleted(field: spark.StructField, key: Sequence[str]) -> Column:
    has_row = quoted_col(_DIGEST).isNotNull()
    if field.name in key:
        return F.coalesce(quoted_col(field.name), quoted_col(f"{_BEFORE}{field.name}")).alias(field.name)
    if field.name == OUTCOME:
        return F.when(has_row, quoted_col(OUTCOME)).otherwise(F.lit(DELETED)).alias(OUTCOME)
    return quoted_col(field.name)
