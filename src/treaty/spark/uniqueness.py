"""Rows that share a key, found exactly: hashes bring suspects together, the keys themselves decide."""

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
_PLACE = f"{INTERNAL_PREFIX}place"
_KEYS = f"{INTERNAL_PREFIX}keys"


def mark_duplicates_by_join(frame: DataFrame, columns: Sequence[str], flag: str) -> DataFrame:
    """Mark every row whose key another row has too; only keys are moved, and the few shared ones sent around."""
    keys = frame.select(key_hash(columns).alias(KEY_HASH_COLUMN), *map(quoted_col, columns)).where(
        has_complete_key(columns)
    )
    together = Window.partitionBy(KEY_HASH_COLUMN, *map(quoted_col, columns))
    names = [f"{INTERNAL_PREFIX}key_{number}" for number in range(len(columns))]
    again = keys.withColumn(flag, F.count(F.lit(1)).over(together)).where(quoted_col(flag) > F.lit(1))
    shared = again.select(
        *[quoted_col(column).alias(name) for column, name in zip(columns, names, strict=True)]
    ).distinct()
    same = [quoted_col(column) == quoted_col(name) for column, name in zip(columns, names, strict=True)]
    joined = frame.join(F.broadcast(shared), all_of(same), "left")
    return joined.withColumn(flag, quoted_col(names[0]).isNotNull()).drop(*names)


def find_shared_key_numbers(
    frame: DataFrame, columns: Sequence[str], most: int, reading: KeyReading
) -> list[int] | None:
    """Return the numbers of keys that several rows have; none if they are too many, or do not tell keys apart."""
    suspected = find_suspect_numbers(frame, columns, most, reading)
    if not suspected:
        return suspected
    marked = mark_by_key_number(frame, columns, suspected, _PLACE).where(quoted_col(_PLACE))
    keys = marked.groupBy(key_number(columns).alias(KEY_HASH_COLUMN), *map(quoted_col, columns)).agg(
        F.count(F.lit(1)).alias(_PLACE)
    )
    per_number = keys.groupBy(KEY_HASH_COLUMN).agg(
        F.max(quoted_col(_PLACE)).alias(_PLACE), F.count(F.lit(1)).alias(_KEYS)
    )
    shared = (
        per_number.where(quoted_col(_PLACE) > F.lit(1)).select(quoted_col(KEY_HASH_COLUMN), quoted_col(_KEYS)).collect()
    )
    return [row[0] for row in shared] if all(row[1] == 1 for row in shared) else None


def mark_shared_key_numbers(frame: DataFrame, columns: Sequence[str], flag: str) -> DataFrame:
    """Mark every row whose key has the number of another row's: who counts has to compare the marked keys."""
    # rows without a whole key are no duplicates; numbers of their own, that no key has, keep them apart
    own = F.lit(-1) - F.monotonically_increasing_id()
    numbered = frame.withColumn(KEY_HASH_COLUMN, F.when(has_complete_key(columns), key_number(columns)).otherwise(own))
    sharing = F.count(F.lit(1)).over(Window.partitionBy(KEY_HASH_COLUMN))
    return numbered.withColumn(flag, sharing > F.lit(1)).drop(KEY_HASH_COLUMN)


def mark_by_key_number(frame: DataFrame, columns: Sequence[str], numbers: Sequence[int], flag: str) -> DataFrame:
    """Mark every row whose key has one of these numbers."""
    if not numbers:
        return frame.withColumn(flag, F.lit(False))
    # a literal that is unfolded is the one local table that every kind of session takes
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
    """Mark every row whose key a row before it has; rows alike in every way are told apart by chance."""
    # rows without a whole key are no duplicates; the salt keeps them from all meeting in one place
    salt = F.when(~has_complete_key(columns), content_hash(frame))
    keyed = frame.withColumn(KEY_HASH_COLUMN, F.coalesce(salt, key_hash(columns)))
    together = Window.partitionBy(KEY_HASH_COLUMN, *map(quoted_col, columns)).orderBy(*order)
    later = has_complete_key(columns) & (F.row_number().over(together) > F.lit(1))
    return keyed.withColumn(flag, later).drop(KEY_HASH_COLUMN)


