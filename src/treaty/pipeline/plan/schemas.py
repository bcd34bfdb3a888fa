"""The columns that queries see of their inputs: those of the contract, and the arrival time of events."""

from __future__ import annotations

from pyspark.sql.types import StructField, StructType, TimestampType

from treaty.contracts.model import Contract
from treaty.spark.schema import column_name, select_object, struct_type

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
    return next((item for item in columns if item.name.lower() == name.lower()), None)
