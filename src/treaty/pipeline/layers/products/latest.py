"""A product without SQL: the latest event of each key."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from treaty.contracts.model import Contract
from treaty.errors import InvalidDocument
from treaty.pipeline.declarations import Product
from treaty.pipeline.layers.events.columns import ARRIVAL, ARRIVED_AT, contract_columns
from treaty.pipeline.layers.querying import understood
from treaty.spark.columns import PRIVATE, named
from treaty.spark.schema import child_of, column_name, the_object

_LATEST = f"{PRIVATE}latest"


def latest_rows(events: DataFrame, product: Product, contract: Contract, of_events: Contract) -> DataFrame:
    """Return the fields of the product from the latest event of each key; a key whose latest event deletes it has none.

    The sequence of the contract says what is latest, and the order of arrival where it does not.
    """
    key = _key(events, product, contract)
    order = F.struct(*map(named, (*sequence_of(of_events), *ARRIVAL)))
    whole = F.struct(*map(named, [*contract_columns(events.columns), ARRIVED_AT]))
    each = events.groupBy(*map(named, key)).agg(F.max_by(whole, order).alias(_LATEST))
    latest = each.select(f"{_LATEST}.*")
    if product.deleted_when is not None:
        with understood(f"{product.at or product.name}: deleted_when"):
            latest = latest.where(~F.coalesce(F.expr(product.deleted_when), F.lit(False)))
    wanted = [child_of(events.schema, column_name(field)) for field in the_object(contract).fields]
    return latest.select(*[named(item.name) for item in wanted if item is not None])


def sequence_of(contract: Contract) -> tuple[str, ...]:
    """Return the column that a contract orders its events by, if it promises an order."""
    ordering = contract.treaty.ordering
    if ordering is None or ordering.sequence is None:
        return ()
    by_name = {field.name: column_name(field) for field in the_object(contract).fields}
    return (by_name.get(ordering.sequence, ordering.sequence),)


def _key(events: DataFrame, product: Product, contract: Contract) -> Sequence[str]:
    schema = the_object(contract)
    by_name = {field.name: column_name(field) for field in schema.fields}
    found = {name: child_of(events.schema, by_name[name]) for name in schema.primary_key}
    missing = [name for name, item in found.items() if item is None]
    if missing or not found:
        lacking = f"no field {missing[0]!r}" if missing else "no key to go by"
        raise InvalidDocument(
            f"{product.at or product.name}: {contract.id} {contract.version} has one row per key, and the events of "
            f"{product.sources[0]} have {lacking}; write the product's rows with sql:"
        )
    return [item.name for item in found.values() if item is not None]
