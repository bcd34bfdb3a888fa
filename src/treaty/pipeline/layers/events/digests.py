"""What a row holds, as a short text: rows with the same values have the same one, and nothing is taken for another."""

from __future__ import annotations

from collections.abc import Iterator

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from treaty.spark.columns import named


def content_digest(columns: spark.StructType) -> Column:
    """Return a digest of these columns.

    It only tells a redelivery from a contradiction among rows of one identity, for which 64 bits are plenty.
    """
    parts = [part for item in columns for part in _parts(named(item.name), item.dataType)]
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
