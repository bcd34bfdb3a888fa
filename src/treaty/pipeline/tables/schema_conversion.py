"""The columns of an Iceberg table as Spark's types."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from pyspark.sql import types as spark

from treaty.errors import Conflict

if TYPE_CHECKING:
    from pyiceberg.schema import Schema
    from pyiceberg.types import IcebergType, NestedField

COMMENT = "comment"
"""The key of a column's comment in its metadata."""

_SIMPLE_TYPES: Mapping[str, spark.DataType] = {
    "boolean": spark.BooleanType(),
    "int": spark.IntegerType(),
    "long": spark.LongType(),
    "float": spark.FloatType(),
    "double": spark.DoubleType(),
    "date": spark.DateType(),
    "timestamp": spark.TimestampNTZType(),
    "timestamptz": spark.TimestampType(),
    "string": spark.StringType(),
    "uuid": spark.StringType(),
    "binary": spark.BinaryType(),
}
"""Spark's type for each Iceberg type without parameters."""


def spark_columns(schema: Schema) -> spark.StructType:
    """Return the columns of an Iceberg schema, with comments, as `spark.table(…).schema` shows them."""
    return spark.StructType([_column(field) for field in schema.fields])


def _column(field: NestedField) -> spark.StructField:
    metadata = {COMMENT: field.doc} if field.doc else {}
    return spark.StructField(field.name, _type(field.field_type), not field.required, metadata)


def _type(kind: IcebergType) -> spark.DataType:
    from pyiceberg import types as iceberg

    if isinstance(kind, iceberg.StructType):
        return spark.StructType([_column(field) for field in kind.fields])
    if isinstance(kind, iceberg.ListType):
        return spark.ArrayType(_type(kind.element_type), not kind.element_required)
    if isinstance(kind, iceberg.MapType):
        return spark.MapType(_type(kind.key_type), _type(kind.value_type), not kind.value_required)
    if isinstance(kind, iceberg.DecimalType):
        return spark.DecimalType(kind.precision, kind.scale)
    if isinstance(kind, iceberg.FixedType):
        return spark.BinaryType()
    if str(kind) not in _SIMPLE_TYPES:
        raise Conflict(f"another process gave the table a column of type {kind}, which the pipeline does not write")
    return _SIMPLE_TYPES[str(kind)]