def content_hash(frame: DataFrame) -> Column:
    """Return a hash of a row, but for maps, which have none."""
    names = [item.name for item in frame.schema.fields if not contains_map(item.dataType)]
    return F.xxhash64(*map(quoted_col, names)) if names else F.lit(0).cast("long")


def key_part_text(column: Column, kind: spark.DataType) -> Column | None:
    """Spell a value so that no two have one text; none if its kind has parts, whose texts could run together."""
    if isinstance(kind, spark.StringType | spark.BinaryType):
        return F.hex(column)
    if isinstance(kind, spark.TimestampType):
        # by the clock, an hour in autumn is there twice
        return F.unix_micros(column).cast("string")
    if isinstance(kind, spark.FractionalType) and not isinstance(kind, spark.DecimalType):
        return (column + F.lit(0.0)).cast("string")  # one zero, as comparisons have it
    is_simple = isinstance(kind, spark.AtomicType) and not isinstance(kind, spark.VariantType)
    return column.cast("string") if is_simple else None


KEY_HASH_COLUMN = f"{INTERNAL_PREFIX}hash"
_ROWS = f"{INTERNAL_PREFIX}rows_with_it"
_BITS = 48
"""Of a billion keys, some thousand have the number of another by chance."""
_AT_ONCE = 1 << 23
"""So many numbers are brought to the driver at a time: 64 MB."""
_MOST_TIMES = 4
"""Reading the keys more often costs more than letting Spark sort them."""


def key_hash(columns: Sequence[str]) -> Column:
    """Return a hash of a key: sorting numbers is cheaper than sorting texts."""
    return F.xxhash64(*map(quoted_col, columns))


def key_number(columns: Sequence[str]) -> Column:
    """Return a part of a key's hash: the fewer bytes there are, the less it takes to sort them."""
    return F.shiftrightunsigned(key_hash(columns), 64 - _BITS)


def has_complete_key(columns: Sequence[str]) -> Column:
    """Tell whether no part of a key is missing."""
    return all_of(quoted_col(column).isNotNull() for column in columns)


def find_suspect_numbers(
    frame: DataFrame, columns: Sequence[str], most: int, reading: KeyReading, at_once: int = _AT_ONCE
) -> list[int] | None:
    """Return the numbers of keys that several rows have, or that two keys have by chance; none if there are too many.

    It reads the keys only, and moves nothing but their numbers. Where reading them is cheap, rows are counted first,
    and as many numbers as the driver has room for are sorted there, in parts if need be: that spares the shuffle.
    """
    numbers = frame.where(has_complete_key(columns)).select(key_number(columns).alias(KEY_HASH_COLUMN))
    if reading is KeyReading.ALONE:
        times = ceil(frame.count() / at_once)
        if times <= _MOST_TIMES:
            return _sorted_here(numbers, times, most)
    return _sorted_by_spark(numbers, most)


def _sorted_here(numbers: DataFrame, times: int, most: int) -> list[int] | None:
    found: list[int] = []
    for part in range(times):
        ours = numbers.where(quoted_col(KEY_HASH_COLUMN) % F.lit(times) == F.lit(part)) if times > 1 else numbers
        ordered = np.sort(ours.toArrow().column(0).to_numpy())
        found += np.unique(ordered[1:][ordered[1:] == ordered[:-1]]).tolist()
        if len(found) > most:
            return None
    return found


def _sorted_by_spark(numbers: DataFrame, most: int) -> list[int] | None:
    # a count needs no order of its own, so that one sort by one number is all
    again = numbers.withColumn(_ROWS, F.count(F.lit(1)).over(Window.partitionBy(KEY_HASH_COLUMN))).where(
        quoted_col(_ROWS) > F.lit(1)
    )
    found = [row[0] for row in again.select(quoted_col(KEY_HASH_COLUMN)).distinct().limit(most + 1).collect()]
    return found if len(found) <= most else None
