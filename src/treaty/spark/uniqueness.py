"""Rows that share a key, found exactly: hashes bring suspects together, the keys themselves decide."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from treaty.spark.folding import all_of
from treaty.spark.preparing import PRIVATE, named
from treaty.spark.value_checks import holds_maps

HASH = f"{PRIVATE}hash"
_OWN_HASH = f"{PRIVATE}own_hash"
_PLACE = f"{PRIVATE}place"


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


def shared_hashes(frame: DataFrame, columns: Sequence[str], most: int) -> list[int] | None:
    """Return the hashes of keys that several rows have; none if there are more than `most`, or if two keys share one.

    It reads the keys only. They go along with their hashes: by that the hashes are exact, at hardly any cost.
    """
    keys = frame.where(is_whole(columns)).select(key_hash(columns).alias(HASH), *map(named, columns))
    # a count needs no order of its own, so that one sort by one number is all
    again = keys.withColumn(_PLACE, F.count(F.lit(1)).over(Window.partitionBy(HASH))).where(named(_PLACE) > F.lit(1))
    suspects = again.drop(_PLACE).distinct().select(named(HASH)).limit(most + 1).collect()
    hashes = sorted({row[0] for row in suspects})
    # two keys with one hash are two suspects
    return hashes if len(suspects) == len(hashes) <= most else None


def in_place(frame: DataFrame, columns: Sequence[str], flag: str, hashes: str) -> DataFrame:
    """Mark every row whose key has the hash of another row's, and put its hash beside it.

    Two keys may have one hash: who counts has to see that there are as many keys as hashes among the marked rows.
    """
    whole = is_whole(columns)
    # rows without a whole key are no duplicates; numbers of their own keep them from all meeting in one place
    hashed = frame.withColumn(hashes, F.when(whole, key_hash(columns)).otherwise(F.monotonically_increasing_id()))
    # a count needs no order of its own, so that one sort by one number is all
    sharing = F.count(F.when(whole, F.lit(1))).over(Window.partitionBy(hashes))
    return hashed.withColumn(flag, whole & (sharing > F.lit(1)))


def by_hash(frame: DataFrame, columns: Sequence[str], hashes: Sequence[int], flag: str) -> DataFrame:
    """Mark every row whose key has one of these hashes."""
    if not hashes:
        return frame.withColumn(flag, F.lit(False))
    # a literal that is unfolded is the one local table that every kind of session takes
    text = ",".join(map(str, hashes))
    local = frame.sparkSession.range(1).select(F.explode(F.split(F.lit(text), ",").cast("array<bigint>")).alias(HASH))
    known = F.broadcast(local)
    hashed = frame.withColumn(_OWN_HASH, key_hash(columns))
    joined = hashed.join(known, named(_OWN_HASH) == named(HASH), "left")
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


def key_hash(columns: Sequence[str]) -> Column:
    """Return a hash of a key: sorting numbers is cheaper than sorting texts."""
    return F.xxhash64(*map(named, columns))


def spelled(column: Column, kind: spark.DataType) -> Column | None:
    """Spell a value so that no two have one text; none if its kind has parts, whose texts could run together."""
    if isinstance(kind, spark.StringType | spark.BinaryType):
        return F.hex(column)
    if isinstance(kind, spark.TimestampType):
        # by the clock, an hour in autumn is there twice
        return F.unix_micros(column).cast("string")
    is_simple = isinstance(kind, spark.AtomicType) and not isinstance(kind, spark.VariantType)
    return column.cast("string") if is_simple else None


def is_whole(columns: Sequence[str]) -> Column:
    """Tell whether no part of a key is missing."""
    return all_of(named(column).isNotNull() for column in columns)
