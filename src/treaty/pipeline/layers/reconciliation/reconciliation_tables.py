"""The tables of a reconciliation: reconciled keys, exceptions and acceptances."""

from __future__ import annotations

from enum import StrEnum

from pyspark.sql import types as spark

from treaty.contracts.model import Contract, Field
from treaty.pipeline.layers.events.event_table import nullable_columns
from treaty.spark.schema import column_name, select_object, spark_type

CONTRACT = "contract"
"""The name of the assertion that a settled row conforms to its contract."""

_TEXT = spark.StringType()
_TIMESTAMP = spark.TimestampType()
_EXCEPTION_TYPES = {
    "assertion": _TEXT,
    "reason_class": _TEXT,
    "statement": _TEXT,
    "claims": _TEXT,
    "claims_digest": _TEXT,
    "owner": _TEXT,
    "state": _TEXT,
    "accepted_by": _TEXT,
    "accepted_reason": _TEXT,
}
EXCEPTION_FIELDS = tuple(_EXCEPTION_TYPES)
"""The fields of an exception besides its key, when it is found."""
_HISTORY_TYPES: dict[str, spark.DataType] = {
    "first_seen": _TIMESTAMP,
    "last_seen": _TIMESTAMP,
    "_run": spark.LongType(),
}
_ACCEPTANCE_TYPES: dict[str, spark.DataType] = {
    "assertion": _TEXT,
    "claims_digest": _TEXT,
    "reason": _TEXT,
    "actor": _TEXT,
    "accepted_at": _TIMESTAMP,
    "_run": spark.LongType(),
}


class Outcome(StrEnum):
    """The outcome of a key."""

    RESOLVED = "resolved"
    HELD = "held"


class State(StrEnum):
    """The state of an exception."""

    OPEN = "open"
    RESOLVED = "resolved"
    ACCEPTED = "accepted"


def key_fields(contract: Contract) -> tuple[Field, ...]:
    """Return the key fields in the order of the key."""
    schema = select_object(contract)
    by_name = {field.name: field for field in schema.fields}
    return tuple(by_name[name] for name in schema.primary_key)


def key_columns(contract: Contract) -> tuple[str, ...]:
    """Return the key columns in the order of the key."""
    return tuple(map(column_name, key_fields(contract)))


def reconciled_columns(contract: Contract) -> spark.StructType:
    """Return the columns of the table of reconciled keys; all but the key are nullable."""
    key = key_columns(contract)
    columns = [_field_column(field, nullable=column_name(field) not in key) for field in select_object(contract).fields]
    return _struct_type(columns, {"_outcome": _TEXT, "_run": spark.LongType()})


def exception_columns(contract: Contract) -> spark.StructType:
    """Return the columns of the table of exceptions."""
    return _struct_type(
        [_field_column(field) for field in key_fields(contract)], {**_EXCEPTION_TYPES, **_HISTORY_TYPES}
    )


def acceptance_columns(contract: Contract) -> spark.StructType:
    """Return the columns of the table of acceptances."""
    return _struct_type([_field_column(field) for field in key_fields(contract)], _ACCEPTANCE_TYPES)


def exception_key_columns(columns: spark.StructType) -> spark.StructType:
    """Return the key columns of a table of exceptions."""
    return spark.StructType([column for column in columns if column.name not in {**_EXCEPTION_TYPES, **_HISTORY_TYPES}])


def acceptance_columns_for_key(key: spark.StructType) -> spark.StructType:
    """Return the columns of the table of acceptances for a key."""
    return _struct_type(list(key), _ACCEPTANCE_TYPES)


def _field_column(field: Field, *, nullable: bool = True) -> spark.StructField:
    """Return the column of a field; nested fields are nullable, since held keys have no values."""
    (inside,) = nullable_columns(spark.StructType([spark.StructField(column_name(field), spark_type(field) or _TEXT)]))
    return spark.StructField(inside.name, inside.dataType, nullable)


def _struct_type(columns: list[spark.StructField], more: dict[str, spark.DataType]) -> spark.StructType:
    return spark.StructType([*columns, *[spark.StructField(name, kind) for name, kind in more.items()]])
