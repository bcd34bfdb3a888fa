"""A contract as properties of its table and comments on its columns, for readers of the catalog."""

from __future__ import annotations

from collections.abc import Iterable

from pyspark.sql import types as spark

from treaty.contracts.model import Contract, Field
from treaty.formats.catalog_properties import PREFIX, describe_contract, one_line
from treaty.pipeline.tables.schema_conversion import COMMENT
from treaty.spark.schema import column_name


def table_properties(contract: Contract) -> dict[str, str]:
    """Return the properties that describe the table: owner, meaning, guarantees and limits."""
    return {f"{PREFIX}{name}": text for name, text in describe_contract(contract).items()}


def with_comments(columns: spark.StructType, contract: Contract) -> spark.StructType:
    """Return the columns with the description of each field as its comment."""
    fields = [field for schema in contract.schema for field in schema.fields]
    return _with_comments(columns, fields)


def _with_comments(columns: spark.StructType, fields: Iterable[Field]) -> spark.StructType:
    known = {column_name(field): field for field in fields}
    return spark.StructType([_with_comment(column, known.get(column.name)) for column in columns])


def _with_comment(column: spark.StructField, field: Field | None) -> spark.StructField:
    if field is None:
        return column
    inside = column.dataType
    if isinstance(inside, spark.StructType) and field.properties:
        inside = _with_comments(inside, field.properties)
    meaning = one_line(field.description) or one_line(field.business_name)
    metadata = {**column.metadata, **({COMMENT: meaning} if meaning else {})}
    return spark.StructField(column.name, inside, column.nullable, metadata)
