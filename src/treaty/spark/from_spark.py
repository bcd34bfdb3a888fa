"""Spark types as contract fields: what data have, in the words of a contract."""

from __future__ import annotations

from pyspark.sql import types as spark

from treaty.contracts.model import Field
from treaty.contracts.values import FrozenMap

_SIMPLE: dict[type[spark.DataType], tuple[str, str, dict[str, object]]] = {
    spark.StringType: ("string", "string", {}),
    spark.CharType: ("string", "string", {}),
    spark.VarcharType: ("string", "string", {}),
    spark.BooleanType: ("boolean", "boolean", {}),
    spark.ByteType: ("integer", "tinyint", {"format": "i8"}),
    spark.ShortType: ("integer", "smallint", {"format": "i16"}),
    spark.IntegerType: ("integer", "int", {"format": "i32"}),
    spark.LongType: ("integer", "bigint", {"format": "i64"}),
    spark.FloatType: ("number", "float", {"format": "f32"}),
    spark.DoubleType: ("number", "double", {"format": "f64"}),
    spark.DateType: ("date", "date", {}),
    spark.TimestampType: ("timestamp", "timestamp", {}),
    spark.TimestampNTZType: ("timestamp", "timestamp_ntz", {}),
}


def fields_from(struct: spark.StructType) -> tuple[Field, ...]:
    """Return the fields of a row, in the words of a contract."""
    return tuple(field_from(item.dataType, item.name, required=not item.nullable) for item in struct.fields)


def field_from(kind: spark.DataType, name: str | None = None, *, required: bool = False) -> Field:
    """Return a field of this type; types that contracts have no word for keep Spark's name."""
    known = _SIMPLE.get(type(kind))
    said = required or None
    if known is not None:
        logical, physical, options = known
        return Field(name, logical_type=logical, physical_type=physical, options=FrozenMap(options), required=said)
    if isinstance(kind, spark.DecimalType):
        whole = "integer" if kind.scale == 0 else "number"
        return Field(name, logical_type=whole, physical_type=kind.simpleString(), required=said)
    if isinstance(kind, spark.StructType):
        return Field(name, logical_type="object", physical_type="struct", properties=fields_from(kind), required=said)
    if isinstance(kind, spark.ArrayType):
        return Field(
            name, logical_type="array", physical_type="array", items=field_from(kind.elementType), required=said
        )
    if isinstance(kind, spark.MapType):
        key, value = field_from(kind.keyType), field_from(kind.valueType)
        return Field(name, logical_type="map", physical_type="map", map_key=key, map_value=value, required=said)
    return Field(name, physical_type=kind.simpleString(), required=said)
