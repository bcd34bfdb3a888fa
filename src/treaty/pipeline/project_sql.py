"""Parse the SQL of a project against Spark schemas."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import types as spark

from treaty.pipeline.project.declarations import Sql
from treaty.sql.project_queries import Expression, Query, analyse_expression, analyse_query
from treaty.sql.relations import Column, ColumnType


def parse_query(sql: Sql, inputs: Mapping[str, spark.StructType]) -> Query:
    """Parse a query over the declared inputs; unknown tables, columns and functions are findings of the error."""
    return analyse_query(sql.text, str(sql.path), {name: columns_of(schema) for name, schema in inputs.items()})


def parse_expression(sql: str, source: str, rows: Mapping[str, spark.StructType]) -> Expression:
    """Parse an expression over named rows; the columns of the row named "" need no prefix."""
    return analyse_expression(sql, source, {name: columns_of(schema) for name, schema in rows.items()})


def columns_of(schema: spark.StructType) -> tuple[Column, ...]:
    """Return the columns of a Spark schema."""
    return tuple(Column(field.name, _column_type(field.dataType)) for field in schema.fields)


def _column_type(kind: spark.DataType) -> ColumnType:
    if isinstance(kind, spark.StructType):
        return ColumnType("struct", columns_of(kind))
    if isinstance(kind, spark.ArrayType):
        return ColumnType("array", element=_column_type(kind.elementType))
    if isinstance(kind, spark.MapType):
        return ColumnType("map", element=_column_type(kind.valueType))
    return ColumnType(kind.typeName())
