"""The SQL of a project: the columns that queries see of their inputs, and parsing against these columns."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import types as spark
from pyspark.sql.types import StructField, StructType, TimestampType

from treaty.contracts.model import Contract
from treaty.pipeline.project.declarations import Sql
from treaty.spark.schema import column_name, select_object, struct_type
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


ARRIVED_AT = "_arrived_at"


def contract_columns(contract: Contract) -> StructType:
    """Return the columns of a product, reconciliation or publication, as later steps see them."""
    return struct_type(select_object(contract))


def event_columns(contract: Contract) -> StructType:
    """Return the columns of events, as the query of a product sees them."""
    return StructType([*contract_columns(contract), StructField(ARRIVED_AT, TimestampType())])


def key_columns(contract: Contract) -> tuple[str, ...]:
    """Return the columns of a contract's primary key."""
    fields = select_object(contract).fields
    columns = {field.name or "": column_name(field) for field in fields}
    return tuple(columns[name] for name in select_object(contract).primary_key)


def has_columns(columns: StructType, names: tuple[str, ...]) -> bool:
    """Tell whether there are columns with these names, ignoring case."""
    return {name.lower() for name in names} <= {name.lower() for name in columns.names}


def find_column(columns: StructType, name: str) -> StructField | None:
    """Return the column with a name, ignoring case."""
    return next((column for column in columns if column.name.lower() == name.lower()), None)
