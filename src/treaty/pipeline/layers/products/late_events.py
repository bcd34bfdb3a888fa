"""Late events: which event of a key is the latest, how many arrived out of order, and how many are missing.

The contract of the events names their sequence. The latest event of a key is the one with the highest sequence number,
not the one that arrived last, so that a late event does not overwrite a newer one. An event that arrives after one with
a higher number is counted as out of order; numbers that no event has are counted as gaps.
"""

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
from treaty.pipeline.layers.decoding import OPERATION, Operation
from treaty.pipeline.layers.events.event_table import ARRIVAL, ARRIVED_AT, RAW_RUN, contract_columns
from treaty.pipeline.layers.products.product_table import COUNTS, EVENTS, GAPS, OUT_OF_ORDER
from treaty.pipeline.layers.sql_queries import located_sql_errors
from treaty.pipeline.project.declarations import Product
from treaty.spark.columns import INTERNAL_PREFIX, quoted_col
from treaty.spark.schema import column_name, find_struct_field, select_object
from treaty.spark.uniqueness import has_complete_key

_SOURCE, _SEQUENCE, _LOWEST = f"{INTERNAL_PREFIX}source", f"{INTERNAL_PREFIX}sequence", f"{INTERNAL_PREFIX}lowest"
_LATE = f"{INTERNAL_PREFIX}late"


@dataclass(frozen=True)
class SourceEvents:
    """The events of a source, their contract, and their columns that hold the key of the product.

    The events are all events of the keys to count, and all that share a sequence with one of them.
    """

    name: str
    events: DataFrame
    contract: Contract
    key: tuple[str, ...]
    has_gaps: bool = True
    """Whether a number that no event has is missing; the positions of a change feed in its log are not consecutive."""


def count_deliveries(sources: Sequence[SourceEvents], key: Sequence[str]) -> DataFrame:
    """Return the counts of each key; counts of keys whose events are not all given mean nothing.

    Out-of-order counts and gaps are null if no contract promises an order; gaps also if a sequence spans several keys.
    """
    groups: dict[Order | None, list[SourceEvents]] = {}
    for source in sources:
        groups.setdefault(order_of(source.contract, source.key, key), []).append(source)
    parts = [
        _unordered(members, key) if order is None else _ordered(members, order, key)
        for order, members in groups.items()
    ]
    together = reduce(DataFrame.unionByName, parts)
    return together.groupBy(*map(quoted_col, key)).agg(*[F.sum(name).alias(name) for name in COUNTS])


def _key_of(source: SourceEvents, key: Sequence[str]) -> list[Column]:
    return [quoted_col(column).alias(name) for column, name in zip(source.key, key, strict=True)]


def _unordered(members: Sequence[SourceEvents], key: Sequence[str]) -> DataFrame:
    events = reduce(DataFrame.unionByName, [source.events.select(*_key_of(source, key)) for source in members])
    nothing = [F.lit(None).cast("bigint").alias(name) for name in (OUT_OF_ORDER, GAPS)]
    return events.groupBy(*map(quoted_col, key)).agg(F.count(F.lit(1)).alias(EVENTS), *nothing)


def _ordered(members: Sequence[SourceEvents], order: Order, key: Sequence[str]) -> DataFrame:
    frames = [_sequence_columns(source, order, key) for source in members]
    return _count_sequences(frames, order, key, counts_gaps=all(source.has_gaps for source in members))


def _sequence_columns(source: SourceEvents, order: Order, key: Sequence[str]) -> DataFrame:
    columns = ordering_columns(source.contract)
    parts = [quoted_col(column).alias(f"{INTERNAL_PREFIX}part_{position}") for position, column in enumerate(columns)]
    return source.events.select(
        *_key_of(source, key),
        *parts,
        quoted_col(order.sequence).alias(_SEQUENCE),
        F.lit(source.name).alias(_SOURCE),
        F.lit(_minimum(source.contract, order.sequence)).cast("bigint").alias(_LOWEST),
        *map(quoted_col, ARRIVAL),
    )


def _count_sequences(frames: Sequence[DataFrame], order: Order, key: Sequence[str], *, counts_gaps: bool) -> DataFrame:
    events = reduce(DataFrame.unionByName, frames)
    parts = [f"{INTERNAL_PREFIX}part_{position}" for position in range(len(order.key))]
    marked = events.withColumn(_LATE, _is_late(parts, several=len(frames) > 1))
    has_gaps = counts_gaps and order.is_within_key and _is_integer(marked.schema[_SEQUENCE].dataType)
    each = marked.groupBy(*map(quoted_col, (*key, *parts))).agg(
        F.count(F.lit(1)).alias(EVENTS),
        F.count_if(quoted_col(_LATE)).alias(OUT_OF_ORDER),
        (_gap_count() if has_gaps else F.lit(None).cast("bigint")).alias(GAPS),
    )
    return each.groupBy(*map(quoted_col, key)).agg(*[F.sum(name).alias(name) for name in COUNTS])


def _is_integer(number: spark.DataType) -> bool:
    return isinstance(number, spark.IntegralType) or (isinstance(number, spark.DecimalType) and number.scale == 0)


