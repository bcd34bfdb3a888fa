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
    if isinstance(kind, spark.DecimalType):
        return ColumnType("decimal", parameters=(kind.precision, kind.scale))
    return ColumnType(kind.typeName())


def spark_type_of(known: ColumnType | None) -> spark.DataType | None:
    """Return the Spark type of a column; None where the SQL does not show it."""
    if known is None:
        return None
    if known.name == "decimal":
        return spark.DecimalType(*known.parameters) if known.parameters else None
    if known.name == "array":
        element = spark_type_of(known.element)
        return None if element is None else spark.ArrayType(element)
    if known.name == "struct":
        types = [(field.name, spark_type_of(field.type)) for field in known.fields]
        fields = [StructField(name, kind) for name, kind in types if kind is not None]
        return StructType(fields) if len(fields) == len(types) else None
    return _ATOMIC_TYPES.get(known.name)


_ATOMIC_TYPES: dict[str, spark.DataType] = {
    kind.typeName(): kind
    for kind in (
        spark.BooleanType(),
        spark.ByteType(),
        spark.ShortType(),
        spark.IntegerType(),
        spark.LongType(),
        spark.FloatType(),
        spark.DoubleType(),
        spark.StringType(),
        spark.BinaryType(),
        spark.DateType(),
        spark.TimestampType(),
        spark.TimestampNTZType(),
    )
}

ARRIVED_AT = "_arrived_at"
OPERATION = "_operation"
"""What a change feed says happened to the row: create, update, delete or snapshot."""
PLATFORM_COLUMNS = (ARRIVED_AT, OPERATION)
"""Columns that the pipeline adds to events and that queries see if they name them."""


def contract_columns(contract: Contract) -> StructType:
    """Return the columns of a product, reconciliation or publication, as later steps see them."""
    return struct_type(select_object(contract))


def event_columns(contract: Contract, *, is_change_feed: bool = False) -> StructType:
    """Return the columns of events, as the query of a product sees them."""
    added = [StructField(ARRIVED_AT, TimestampType())]
    added += [StructField(OPERATION, spark.StringType())] if is_change_feed else []
    return StructType([*contract_columns(contract), *added])


def visible_columns(columns: StructType, sql: Sql) -> StructType:
    """Return the columns that a query sees: those of the pipeline only if it names them, so that * does not add them.

    Enrichments have none of these columns.
    """
    hidden = {name for name in PLATFORM_COLUMNS if not reads_column(sql, name)}
    return StructType([column for column in columns if column.name not in hidden])


def reads_column(sql: Sql, name: str) -> bool:
    """Tell whether a query names a column of the pipeline."""
    return name in sql.text.lower()


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
