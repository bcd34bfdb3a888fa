"""Convert contract fields to Spark types and back, and find fields in data."""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import types as spark

from treaty.contracts.model import Contract, Field, SchemaObject
from treaty.contracts.types import DataType
from treaty.contracts.values import EMPTY, FrozenMap
from treaty.errors import InvalidDocument, NotFound

_INTEGERS: dict[str, spark.DataType] = {
    "i8": spark.ByteType(),
    "i16": spark.ShortType(),
    "i32": spark.IntegerType(),
    "i64": spark.LongType(),
    "i128": spark.DecimalType(38, 0),
    "u8": spark.ShortType(),
    "u16": spark.IntegerType(),
    "u32": spark.LongType(),
    "u64": spark.DecimalType(20, 0),
    "u128": spark.DecimalType(38, 0),
}
_VECTOR_ELEMENTS: dict[str, spark.DataType] = {
    "float64": spark.DoubleType(),
    "int8": spark.ByteType(),
    "uint8": spark.ShortType(),
    "binary": spark.BooleanType(),
}
_MAX_PRECISION = 38
_DEFAULT_DECIMAL = spark.DecimalType(38, 18)


def column_name(field: Field) -> str:
    """Return the column name of a field."""
    return field.physical_name or field.name or ""


def select_object(contract: Contract, name: str | None = None) -> SchemaObject:
    """Return the object with that name, or the only object."""
    known = ", ".join(repr(schema.name) for schema in contract.schema) or "none"
    if name is not None:
        schema = next((schema for schema in contract.schema if name in (schema.name, schema.physical_name)), None)
        if schema is None:
            raise NotFound(f"contract {contract.id} {contract.version} has no object {name!r}; it has: {known}")
        return schema
    if len(contract.schema) != 1:
        raise InvalidDocument(
            f"contract {contract.id} {contract.version} has {len(contract.schema)} objects ({known}); name one of them"
        )
    return contract.schema[0]


def struct_type(schema: SchemaObject) -> spark.StructType:
    """Return the schema of an object's rows."""
    return _struct(schema.fields)


def spark_type(field: Field) -> spark.DataType | None:
    """Return the Spark type of a field; None if the contract does not state one."""
    stated = field.type
    if stated is None:
        return None
    reader = _READERS.get(stated.name)
    return reader(field, stated) if reader else None


def lenient_type(field: Field) -> spark.DataType:
    """Return the type that reads the JSON of a field without loss: its structure with text leaves."""
    kind = field.type.name if field.type else None
    if kind == "object" and field.properties:
        return spark.StructType(
            [spark.StructField(column_name(child), lenient_type(child)) for child in field.properties]
        )
    if kind in ("array", "vector"):
        return spark.ArrayType(lenient_type(field.items) if field.items else spark.StringType())
    if kind == "map":
        return spark.MapType(
            spark.StringType(), lenient_type(field.map_value) if field.map_value else spark.StringType()
        )
    return spark.StringType()


def _struct(fields: tuple[Field, ...]) -> spark.StructType:
    parts = [
        spark.StructField(column_name(field), spark_type(field) or spark.StringType(), not field.is_required)
        for field in fields
    ]
    return spark.StructType(parts)


def _inner(field: Field | None) -> spark.DataType:
    return (spark_type(field) if field else None) or spark.StringType()


def _object(field: Field, _: DataType) -> spark.DataType | None:
    return _struct(field.properties) if field.properties else None


def _integer(_: Field, stated: DataType) -> spark.DataType | None:
    if stated.detail == "decimal":
        return spark.DecimalType(min(stated.precision or _MAX_PRECISION, _MAX_PRECISION), 0)
    return _INTEGERS.get(stated.detail or "i32", spark.LongType())


