"""Rows that share a key, found exactly: hashes bring suspects together, the keys themselves decide."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

import numpy as np
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from treaty.spark.columns import PRIVATE, all_of, named
from treaty.spark.rules import KeyReading
from treaty.spark.value_checks import holds_maps

_OWN_HASH = f"{PRIVATE}own_hash"
_PLACE = f"{PRIVATE}place"
_KEYS = f"{PRIVATE}keys"


def by_join(frame: DataFrame, columns: Sequence[str], flag: str) -> DataFrame:
    """Mark every row whose key another row has too; only keys are moved, and the few shared ones sent around."""
    keys = frame.select(key_hash(columns).alias(HASH), *map(named, columns)).where(is_whole(columns))
    together = Window.partitionBy(HASH, *map(named, columns))
    names = [f"{PRIVATE}key_{number}" for number in range(len(columns))]
    again = keys.withColumn(flag, F.count(F.lit(1)).over(together)).where(named(flag) > F.lit(1))
    shared = again.select(*[named(column).alias(name) for column, name in zip(columns, names, strict=True)]).distinct()
    same = [named(column) == named(name) for column, name in zip(columns, names, strict=True)]
    joined = frame.join(F.broadcast(shared), all_of(same), "left")
    return joined.withColumn(flag, named(names[0]).isNotNull()).drop(*names)


def shared_numbers(frame: DataFrame, columns: Sequence[str], most: int, reading: KeyReading) -> list[int] | None:
    """Return the numbers of keys that several rows have; none if they are too many, or do not tell keys apart."""
    suspected = suspects(frame, columns, most, reading)
    if not suspected:
        return suspected
    marked = by_number(frame, columns, suspected, _PLACE).where(named(_PLACE))
    keys = marked.groupBy(key_number(columns).alias(HASH), *map(named, columns)).agg(F.count(F.lit(1)).alias(_PLACE))
    per_number = keys.groupBy(HASH).agg(F.max(named(_PLACE)).alias(_PLACE), F.count(F.lit(1)).alias(_KEYS))
    shared = per_number.where(named(_PLACE) > F.lit(1)).select(named(HASH), named(_KEYS)).collect()
    return [row[0] for row in shared] if all(row[1] == 1 for row in shared) else None


def in_place(frame: DataFrame, columns: Sequence[str], flag: str) -> DataFrame:
    """Mark every row whose key has the number of another row's: who counts has to compare the marked keys."""
    # rows without a whole key are no duplicates; numbers of their own, that no key has, keep them apart
    own = F.lit(-1) - F.monotonically_increasing_id()
    numbered = frame.withColumn(HASH, F.when(is_whole(columns), key_number(columns)).otherwise(own))
    sharing = F.count(F.lit(1)).over(Window.partitionBy(HASH))
    return numbered.withColumn(flag, sharing > F.lit(1)).drop(HASH)


def by_number(frame: DataFrame, columns: Sequence[str], numbers: Sequence[int], flag: str) -> DataFrame:
    """Mark every row whose key has one of these numbers."""
    if not numbers:
        return frame.withColumn(flag, F.lit(False))
    # a literal that is unfolded is the one local table that every kind of session takes
    text = ",".join(map(str, numbers))
    local = frame.sparkSession.range(1).select(F.explode(F.split(F.lit(text), ",").cast("array<bigint>")).alias(HASH))
    known = F.broadcast(local)
    numbered = frame.withColumn(_OWN_HASH, key_number(columns))
    joined = numbered.join(known, named(_OWN_HASH) == named(HASH), "left")
    return joined.withColumn(flag, named(HASH).isNotNull() & is_whole(columns)).drop(HASH, _OWN_HASH)


def all_but_first(frame: DataFrame, columns: Sequence[str], order: Sequence[Column], flag: str) -> DataFrame:
    """Mark every row whose key a row before it has; rows alike in every way are told apart by chance."""
    # rows without a whole key are no duplicates; the salt keeps them from all meeting in one place
    salt = F.when(~is_whole(columns), content_hash(frame))
    keyed = frame.withColumn(HASH, F.coalesce(salt, key_hash(columns)))
    together = Window.partitionBy(HASH, *map(named, columns)).orderBy(*order)
    later = is_whole(columns) & (F.row_number().over(together) > F.lit(1))
    return keyed.withColumn(flag, later).drop(HASH)


def content_hash(frame: DataFrame) -> Column:
    """Return a hash of a row, but for maps, which have none."""
    names = [item.name for item in frame.schema.fields if not holds_maps(item.dataType)]
    return F.xxhash64(*map(named, names)) if names else F.lit(0).cast("long")


def spelled(column: Column, kind: spark.DataType) -> Column | None:
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


HASH = f"{PRIVATE}hash"
_ROWS = f"{PRIVATE}rows_with_it"
_BITS = 48
"""Of a billion keys, some thousand have the number of another by chance."""
_AT_ONCE = 1 << 23
"""So many numbers are brought to the driver at a time: 64 MB."""
_MOST_TIMES = 4
"""Reading the keys more often costs more than letting Spark sort them."""


def key_hash(columns: Sequence[str]) -> Column:
    """Return a hash of a key: sorting numbers is cheaper than sorting texts."""
    return F.xxhash64(*map(named, columns))


def key_number(columns: Sequence[str]) -> Column:
    """Return a part of a key's hash: the fewer bytes there are, the less it takes to sort them."""
    return F.shiftrightunsigned(key_hash(columns), 64 - _BITS)


def is_whole(columns: Sequence[str]) -> Column:
    """Tell whether no part of a key is missing."""
    return all_of(named(column).isNotNull() for column in columns)


def suspects(
    frame: DataFrame, columns: Sequence[str], most: int, reading: KeyReading, at_once: int = _AT_ONCE
) -> list[int] | None:
    """Return the numbers of keys that several rows have, or that two keys have by chance; none if there are too many.

    It reads the keys only, and moves nothing but their numbers. Where reading them is cheap, rows are counted first,
    and as many numbers as the driver has room for are sorted there, in parts if need be: that spares the shuffle.
    """
    numbers = frame.where(is_whole(columns)).select(key_number(columns).alias(HASH))
    if reading is KeyReading.ALONE:
        times = ceil(frame.count() / at_once)
        if times <= _MOST_TIMES:
            return _sorted_here(numbers, times, most)
    return _sorted_by_spark(numbers, most)


def _sorted_here(numbers: DataFrame, times: int, most: int) -> list[int] | None:
    found: list[int] = []
    for part in range(times):
        ours = numbers.where(named(HASH) % F.lit(times) == F.lit(part)) if times > 1 else numbers
        ordered = np.sort(ours.toArrow().column(0).to_numpy())
        found += np.unique(ordered[1:][ordered[1:] == ordered[:-1]]).tolist()
        if len(found) > most:
            return None
    return found


def _sorted_by_spark(numbers: DataFrame, most: int) -> list[int] | None:
    # a count needs no order of its own, so that one sort by one number is all
    again = numbers.withColumn(_ROWS, F.count(F.lit(1)).over(Window.partitionBy(HASH))).where(named(_ROWS) > F.lit(1))
    found = [row[0] for row in again.select(named(HASH)).distinct().limit(most + 1).collect()]
    return found if len(found) <= most else None
