"""Keys that a run touches, and the rows of those keys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from treaty.spark.columns import INTERNAL_PREFIX, all_of, quoted_col
from treaty.spark.uniqueness import has_complete_key

OUTCOME = "_outcome"
DELETED = "deleted"
_GIVEN = f"{INTERNAL_PREFIX}given_"
_HAS_ROW = f"{INTERNAL_PREFIX}has_row"


def affected_keys(
    changed: Mapping[str, DataFrame], keys: Mapping[str, Sequence[str]], names: Sequence[str] | None = None
) -> DataFrame:
    """Return the distinct keys of changed rows; `keys` says by input which columns hold it, `names` what it is called.

    A key with a part that is missing is no key.
    """
    called = tuple(names or next(iter(keys.values())))
    each = [
        frame.select(*[quoted_col(column).alias(name) for column, name in zip(keys[name_of], called, strict=True)])
        for name_of, frame in changed.items()
    ]
    together = reduce(lambda one, other: one.unionByName(other), each)
    return together.where(has_complete_key(called)).distinct()


def of_keys(frame: DataFrame, keys: DataFrame, on: Sequence[str]) -> DataFrame:
    """Return the rows of a frame whose columns `on` are one of the keys, whose columns are taken in their order.

    Where the keys are known to be few, pass `F.broadcast(keys)`, so that the frame is not moved.
    """
    given, same = _beside(keys, on)
    return frame.join(given, same, "left_semi")


def beside_keys(rows: DataFrame, more: DataFrame, on: Sequence[str]) -> DataFrame:
    """Return the rows with more columns that are known of their keys, null where nothing is."""
    places = {name: f"{_GIVEN}{place}" for place, name in enumerate(on)}
    others = [name for name in more.columns if name not in places]
    given = more.select(*map(quoted_col, others), *[quoted_col(name).alias(place) for name, place in places.items()])
    same = [quoted_col(name).eqNullSafe(quoted_col(place)) for name, place in places.items()]
    return rows.join(given, all_of(same), "left").drop(*places.values())


def with_deleted(rows: DataFrame, keys: DataFrame, target_columns: spark.StructType) -> DataFrame:
    """Return the rows with the columns of their table, and each key that has no row any more as a deleted one.

    The columns of `keys` are named as in the rows. The rows are worked out once.
    """
    on = keys.columns
    given, same = _beside(keys, on)
    joined = rows.withColumn(_HAS_ROW, F.lit(True)).join(given, same, "full")
    has_row = quoted_col(_HAS_ROW).isNotNull()
    places = {name: f"{_GIVEN}{place}" for place, name in enumerate(on)}
    return joined.select(*[_kept(item, rows.columns, has_row, places) for item in target_columns])


def _kept(item: spark.StructField, there: Sequence[str], has_row: Column, places: Mapping[str, str]) -> Column:
    """Return a column of the table: of the row, of the key where there is none, or nothing."""
    value = quoted_col(item.name) if item.name in there else F.lit(None)
    if item.name in places:
        value = F.when(has_row, value).otherwise(quoted_col(places[item.name]))
    elif item.name == OUTCOME:
        value = F.when(has_row, value).otherwise(F.lit(DELETED))
    return value.cast(item.dataType).alias(item.name)


def _beside(keys: DataFrame, on: Sequence[str]) -> tuple[DataFrame, Column]:
    """Return the keys under names of their own, and when a row has one of them."""
    places = [f"{_GIVEN}{place}" for place in range(len(on))]
    given = keys.select(*[quoted_col(name).alias(place) for name, place in zip(keys.columns, places, strict=True)])
    same = [quoted_col(column).eqNullSafe(quoted_col(place)) for column, place in zip(on, places, strict=True)]
    return given, all_of(same)


def content_digest(columns: spark.StructType) -> Column:
    """Return a digest of these columns.

    It only tells a redelivery from a contradiction among rows of one identity, for which 64 bits are plenty.
    """
    parts = [part for item in columns for part in _parts(quoted_col(item.name), item.dataType)]
    return F.hex(F.xxhash64(*parts))


def payload_digest(payload: Column) -> Column:
    """Return a digest of bytes that can stand for them: no two payloads that differ share one."""
    return F.sha2(payload, 256)


def _parts(value: Column, kind: spark.DataType) -> Iterator[Column]:
    """Yield what a value hashes by; a hash passes over nulls, so that they are told apart by a flag of their own."""
    yield value.isNull()
    if isinstance(kind, spark.StructType):
        for item in kind:
            yield from _parts(value.getField(item.name), item.dataType)
    elif isinstance(kind, spark.ArrayType):
        yield F.size(value)
        yield F.transform(value, lambda element: F.xxhash64(*_parts(element, kind.elementType)))
    elif isinstance(kind, spark.MapType):
        yield F.size(value)
        yield F.array_sort(F.transform(F.map_entries(value), lambda entry: _entry(entry, kind)))
    else:
        yield value


def _entry(entry: Column, kind: spark.MapType) -> Column:
    key, value = entry.getField("key"), entry.getField("value")
    return F.xxhash64(*_parts(key, kind.keyType), *_parts(value, kind.valueType))