def _number(_: Field, stated: DataType) -> spark.DataType | None:
    if stated.detail == "decimal":
        if stated.precision is None:
            return _DEFAULT_DECIMAL
        digits = min(stated.precision, _MAX_PRECISION)
        return spark.DecimalType(digits, min(stated.scale or 0, digits))
    return spark.FloatType() if stated.detail == "f32" else spark.DoubleType()


def _timestamp(field: Field, stated: DataType) -> spark.DataType | None:
    timezone = (field.options or EMPTY).get("timezone")
    is_local = stated.detail == "without time zone" or (timezone is False and stated.detail != "with time zone")
    return spark.TimestampNTZType() if is_local else spark.TimestampType()


def _vector(field: Field, _: DataType) -> spark.DataType | None:
    return spark.ArrayType(_VECTOR_ELEMENTS.get((field.options or EMPTY).get("elementType"), spark.FloatType()))


_READERS: dict[str, Callable[[Field, DataType], spark.DataType | None]] = {
    "string": lambda field, stated: spark.StringType(),
    "json": lambda field, stated: spark.StringType(),
    "time": lambda field, stated: spark.StringType(),
    "boolean": lambda field, stated: spark.BooleanType(),
    "date": lambda field, stated: spark.DateType(),
    "binary": lambda field, stated: spark.BinaryType(),
    "integer": _integer,
    "number": _number,
    "timestamp": _timestamp,
    "object": _object,
    "array": lambda field, stated: spark.ArrayType(_inner(field.items)),
    "map": lambda field, stated: spark.MapType(_inner(field.map_key), _inner(field.map_value)),
    "vector": _vector,
}


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


def fields_from_struct(struct: spark.StructType) -> tuple[Field, ...]:
    """Return the contract fields of a Spark struct."""
    return tuple(
        field_from_type(column.dataType, column.name, required=not column.nullable) for column in struct.fields
    )


def field_from_type(kind: spark.DataType, name: str | None = None, *, required: bool = False) -> Field:
    """Return a field with a Spark type; types without an equivalent keep the name in Spark."""
    known = _SIMPLE.get(type(kind))
    is_required = required or None
    if known is not None:
        logical, physical, options = known
        return Field(
            name, logical_type=logical, physical_type=physical, options=FrozenMap(options), required=is_required
        )
    if isinstance(kind, spark.DecimalType):
        whole = "integer" if kind.scale == 0 else "number"
        return Field(name, logical_type=whole, physical_type=kind.simpleString(), required=is_required)
    if isinstance(kind, spark.StructType):
        return Field(
            name,
            logical_type="object",
            physical_type="struct",
            properties=fields_from_struct(kind),
            required=is_required,
        )
    if isinstance(kind, spark.ArrayType):
        return Field(
            name,
            logical_type="array",
            physical_type="array",
            items=field_from_type(kind.elementType),
            required=is_required,
        )
    if isinstance(kind, spark.MapType):
        key, value = field_from_type(kind.keyType), field_from_type(kind.valueType)
        return Field(name, logical_type="map", physical_type="map", map_key=key, map_value=value, required=is_required)
    return Field(name, physical_type=kind.simpleString(), required=is_required)


_PUBLIC_CLASSIFICATIONS = frozenset({"public", "open", "unclassified"})


def is_classified(field: Field) -> bool:
    """Whether the values of a field must not be shown."""
    return field.classification is not None and field.classification.strip().lower() not in _PUBLIC_CLASSIFICATIONS


def find_struct_field(kind: spark.StructType, name: str) -> spark.StructField | None:
    """Find a field of a struct by name: an exact match, or else the only match that differs in case."""
    exact = [column for column in kind.fields if column.name == name]
    loose = exact or [column for column in kind.fields if column.name.lower() == name.lower()]
    return loose[0] if len(loose) == 1 else None


def unknown_columns(kind: spark.StructType, fields: tuple[Field, ...]) -> list[str]:
    """Return the columns that are not in the contract."""
    known = {column.name for field in fields if (column := find_struct_field(kind, column_name(field)))}
    return [column.name for column in kind.fields if column.name not in known]
