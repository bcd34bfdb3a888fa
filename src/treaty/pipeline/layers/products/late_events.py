"""What the events of a key tell about their delivery: how many, how many out of order, how many missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from treaty.contracts.model import Contract
from treaty.contracts.values import EMPTY
from treaty.errors import InvalidDocument
from treaty.pipeline.layers.events.event_table import ARRIVAL, ARRIVED_AT, RAW_RUN, contract_columns
from treaty.pipeline.layers.products.product_table import COUNTS, EVENTS, GAPS, OUT_OF_ORDER
from treaty.pipeline.layers.sql_queries import understood
from treaty.pipeline.project.declarations import Product
from treaty.spark.columns import INTERNAL_PREFIX, quoted_col
from treaty.spark.schema import column_name, find_struct_field, select_object
from treaty.spark.uniqueness import has_complete_key

_SOURCE, _SEQUENCE, _LOWEST = f"{INTERNAL_PREFIX}source", f"{INTERNAL_PREFIX}sequence", f"{INTERNAL_PREFIX}lowest"
_LATE = f"{INTERNAL_PREFIX}late"


@dataclass(frozen=True)
class Told:
    """The events of a source, their contract, and which of their columns hold the key of the product.

    The events are all those of the keys that are asked for, and all that share a sequence with one of them.
    """

    name: str
    events: DataFrame
    contract: Contract
    key: tuple[str, ...]


def history_of(told: Sequence[Told], key: Sequence[str]) -> DataFrame:
    """Return the counts of each key that is asked for; there may be others, whose counts mean nothing.

    Those on the order are null where no contract promises one, and gaps also where a sequence goes on in other keys.
    """
    groups: dict[Order | None, list[Told]] = {}
    for item in told:
        groups.setdefault(order_of(item.contract, item.key, key), []).append(item)
    parts = [
        _unordered(members, key) if order is None else _ordered(members, order, key)
        for order, members in groups.items()
    ]
    together = reduce(lambda one, other: one.unionByName(other), parts)
    return together.groupBy(*map(quoted_col, key)).agg(*[F.sum(name).alias(name) for name in COUNTS])


def _as_key(told: Told, key: Sequence[str]) -> list[Column]:
    return [quoted_col(column).alias(name) for column, name in zip(told.key, key, strict=True)]


def _unordered(members: Sequence[Told], key: Sequence[str]) -> DataFrame:
    events = reduce(
        lambda one, other: one.unionByName(other), [item.events.select(*_as_key(item, key)) for item in members]
    )
    nothing = [F.lit(None).cast("bigint").alias(name) for name in (OUT_OF_ORDER, GAPS)]
    return events.groupBy(*map(quoted_col, key)).agg(F.count(F.lit(1)).alias(EVENTS), *nothing)


def _ordered(members: Sequence[Told], order: Order, key: Sequence[str]) -> DataFrame:
    return _counted([_laid_out(item, order, key) for item in members], order, key)


def _laid_out(told: Told, order: Order, key: Sequence[str]) -> DataFrame:
    columns = ordering_columns(told.contract)
    parts = [quoted_col(column).alias(f"{INTERNAL_PREFIX}part_{place}") for place, column in enumerate(columns)]
    return told.events.select(
        *_as_key(told, key),
        *parts,
        quoted_col(order.sequence).alias(_SEQUENCE),
        F.lit(told.name).alias(_SOURCE),
        F.lit(_least(told.contract, order.sequence)).cast("bigint").alias(_LOWEST),
        *map(quoted_col, ARRIVAL),
    )


def _counted(frames: Sequence[DataFrame], order: Order, key: Sequence[str]) -> DataFrame:
    events = reduce(lambda one, other: one.unionByName(other), frames)
    parts = [f"{INTERNAL_PREFIX}part_{place}" for place in range(len(order.key))]
    marked = events.withColumn(_LATE, _is_late(parts, several=len(frames) > 1))
    has_gaps = order.is_within and _is_integer(marked.schema[_SEQUENCE].dataType)
    each = marked.groupBy(*map(quoted_col, (*key, *parts))).agg(
        F.count(F.lit(1)).alias(EVENTS),
        F.count_if(quoted_col(_LATE)).alias(OUT_OF_ORDER),
        (_missing() if has_gaps else F.lit(None).cast("bigint")).alias(GAPS),
    )
    return each.groupBy(*map(quoted_col, key)).agg(*[F.sum(name).alias(name) for name in COUNTS])


def _is_integer(number: spark.DataType) -> bool:
    return isinstance(number, spark.IntegralType) or (isinstance(number, spark.DecimalType) and number.scale == 0)


def _is_late(parts: Sequence[str], *, several: bool) -> Column:
    """Tell whether an event came after one of its sequence with a higher number; without a whole key it has none.

    Files of one source came in the order of their names; those of different sources, in the order of the runs.
    """
    own = (
        Window.partitionBy(*parts, _SOURCE)
        .orderBy(*map(quoted_col, ARRIVAL))
        .rowsBetween(Window.unboundedPreceding, -1)
    )
    highest = F.max(_SEQUENCE).over(own)
    if several:
        before = Window.partitionBy(*parts).orderBy(quoted_col(RAW_RUN)).rangeBetween(Window.unboundedPreceding, -1)
        highest = F.greatest(highest, F.max(_SEQUENCE).over(before))
    return has_complete_key(parts) & (quoted_col(_SEQUENCE) < highest)


def _missing() -> Column:
    """Count the numbers that no event has, from the least that the contract allows (else the lowest) to the highest."""
    sequence = quoted_col(_SEQUENCE).cast("bigint")
    first = F.least(F.min(quoted_col(_LOWEST)), F.min(sequence))
    return F.max(sequence) - first + F.lit(1) - F.count_distinct(sequence)


def _least(contract: Contract, sequence: str) -> int | None:
    options = [field.options or EMPTY for field in select_object(contract).fields if column_name(field) == sequence]
    said = options[0].get("minimum") if options else None
    return said if isinstance(said, int) else None


@dataclass(frozen=True)
class Order:
    """A sequence that events of one or more sources share: its key, named as in the product where it is there."""

    key: tuple[str, ...]
    sequence: str
    is_within: bool
    """Whether all events of a sequence are events of one key of the product; else it goes on in other keys."""


def order_of(contract: Contract, held_in: Sequence[str], key: Sequence[str]) -> Order | None:
    """Return the order of a source's events, if their contract promises one; `held_in` are the columns of the key."""
    ordering = contract.treaty.ordering
    columns = ordering_columns(contract)
    if ordering is None or ordering.sequence is None or not columns:
        return None
    in_product = dict(zip(held_in, key, strict=True))
    return Order(
        tuple(in_product.get(name, name) for name in columns),
        _column(contract, ordering.sequence),
        is_within=set(held_in) <= set(columns),
    )


