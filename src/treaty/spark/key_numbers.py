"""Keys as numbers, and the numbers that several rows have: who shares no number shares no key."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

import numpy as np
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from treaty.spark.folding import all_of
from treaty.spark.preparing import PRIVATE, named
from treaty.spark.rules import KeyReading

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
