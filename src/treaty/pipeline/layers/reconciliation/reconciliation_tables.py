"""The columns of the tables that a reconciliation writes."""

from __future__ import annotations

from enum import StrEnum

from pyspark.sql import types as spark

from treaty.contracts.model import Contract, Field
from treaty.pipeline.layers.events.event_table import optional
from treaty.spark.schema import column_name, select_object, spark_type

CONTRACT = "contract"
"""The assertion that a settled row keeps its contract."""

_TEXT = spark.StringType()
_MOMENT = spark.TimestampType()
_FOUND = {
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
FOUND = tuple(_FOUND)
"""What is said of an exception beside its key, when it is found."""
_SEEN: dict[str, spark.DataType] = {"first_seen": _MOMENT, "last_seen": _MOMENT, "_run": spark.LongType()}
_ACCEPTED: dict[str, spark.DataType] = {
    "assertion": _TEXT,
    "claims_digest": _TEXT,
    "reason": _TEXT,
    "actor": _TEXT,
    "accepted_at": _MOMENT,
    "_run": spark.LongType(),
}


class Outcome(StrEnum):
    """What became of a key."""

    RESOLVED = "resolved"
    HELD = "held"


class State(StrEnum):
    """How an exception stands."""

    OPEN = "open"
    RESOLVED = "resolved"
    ACCEPTED = "accepted"


def key_fields(contract: Contract) -> tuple[Field, ...]:
    """Return the fields that hold the key, in its order."""
    schema = select_object(contract)
    by_name = {field.name: field for field in schema.fields}
    return tuple(by_name[name] for name in schema.primary_key)


def key_columns(contract: Contract) -> tuple[str, ...]:
    """Return the columns that hold the key, in its order."""
    return tuple(map(column_name, key_fields(contract)))


def reconciled_columns(contract: Contract) -> spark.StructType:
    """Return the columns of the table of reconciled keys; only keys are always filled."""
    key = key_columns(contract)
    parts = [_part(field, nullable=column_name(field) not in key) for field in select_object(contract).fields]
    return _with(parts, {"_outcome": _TEXT, "_run": spark.LongType()})


def exception_columns(contract: Contract) -> spark.StructType:
    """Return the columns of the table of exceptions."""
    return _with([_part(field) for field in key_fields(contract)], {**_FOUND, **_SEEN})


def acceptance_columns(contract: Contract) -> spark.StructType:
    """Return the columns of the table in which people accept exceptions."""
    return _with([_part(field) for field in key_fields(contract)], _ACCEPTED)


def key_of_exceptions(columns: spark.StructType) -> spark.StructType:
    """Return the columns of a table of exceptions that hold the key."""
    return spark.StructType([item for item in columns if item.name not in {**_FOUND, **_SEEN}])


def acceptances_of(key: spark.StructType) -> spark.StructType:
    """Return the columns of a table of acceptances whose key is known."""
    return _with(list(key), _ACCEPTED)


def _part(field: Field, *, nullable: bool = True) -> spark.StructField:
    """Return the column of a field; what is inside may be missing, since a held key has no values."""
    (inside,) = optional(spark.StructType([spark.StructField(column_name(field), spark_type(field) or _TEXT)]))
    return spark.StructField(inside.name, inside.dataType, nullable)


def _with(parts: list[spark.StructField], more: dict[str, spark.DataType]) -> spark.StructType:
    return spark.StructType([*parts, *[spark.StructField(name, kind) for name, kind in more.items()]])
