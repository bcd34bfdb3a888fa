"""JSON that is kept in a text, as a field with parts."""

from __future__ import annotations

from dataclasses import replace

from pyspark.sql import types as spark

from treaty.contracts.model import Field
from treaty.contracts.values import FrozenMap

_MOST_PARTS = 60
"""With more keys than this, an object is used as a map, and its keys are data."""
_NUMBERS = (spark.DecimalType, spark.FloatType, spark.DoubleType)


def json_field(kind: spark.DataType) -> Field:
    """Return the field for texts that hold JSON of this type; JSON of no one shape is left as it is."""
    found = _field(None, kind)
    if found.properties is None and found.items is None:
        return Field(logical_type="object", physical_type="json")
    return replace(found, physical_type="string")


def _field(name: str | None, kind: spark.DataType) -> Field:
    if isinstance(kind, spark.StructType) and 0 < len(kind.fields) <= _MOST_PARTS:
        parts = tuple(_field(item.name, item.dataType) for item in kind.fields)
        return Field(name, logical_type="object", properties=parts, description=_todo(name))
    if isinstance(kind, spark.ArrayType):
        return Field(name, logical_type="array", items=_field(None, kind.elementType), description=_todo(name))
    logical, options = _simple(kind)
    return Field(name, logical_type=logical, options=options, description=_todo(name))


def _simple(kind: spark.DataType) -> tuple[str, FrozenMap | None]:
    if isinstance(kind, spark.BooleanType):
        return "boolean", None
    if isinstance(kind, spark.LongType):
        return "integer", FrozenMap({"format": "i64"})
    if isinstance(kind, _NUMBERS):
        return "number", FrozenMap({"format": "f64"})
    return "string", None


def _todo(name: str | None) -> str | None:
    return "TODO" if name else None
