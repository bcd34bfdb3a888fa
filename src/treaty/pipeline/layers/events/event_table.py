"""The table of events: the fields of the contract and the columns that the pipeline adds."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from treaty.contracts.model import Contract
from treaty.errors import InvalidDocument
from treaty.pipeline.layers.decoding import decoded_rows
from treaty.spark.columns import MALFORMED_COLUMN, VIOLATIONS_COLUMN
from treaty.spark.schema import select_object, struct_type
from treaty.spark.violations import VIOLATIONS_TYPE

OUTCOME = "_outcome"
FILE, POSITION, ARRIVED_AT, RAW_RUN = "_source_file", "_position", "_arrived_at", "_raw_run"
MODIFIED = "_file_modified"
DIGEST = "_digest"
RUN = "_run"
OPERATION = decoded_rows.OPERATION
ARRIVAL = (RAW_RUN, MODIFIED, FILE, POSITION)
"""The columns that give the order of arrival of a source's events.

Within a run, files arrive in the order of their modification times, and those of the same time in the order of names.
"""
_ICEBERG_COLUMNS = frozenset(
    {"_file", "_pos", "_deleted", "_spec_id", "_partition", "_row_id", "_last_updated_sequence_number"}
)
"""Metadata columns of every Iceberg table."""
_ADDED_COLUMNS = {
    OUTCOME: spark.StringType(),
    VIOLATIONS_COLUMN: VIOLATIONS_TYPE,
    FILE: spark.StringType(),
    POSITION: spark.LongType(),
    ARRIVED_AT: spark.TimestampType(),
    RAW_RUN: spark.LongType(),
    MODIFIED: spark.TimestampType(),
    DIGEST: spark.StringType(),
    RUN: spark.LongType(),
}


_FEED_COLUMNS = {OPERATION: spark.StringType()}
"""Columns that the tables of change feeds have besides."""


class Outcome(StrEnum):
    """The outcome of a raw row; `control` rows of a change feed describe no row of its table."""

    ACCEPTED = "accepted"
    DUPLICATE = "duplicate"
    CONFLICTING = "conflicting"
    QUARANTINED = "quarantined"
    CONTROL = "control"


def event_columns(contract: Contract, *, is_change_feed: bool = False) -> spark.StructType:
    """Return the columns of the table; all are nullable, since quarantined rows have no values."""
    fields = nullable_columns(struct_type(select_object(contract)))
    added = {**_ADDED_COLUMNS, **_FEED_COLUMNS} if is_change_feed else _ADDED_COLUMNS
    refuse_reserved_names(contract, [field.name for field in fields], {*added, MALFORMED_COLUMN})
    return spark.StructType([*fields, *(spark.StructField(name, kind) for name, kind in added.items())])


def with_arrival_columns(events: DataFrame) -> DataFrame:
    """Return events with all columns of the order of arrival; tables of earlier releases lack the modification time."""
    return events if MODIFIED in events.columns else events.withColumn(MODIFIED, F.lit(None).cast("timestamp"))


def contract_columns(names: Sequence[str]) -> list[str]:
    """Return the columns of a table that are fields of the contract."""
    return [name for name in names if name not in _ADDED_COLUMNS and name not in _FEED_COLUMNS]


def nullable_columns(kind: spark.StructType) -> spark.StructType:
    """Return the same columns, nullable at any depth."""
    return spark.StructType([spark.StructField(field.name, _nullable_type(field.dataType)) for field in kind])


def refuse_reserved_names(contract: Contract, names: Sequence[str], taken: set[str]) -> None:
    """Refuse a contract with a field that is named like a column that the pipeline adds."""
    ours = {name.lower() for name in {*taken, *_ICEBERG_COLUMNS}}
    clash = [name for name in names if name.lower() in ours]
    if clash:
        raise InvalidDocument(
            f"contract {contract.id} {contract.version} has a field {clash[0]!r}, which is a column that the pipeline "
            "adds; rename the field"
        )


def _nullable_type(kind: spark.DataType) -> spark.DataType:
    if isinstance(kind, spark.StructType):
        return nullable_columns(kind)
    if isinstance(kind, spark.ArrayType):
        return spark.ArrayType(_nullable_type(kind.elementType))
    if isinstance(kind, spark.MapType):
        return spark.MapType(_nullable_type(kind.keyType), _nullable_type(kind.valueType))
    return kind
