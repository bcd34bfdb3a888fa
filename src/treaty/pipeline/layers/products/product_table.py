"""The table of a product: the fields of the contract and the columns that the pipeline adds."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from pyspark.sql import types as spark

from treaty.contracts.model import Contract
from treaty.errors import InvalidDocument
from treaty.pipeline.layers.events.event_table import nullable_columns, refuse_reserved_names
from treaty.spark.columns import MALFORMED_COLUMN, VIOLATIONS_COLUMN
from treaty.spark.schema import column_name, select_object, struct_type
from treaty.spark.violations import VIOLATIONS_TYPE

OUTCOME, GIVEN, RUN = "_outcome", "_given", "_run"
EVENTS, OUT_OF_ORDER, GAPS = "_events", "_out_of_order", "_gaps"
COUNTS = (EVENTS, OUT_OF_ORDER, GAPS)
_ADDED_COLUMNS: dict[str, spark.DataType] = {
    OUTCOME: spark.StringType(),
    VIOLATIONS_COLUMN: VIOLATIONS_TYPE,
    GIVEN: spark.StringType(),
    **dict.fromkeys(COUNTS, spark.LongType()),
    RUN: spark.LongType(),
}


class Outcome(StrEnum):
    """The outcome of a key."""

    VALID = "valid"
    QUARANTINED = "quarantined"
    DELETED = "deleted"


def product_columns(contract: Contract) -> spark.StructType:
    """Return the columns of the table; all are nullable, since a quarantined row has only its key."""
    fields = nullable_columns(struct_type(select_object(contract)))
    refuse_reserved_names(contract, [field.name for field in fields], {*_ADDED_COLUMNS, MALFORMED_COLUMN})
    return spark.StructType([*fields, *(spark.StructField(name, kind) for name, kind in _ADDED_COLUMNS.items())])


def key_columns(contract: Contract) -> tuple[str, ...]:
    """Return the key columns of a product."""
    schema = select_object(contract)
    if not schema.primary_key:
        raise InvalidDocument(
            f"contract {contract.id} {contract.version} has no primary key, but a product has one row per key; "
            "mark the key fields with primaryKey: true"
        )
    by_name = {field.name: column_name(field) for field in schema.fields}
    return tuple(by_name[name] for name in schema.primary_key)


def contract_columns(names: Sequence[str]) -> list[str]:
    """Return the columns of a table that are fields of the contract."""
    return [name for name in names if name not in _ADDED_COLUMNS]
