"""What queries see of their inputs: the columns of the contract, and of events when they arrived."""

from __future__ import annotations

from pyspark.sql.types import StructField, StructType, TimestampType

from treaty.contracts.model import Contract
from treaty.spark.schema import column_name, select_object, struct_type

ARRIVED_AT = "_arrived_at"


def of_contract(contract: Contract) -> StructType:
    """Return the columns of a product, reconciliation or publication, as the next step sees them."""
    return struct_type(select_object(contract))


def of_events(contract: Contract) -> StructType:
    """Return the columns of events, as a product's query sees them."""
    return StructType([*of_contract(contract), StructField(ARRIVED_AT, TimestampType())])


def key_of(contract: Contract) -> tuple[str, ...]:
    """Return the columns of a contract's primary key."""
    fields = select_object(contract).fields
    columns = {field.name or "": column_name(field) for field in fields}
    return tuple(columns[name] for name in select_object(contract).primary_key)


def has(columns: StructType, names: tuple[str, ...]) -> bool:
    """Tell whether there are columns of those names."""
    return {name.lower() for name in names} <= {name.lower() for name in columns.names}


def column(columns: StructType, name: str) -> StructField | None:
    """Return the column of that name, whatever its case."""
    return next((item for item in columns if item.name.lower() == name.lower()), None)
