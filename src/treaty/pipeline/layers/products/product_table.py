"""What the table of a product holds beside the fields of the contract."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from pyspark.sql import types as spark

from treaty.contracts.model import Contract
from treaty.errors import InvalidDocument
from treaty.pipeline.layers.events.event_table import optional, refuse_taken
from treaty.spark.columns import MALFORMED_COLUMN, VIOLATIONS_COLUMN
from treaty.spark.schema import column_name, select_object, struct_type
from treaty.spark.violations import VIOLATIONS_TYPE

OUTCOME, GIVEN, RUN = "_outcome", "_given", "_run"
EVENTS, OUT_OF_ORDER, GAPS = "_events", "_out_of_order", "_gaps"
COUNTS = (EVENTS, OUT_OF_ORDER, GAPS)
_PLATFORM: dict[str, spark.DataType] = {
    OUTCOME: spark.StringType(),
    VIOLATIONS_COLUMN: VIOLATIONS_TYPE,
    GIVEN: spark.StringType(),
    **dict.fromkeys(COUNTS, spark.LongType()),
    RUN: spark.LongType(),
}


class Outcome(StrEnum):
    """What became of a key."""

    VALID = "valid"
    QUARANTINED = "quarantined"
    DELETED = "deleted"


def product_columns(contract: Contract) -> spark.StructType:
    """Return the columns of the table: nothing is required, since a row in quarantine has only its key."""
    fields = optional(struct_type(select_object(contract)))
    refuse_taken(contract, [item.name for item in fields], {*_PLATFORM, MALFORMED_COLUMN})
    return spark.StructType([*fields, *(spark.StructField(name, kind) for name, kind in _PLATFORM.items())])


def key_columns(contract: Contract) -> tuple[str, ...]:
    """Return the columns of a product's key."""
    schema = select_object(contract)
    if not schema.primary_key:
        raise InvalidDocument(
            f"contract {contract.id} {contract.version} has no primary key, and a product has one row per key; "
            "mark the fields of its key with primaryKey: true"
        )
    by_name = {field.name: column_name(field) for field in schema.fields}
    return tuple(by_name[name] for name in schema.primary_key)


def contract_columns(names: Sequence[str]) -> list[str]:
    """Return which of a table's columns are fields of the contract."""
    return [name for name in names if name not in _PLATFORM]