def ordering_columns(contract: Contract) -> tuple[str, ...]:
    """Return the columns whose values the events of one sequence have in common."""
    ordering = contract.treaty.ordering
    return tuple(_column(contract, name) for name in ordering.key) if ordering else ()


def going_on(
    sources: Mapping[str, Contract], keys: Mapping[str, Sequence[str]], key: Sequence[str]
) -> list[dict[str, tuple[str, ...]]]:
    """Return the sequences that go on in other keys: for each, the sources that share it and its columns there."""
    shared: dict[Order, dict[str, tuple[str, ...]]] = {}
    for name, contract in sources.items():
        order = order_of(contract, keys[name], key) if name in keys else None
        if order is not None and not order.is_within:
            shared.setdefault(order, {})[name] = ordering_columns(contract)
    return list(shared.values())


def _column(contract: Contract, name: str) -> str:
    return next((column_name(field) for field in select_object(contract).fields if field.name == name), name)


_LATEST = f"{INTERNAL_PREFIX}latest"


def latest_rows(events: DataFrame, product: Product, contract: Contract, of_events: Contract) -> DataFrame:
    """Return the fields of the product from the latest event of each key; a key whose latest event deletes it has none.

    The sequence of the contract says what is latest, and the order of arrival where it does not.
    """
    key = _key(events, product, contract)
    order = F.struct(*map(quoted_col, (*sequence_of(of_events), *ARRIVAL)))
    whole = F.struct(*map(quoted_col, [*contract_columns(events.columns), ARRIVED_AT]))
    each = events.groupBy(*map(quoted_col, key)).agg(F.max_by(whole, order).alias(_LATEST))
    latest = each.select(f"{_LATEST}.*")
    if product.deleted_when is not None:
        with understood(f"{product.at or product.name}: deleted_when"):
            latest = latest.where(~F.coalesce(F.expr(product.deleted_when), F.lit(False)))
    wanted = [find_struct_field(events.schema, column_name(field)) for field in select_object(contract).fields]
    return latest.select(*[quoted_col(item.name) for item in wanted if item is not None])


def sequence_of(contract: Contract) -> tuple[str, ...]:
    """Return the column that a contract orders its events by, if it promises an order."""
    ordering = contract.treaty.ordering
    if ordering is None or ordering.sequence is None:
        return ()
    by_name = {field.name: column_name(field) for field in select_object(contract).fields}
    return (by_name.get(ordering.sequence, ordering.sequence),)


def _key(events: DataFrame, product: Product, contract: Contract) -> Sequence[str]:
    schema = select_object(contract)
    by_name = {field.name: column_name(field) for field in schema.fields}
    found = {name: find_struct_field(events.schema, by_name[name]) for name in schema.primary_key}
    missing = [name for name, item in found.items() if item is None]
    if missing or not found:
        lacking = f"no field {missing[0]!r}" if missing else "no key to go by"
        raise InvalidDocument(
            f"{product.at or product.name}: {contract.id} {contract.version} has one row per key, and the events of "
            f"{product.sources[0]} have {lacking}; write the product's rows with sql:"
        )
    return [item.name for item in found.values() if item is not None]