def _is_late(parts: Sequence[str], *, several: bool) -> Column:
    """Tell whether an event arrived after one of its sequence with a higher number; a null in its key means no.

    Files of one source arrive in the order of their modification times, files of different sources in the order of
    the runs.
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


def _gap_count() -> Column:
    """Count the numbers that no event has, from the minimum of the contract (else the lowest number) to the highest."""
    sequence = quoted_col(_SEQUENCE).cast("bigint")
    first = F.least(F.min(quoted_col(_LOWEST)), F.min(sequence))
    return F.max(sequence) - first + F.lit(1) - F.count_distinct(sequence)


def _minimum(contract: Contract, sequence: str) -> int | None:
    options = [field.options or EMPTY for field in select_object(contract).fields if column_name(field) == sequence]
    minimum = options[0].get("minimum") if options else None
    return minimum if isinstance(minimum, int) else None


@dataclass(frozen=True)
class Order:
    """A sequence that events of one or more sources share; its key has the names of the product, where it has them."""

    key: tuple[str, ...]
    sequence: str
    is_within_key: bool
    """Whether all events of a sequence belong to one key of the product; else it spans several keys."""


def order_of(contract: Contract, key_columns: Sequence[str], key: Sequence[str]) -> Order | None:
    """Return the order of a source's events, if their contract promises one; `key_columns` hold the product's key."""
    ordering = contract.treaty.ordering
    columns = ordering_columns(contract)
    if ordering is None or ordering.sequence is None or not columns:
        return None
    in_product = dict(zip(key_columns, key, strict=True))
    return Order(
        tuple(in_product.get(name, name) for name in columns),
        _column(contract, ordering.sequence),
        is_within_key=set(key_columns) <= set(columns),
    )


def ordering_columns(contract: Contract) -> tuple[str, ...]:
    """Return the columns that all events of one sequence have in common."""
    ordering = contract.treaty.ordering
    return tuple(_column(contract, name) for name in ordering.key) if ordering else ()


def sequences_across_keys(
    sources: Mapping[str, Contract], keys: Mapping[str, Sequence[str]], key: Sequence[str]
) -> list[dict[str, tuple[str, ...]]]:
    """Return the sequences that span several keys: for each, its columns in the sources that share it."""
    shared: dict[Order, dict[str, tuple[str, ...]]] = {}
    for name, contract in sources.items():
        order = order_of(contract, keys[name], key) if name in keys else None
        if order is not None and not order.is_within_key:
            shared.setdefault(order, {})[name] = ordering_columns(contract)
    return list(shared.values())


def _column(contract: Contract, name: str) -> str:
    return next((column_name(field) for field in select_object(contract).fields if field.name == name), name)


_LATEST, _IS_DELETED = f"{INTERNAL_PREFIX}latest", f"{INTERNAL_PREFIX}is_deleted"


def latest_rows(events: DataFrame, product: Product, contract: Contract, of_events: Contract) -> DataFrame:
    """Return the product's fields from the latest event of each key, without keys that their latest event deletes.

    The latest event has the highest sequence number; without a sequence in the contract, it arrived last. If the
    product marks deleted keys, they keep the fields of their latest event that is not a delete.
    """
    latest = _latest_events(events, _key(events, product, contract), of_events, _mark(product, contract))
    if product.deleted_when is not None:
        with located_sql_errors(f"{product.at or product.name}: deleted_when"):
            latest = latest.where(~F.coalesce(F.expr(product.deleted_when), F.lit(False)))
    wanted = [find_struct_field(latest.schema, column_name(field)) for field in select_object(contract).fields]
    return latest.select(*[quoted_col(column.name) for column in wanted if column is not None])


def _latest_events(events: DataFrame, key: Sequence[str], contract: Contract, mark: str | None) -> DataFrame:
    """Return the latest event of each key; with a mark, also of keys that a change feed deleted."""
    order = F.struct(*map(quoted_col, (*sequence_of(contract), *ARRIVAL)))
    names = [name for name in (*contract_columns(events.columns), ARRIVED_AT) if name != mark]
    event = F.struct(*map(quoted_col, names))
    by_key = events.groupBy(*map(quoted_col, key))
    if OPERATION not in events.columns:
        latest = by_key.agg(F.max_by(event, order).alias(_LATEST)).select(f"{_LATEST}.*")
        return latest.withColumn(mark, F.lit(False)) if mark else latest
    is_delete = quoted_col(OPERATION).eqNullSafe(F.lit(Operation.DELETE.value))
    each = by_key.agg(
        F.max_by(event, F.when(~is_delete, order)).alias(_LATEST), F.max_by(is_delete, order).alias(_IS_DELETED)
    )
    if mark is None:
        return each.where(~quoted_col(_IS_DELETED)).select(f"{_LATEST}.*")
    return each.where(quoted_col(_LATEST).isNotNull()).select(f"{_LATEST}.*", quoted_col(_IS_DELETED).alias(mark))


def _mark(product: Product, contract: Contract) -> str | None:
    """Return the column that marks deleted keys."""
    name = product.deletion_mark
    return next((column_name(field) for field in select_object(contract).fields if field.name == name), name)


def sequence_of(contract: Contract) -> tuple[str, ...]:
    """Return the sequence column of a contract, or nothing if it promises no order."""
    ordering = contract.treaty.ordering
    if ordering is None or ordering.sequence is None:
        return ()
    by_name = {field.name: column_name(field) for field in select_object(contract).fields}
    return (by_name.get(ordering.sequence, ordering.sequence),)


def _key(events: DataFrame, product: Product, contract: Contract) -> Sequence[str]:
    schema = select_object(contract)
    by_name = {field.name: column_name(field) for field in schema.fields}
    key_fields = {name: find_struct_field(events.schema, by_name[name]) for name in schema.primary_key}
    missing = [name for name, field in key_fields.items() if field is None]
    if missing or not key_fields:
        lacking = f"no field {missing[0]!r}" if missing else "no key"
        raise InvalidDocument(
            f"{product.at or product.name}: {contract.id} {contract.version} has one row per key, but the events of "
            f"{product.sources[0]} have {lacking}; compute the product with sql:"
        )
    return [field.name for field in key_fields.values() if field is not None]
