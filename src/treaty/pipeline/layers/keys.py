"""Keys and content digests of rows: which keys changed rows affect, and the rows of those keys."""

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
    """Return the distinct keys of changed rows; see `changed_keys`."""
    return changed_keys(changed, keys, names).distinct()


def changed_keys(
    changed: Mapping[str, DataFrame], keys: Mapping[str, Sequence[str]], names: Sequence[str] | None = None
) -> DataFrame:
    """Return the key of each changed row; keys with a null part are left out.

    `keys` has the key columns of each input, `names` the names of the columns in the result.
    """
    key_names = tuple(names or next(iter(keys.values())))
    frames = [
        frame.select(
            *[quoted_col(column).alias(name) for column, name in zip(keys[input_name], key_names, strict=True)]
        )
        for input_name, frame in changed.items()
    ]
    union = reduce(DataFrame.unionByName, frames)
    return union.where(has_complete_key(key_names))


def rows_of_keys(frame: DataFrame, keys: DataFrame, on: Sequence[str]) -> DataFrame:
    """Return the rows of a frame whose columns `on` equal one of the keys; key columns are matched by position.

    If there are few keys, pass `F.broadcast(keys)`, so that the frame is not shuffled.
    """
    renamed, has_same_key = _renamed_keys(keys, on)
    return frame.join(renamed, has_same_key, "left_semi")


def rows_with_values(frame: DataFrame, values: Sequence[str | int], column: str) -> DataFrame:
    """Return the rows of a frame with one of a few values in a column; files without them are not read."""
    return frame.where(quoted_col(column).isin(*values))


def join_by_key(rows: DataFrame, more: DataFrame, on: Sequence[str]) -> DataFrame:
    """Return the rows with the columns of `more` joined by key; null where `more` has no row."""
    places = {name: f"{_GIVEN}{place}" for place, name in enumerate(on)}
    others = [name for name in more.columns if name not in places]
    renamed = more.select(*map(quoted_col, others), *[quoted_col(name).alias(place) for name, place in places.items()])
    conditions = [quoted_col(name).eqNullSafe(quoted_col(place)) for name, place in places.items()]
    return rows.join(renamed, all_of(conditions), "left").drop(*places.values())


def with_deleted_keys(rows: DataFrame, keys: DataFrame, target_columns: spark.StructType) -> DataFrame:
    """Return the rows with the columns of their table, and a deleted row for each key that has no row any more.

    The columns of `keys` have the names of the key columns of the rows. The rows are computed once.
    """
    on = keys.columns
    renamed, has_same_key = _renamed_keys(keys, on)
    joined = rows.withColumn(_HAS_ROW, F.lit(True)).join(renamed, has_same_key, "full")
    has_row = quoted_col(_HAS_ROW).isNotNull()
    places = {name: f"{_GIVEN}{place}" for place, name in enumerate(on)}
    return joined.select(*[_row_or_key(column, rows.columns, has_row, places) for column in target_columns])


def _row_or_key(
    column: spark.StructField, available: Sequence[str], has_row: Column, places: Mapping[str, str]
) -> Column:
    """Return a column of the table: from the row, or from the key if there is no row, else null."""
    value = quoted_col(column.name) if column.name in available else F.lit(None)
    if column.name in places:
        value = F.when(has_row, value).otherwise(quoted_col(places[column.name]))
    elif column.name == OUTCOME:
        value = F.when(has_row, value).otherwise(F.lit(DELETED))
    return value.cast(column.dataType).alias(column.name)


def _renamed_keys(keys: DataFrame, on: Sequence[str]) -> tuple[DataFrame, Column]:
    """Return the keys under private names, and the condition that a row has one of them."""
    places = [f"{_GIVEN}{place}" for place in range(len(on))]
    renamed = keys.select(*[quoted_col(name).alias(place) for name, place in zip(keys.columns, places, strict=True)])
    conditions = [quoted_col(column).eqNullSafe(quoted_col(place)) for column, place in zip(on, places, strict=True)]
    return renamed, all_of(conditions)


def content_digest(columns: spark.StructType) -> Column:
    """Return a 64-bit digest of these columns.

    It only tells apart rows with the same identity or key, for which 64 bits are enough.
    """
    parts = [part for column in columns for part in _parts(quoted_col(column.name), column.dataType)]
    return F.hex(F.xxhash64(*parts))


def payload_digest(payload: Column) -> Column:
    """Return a SHA-256 digest of a payload, which can serve as its identity."""
    return F.sha2(payload, 256)


def _parts(value: Column, kind: spark.DataType) -> Iterator[Column]:
    """Yield the parts of a value to hash; hashes ignore nulls, so that each value has a null flag of its own."""
    yield value.isNull()
    if isinstance(kind, spark.StructType):
        for column in kind:
            yield from _parts(value.getField(column.name), column.dataType)
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
