"""Find rows with duplicate keys: hashes find candidates, the keys themselves decide."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

import numpy as np
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from treaty.spark.columns import INTERNAL_PREFIX, all_of, quoted_col
from treaty.spark.rules import KeyReading
from treaty.spark.value_checks import contains_map

_OWN_HASH = f"{INTERNAL_PREFIX}own_hash"
_ROWS_PER_KEY = f"{INTERNAL_PREFIX}rows_per_key"
_KEYS = f"{INTERNAL_PREFIX}keys"


def mark_duplicates_by_join(frame: DataFrame, columns: Sequence[str], flag: str) -> DataFrame:
    """Mark rows whose key occurs more than once; only keys are shuffled, and the shared ones are broadcast."""
    keys = frame.select(key_hash(columns).alias(KEY_HASH_COLUMN), *map(quoted_col, columns)).where(
        has_complete_key(columns)
    )
    together = Window.partitionBy(KEY_HASH_COLUMN, *map(quoted_col, columns))
    names = [f"{INTERNAL_PREFIX}key_{number}" for number in range(len(columns))]
    repeats = keys.withColumn(flag, F.count(F.lit(1)).over(together)).where(quoted_col(flag) > F.lit(1))
    shared = repeats.select(
        *[quoted_col(column).alias(name) for column, name in zip(columns, names, strict=True)]
    ).distinct()
    same = [quoted_col(column) == quoted_col(name) for column, name in zip(columns, names, strict=True)]
    joined = frame.join(F.broadcast(shared), all_of(same), "left")
    return joined.withColumn(flag, quoted_col(names[0]).isNotNull()).drop(*names)


def find_shared_key_numbers(
    frame: DataFrame, columns: Sequence[str], limit: int, reading: KeyReading
) -> list[int] | None:
    """Return the numbers of keys that occur more than once; None if too many, or if two keys share a number."""
    suspected = find_suspect_numbers(frame, columns, limit, reading)
    if not suspected:
        return suspected
    marked = mark_by_key_number(frame, columns, suspected, _ROWS_PER_KEY).where(quoted_col(_ROWS_PER_KEY))
    keys = marked.groupBy(key_number(columns).alias(KEY_HASH_COLUMN), *map(quoted_col, columns)).agg(
        F.count(F.lit(1)).alias(_ROWS_PER_KEY)
    )
    per_number = keys.groupBy(KEY_HASH_COLUMN).agg(
        F.max(quoted_col(_ROWS_PER_KEY)).alias(_ROWS_PER_KEY), F.count(F.lit(1)).alias(_KEYS)
    )
    shared = (
        per_number.where(quoted_col(_ROWS_PER_KEY) > F.lit(1))
        .select(quoted_col(KEY_HASH_COLUMN), quoted_col(_KEYS))
        .collect()
    )
    return [row[0] for row in shared] if all(row[1] == 1 for row in shared) else None


def mark_shared_key_numbers(frame: DataFrame, columns: Sequence[str], flag: str) -> DataFrame:
    """Mark rows whose key number occurs more than once; the caller must compare the marked keys."""
    # rows without a complete key are never duplicates; negative numbers of their own keep them distinct
    own = F.lit(-1) - F.monotonically_increasing_id()
    numbered = frame.withColumn(KEY_HASH_COLUMN, F.when(has_complete_key(columns), key_number(columns)).otherwise(own))
    sharing = F.count(F.lit(1)).over(Window.partitionBy(KEY_HASH_COLUMN))
    return numbered.withColumn(flag, sharing > F.lit(1)).drop(KEY_HASH_COLUMN)


def mark_by_key_number(frame: DataFrame, columns: Sequence[str], numbers: Sequence[int], flag: str) -> DataFrame:
    """Mark rows whose key has one of these numbers."""
    if not numbers:
        return frame.withColumn(flag, F.lit(False))
    # an exploded literal is the only local table that every kind of session accepts
    text = ",".join(map(str, numbers))
    local = frame.sparkSession.range(1).select(
        F.explode(F.split(F.lit(text), ",").cast("array<bigint>")).alias(KEY_HASH_COLUMN)
    )
    known = F.broadcast(local)
    numbered = frame.withColumn(_OWN_HASH, key_number(columns))
    joined = numbered.join(known, quoted_col(_OWN_HASH) == quoted_col(KEY_HASH_COLUMN), "left")
    return joined.withColumn(flag, quoted_col(KEY_HASH_COLUMN).isNotNull() & has_complete_key(columns)).drop(
        KEY_HASH_COLUMN, _OWN_HASH
    )


def mark_all_but_first(frame: DataFrame, columns: Sequence[str], order: Sequence[Column], flag: str) -> DataFrame:
    """Mark rows whose key occurs in an earlier row; identical rows are ordered arbitrarily."""
    # rows without a complete key are never duplicates; the salt spreads them over partitions
    salt = F.when(~has_complete_key(columns), content_hash(frame))
    keyed = frame.withColumn(KEY_HASH_COLUMN, F.coalesce(salt, key_hash(columns)))
    together = Window.partitionBy(KEY_HASH_COLUMN, *map(quoted_col, columns)).orderBy(*order)
    later = has_complete_key(columns) & (F.row_number().over(together) > F.lit(1))
    return keyed.withColumn(flag, later).drop(KEY_HASH_COLUMN)


def content_hash(frame: DataFrame) -> Column:
    """Return a hash of a row without its map columns, which cannot be hashed."""
    names = [column.name for column in frame.schema.fields if not contains_map(column.dataType)]
    return F.xxhash64(*map(quoted_col, names)) if names else F.lit(0).cast("long")


def key_part_text(column: Column, kind: spark.DataType) -> Column | None:
    """Return a text that is unique per value; None for nested types, whose text is ambiguous."""
    if isinstance(kind, spark.StringType | spark.BinaryType):
        return F.hex(column)
    if isinstance(kind, spark.TimestampType):
        # local time repeats an hour when daylight saving ends
        return F.unix_micros(column).cast("string")
    if isinstance(kind, spark.FractionalType) and not isinstance(kind, spark.DecimalType):
        return (column + F.lit(0.0)).cast("string")  # -0.0 equals 0.0
    is_simple = isinstance(kind, spark.AtomicType) and not isinstance(kind, spark.VariantType)
    return column.cast("string") if is_simple else None


KEY_HASH_COLUMN = f"{INTERNAL_PREFIX}hash"
_ROWS = f"{INTERNAL_PREFIX}rows_per_number"
_KEY_NUMBER_BITS = 48
"""Among a billion keys, a few thousand share a number by chance."""
_MAX_NUMBERS_ON_DRIVER = 1 << 23
"""Key numbers collected on the driver at a time (64 MB)."""
_MAX_PASSES = 4
"""With more passes over the keys, sorting in Spark is cheaper."""


def key_hash(columns: Sequence[str]) -> Column:
    """Return a hash of a key; sorting numbers is cheaper than sorting text."""
    return F.xxhash64(*map(quoted_col, columns))


def key_number(columns: Sequence[str]) -> Column:
    """Return a prefix of the hash of a key; fewer bytes are cheaper to sort."""
    return F.shiftrightunsigned(key_hash(columns), 64 - _KEY_NUMBER_BITS)


def has_complete_key(columns: Sequence[str]) -> Column:
    """Whether no part of a key is null."""
    return all_of(quoted_col(column).isNotNull() for column in columns)


def find_suspect_numbers(
    frame: DataFrame,
    columns: Sequence[str],
    limit: int,
    reading: KeyReading,
    max_on_driver: int = _MAX_NUMBERS_ON_DRIVER,
) -> list[int] | None:
    """Return key numbers that occur more than once, including chance collisions; None if there are too many.

    Reads only the keys and shuffles only their numbers. If reading keys is cheap, the rows are counted first and
    the numbers are sorted on the driver, in batches if necessary, which avoids the shuffle.
    """
    numbers = frame.where(has_complete_key(columns)).select(key_number(columns).alias(KEY_HASH_COLUMN))
    if reading is KeyReading.ALONE:
        passes = ceil(frame.count() / max_on_driver)
        if passes <= _MAX_PASSES:
            return _sort_on_driver(numbers, passes, limit)
    return _sort_in_spark(numbers, limit)


def _sort_on_driver(numbers: DataFrame, passes: int, limit: int) -> list[int] | None:
    shared: list[int] = []
    for part in range(passes):
        numbers_in_part = (
            numbers.where(quoted_col(KEY_HASH_COLUMN) % F.lit(passes) == F.lit(part)) if passes > 1 else numbers
        )
        ordered = np.sort(numbers_in_part.toArrow().column(0).to_numpy())
        shared += np.unique(ordered[1:][ordered[1:] == ordered[:-1]]).tolist()
        if len(shared) > limit:
            return None
    return shared


def _sort_in_spark(numbers: DataFrame, limit: int) -> list[int] | None:
    # a window count needs only one sort by one number
    repeats = numbers.withColumn(_ROWS, F.count(F.lit(1)).over(Window.partitionBy(KEY_HASH_COLUMN))).where(
        quoted_col(_ROWS) > F.lit(1)
    )
    repeated = [row[0] for row in repeats.select(quoted_col(KEY_HASH_COLUMN)).distinct().limit(limit + 1).collect()]
    return repeated if len(repeated) <= limit else None
