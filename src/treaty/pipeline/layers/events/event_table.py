"""What the table of a source's events holds beside the fields of the contract."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from pyspark.sql import types as spark

from treaty.contracts.model import Contract
from treaty.errors import InvalidDocument
from treaty.spark.columns import MALFORMED_COLUMN, VIOLATIONS_COLUMN
from treaty.spark.schema import select_object, struct_type
from treaty.spark.violations import VIOLATIONS_TYPE

OUTCOME = "_outcome"
FILE, POSITION, ARRIVED_AT, RAW_RUN = "_source_file", "_position", "_arrived_at", "_raw_run"
DIGEST = "_digest"
RUN = "_run"
ARRIVAL = (RAW_RUN, FILE, POSITION)
"""The order in which the events of a source came."""
_ICEBERG = frozenset(
    {"_file", "_pos", "_deleted", "_spec_id", "_partition", "_row_id", "_last_updated_sequence_number"}
)
"""Columns that every Iceberg table has of itself."""
_PLATFORM = {
    OUTCOME: spark.StringType(),
    VIOLATIONS_COLUMN: VIOLATIONS_TYPE,
    FILE: spark.StringType(),
    POSITION: spark.LongType(),
    ARRIVED_AT: spark.TimestampType(),
    RAW_RUN: spark.LongType(),
    DIGEST: spark.StringType(),
    RUN: spark.LongType(),
}


class Outcome(StrEnum):
    """What became of something that arrived."""

    ACCEPTED = "accepted"
    DUPLICATE = "duplicate"
    CONFLICTING = "conflicting"
    QUARANTINED = "quarantined"


def event_columns(contract: Contract) -> spark.StructType:
    """Return the columns of the table: nothing is required, since a row in quarantine has no values."""
    fields = optional(struct_type(select_object(contract)))
    refuse_taken(contract, [item.name for item in fields], {*_PLATFORM, MALFORMED_COLUMN})
    return spark.StructType([*fields, *(spark.StructField(name, kind) for name, kind in _PLATFORM.items())])


def contract_columns(names: Sequence[str]) -> list[str]:
    """Return which of a table's columns are fields of the contract."""
    return [name for name in names if name not in _PLATFORM]


def optional(kind: spark.StructType) -> spark.StructType:
    """Return the same columns with nothing required at any depth."""
    return spark.StructType([spark.StructField(item.name, _optional(item.dataType)) for item in kind])


def refuse_taken(contract: Contract, names: Sequence[str], taken: set[str]) -> None:
    """Refuse a contract whose fields are called like columns that the platform adds."""
    ours = {name.lower() for name in {*taken, *_ICEBERG}}
    clash = [name for name in names if name.lower() in ours]
    if clash:
        raise InvalidDocument(
            f"contract {contract.id} {contract.version} has a field {clash[0]!r}, which is a column of the pipeline's "
            "own; give the field another name"
        )


def _optional(kind: spark.DataType) -> spark.DataType:
    if isinstance(kind, spark.StructType):
        return optional(kind)
    if isinstance(kind, spark.ArrayType):
        return spark.ArrayType(_optional(kind.elementType))
    if isinstance(kind, spark.MapType):
        return spark.MapType(_optional(kind.keyType), _optional(kind.valueType))
    return kind
