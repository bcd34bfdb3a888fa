"""What the events of a key tell about their delivery: how many, how many out of order, how many missing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from treaty.contracts.model import Contract
from treaty.contracts.values import EMPTY
from treaty.pipeline.layers.events.columns import ARRIVAL, RAW_RUN
from treaty.pipeline.layers.products.columns import COUNTS, EVENTS, GAPS, OUT_OF_ORDER
from treaty.spark.preparing import PRIVATE, named
from treaty.spark.schema import column_name, the_object

_SOURCE, _SEQUENCE, _LOWEST = f"{PRIVATE}source", f"{PRIVATE}sequence", f"{PRIVATE}lowest"
_LATE = f"{PRIVATE}late"


@dataclass(frozen=True)
class Told:
    """The events of a source, their contract, and which of their columns hold the key of the product."""

    name: str
    events: DataFrame
    contract: Contract
    key: tuple[str, ...]


@dataclass(frozen=True)
class _Order:
    """A sequence that events of one or more sources share: its key, named as in the product where it is there."""

    key: tuple[str, ...]
    sequence: str


def history_of(told: Sequence[Told], key: Sequence[str]) -> DataFrame:
    """Return the counts of each key; those on the order are null where no contract promises one within the key."""
    groups: dict[_Order | None, list[Told]] = {}
    for item in told:
        groups.setdefault(_order_of(item, key), []).append(item)
    parts = [
        _unordered(members, key) if order is None else _ordered(members, order, key)
        for order, members in groups.items()
    ]
    together = reduce(lambda one, other: one.unionByName(other), parts)
    return together.groupBy(*map(named, key)).agg(*[F.sum(name).alias(name) for name in COUNTS])


def _order_of(told: Told, key: Sequence[str]) -> _Order | None:
    """Return the order of a source's events, if one key of the product has all events of a sequence."""
    ordering = told.contract.treaty.ordering
    columns = _ordering_columns(told.contract)
    if ordering is None or ordering.sequence is None or not columns or not set(told.key) <= set(columns):
        return None
    in_product = dict(zip(told.key, key, strict=True))
    return _Order(tuple(in_product.get(name, name) for name in columns), _column(told.contract, ordering.sequence))


def _ordering_columns(contract: Contract) -> tuple[str, ...]:
    ordering = contract.treaty.ordering
    return tuple(_column(contract, name) for name in ordering.key) if ordering else ()


def _column(contract: Contract, name: str) -> str:
    return next((column_name(field) for field in the_object(contract).fields if field.name == name), name)


def _as_key(told: Told, key: Sequence[str]) -> list[Column]:
    return [named(column).alias(name) for column, name in zip(told.key, key, strict=True)]


def _unordered(members: Sequence[Told], key: Sequence[str]) -> DataFrame:
    events = reduce(
        lambda one, other: one.unionByName(other), [item.events.select(*_as_key(item, key)) for item in members]
    )
    nothing = [F.lit(None).cast("bigint").alias(name) for name in (OUT_OF_ORDER, GAPS)]
    return events.groupBy(*map(named, key)).agg(F.count(F.lit(1)).alias(EVENTS), *nothing)


def _ordered(members: Sequence[Told], order: _Order, key: Sequence[str]) -> DataFrame:
    return _counted([_laid_out(item, order, key) for item in members], order, key)


def _laid_out(told: Told, order: _Order, key: Sequence[str]) -> DataFrame:
    columns = _ordering_columns(told.contract)
    parts = [named(column).alias(f"{PRIVATE}part_{place}") for place, column in enumerate(columns)]
    return told.events.select(
        *_as_key(told, key),
        *parts,
        named(order.sequence).alias(_SEQUENCE),
        F.lit(told.name).alias(_SOURCE),
        F.lit(_least(told.contract, order.sequence)).cast("bigint").alias(_LOWEST),
        *map(named, ARRIVAL),
    )


def _counted(frames: Sequence[DataFrame], order: _Order, key: Sequence[str]) -> DataFrame:
    events = reduce(lambda one, other: one.unionByName(other), frames)
    parts = [f"{PRIVATE}part_{place}" for place in range(len(order.key))]
    marked = events.withColumn(_LATE, _is_late(parts, several=len(frames) > 1))
    number = marked.schema[_SEQUENCE].dataType
    whole = isinstance(number, spark.IntegralType) or (isinstance(number, spark.DecimalType) and number.scale == 0)
    each = marked.groupBy(*map(named, dict.fromkeys((*key, *parts)))).agg(
        F.count(F.lit(1)).alias(EVENTS),
        F.count_if(named(_LATE)).alias(OUT_OF_ORDER),
        (_missing() if whole else F.lit(None).cast("bigint")).alias(GAPS),
    )
    return each.groupBy(*map(named, key)).agg(*[F.sum(name).alias(name) for name in COUNTS])


def _is_late(parts: Sequence[str], *, several: bool) -> Column:
    """Tell whether an event came after one with a higher number.

    Files of one source came in the order of their names; those of different sources, in the order of the runs.
    """
    own = Window.partitionBy(*parts, _SOURCE).orderBy(*map(named, ARRIVAL)).rowsBetween(Window.unboundedPreceding, -1)
    highest = F.max(_SEQUENCE).over(own)
    if several:
        before = Window.partitionBy(*parts).orderBy(named(RAW_RUN)).rangeBetween(Window.unboundedPreceding, -1)
        highest = F.greatest(highest, F.max(_SEQUENCE).over(before))
    return named(_SEQUENCE) < highest


def _missing() -> Column:
    """Count the numbers that no event has, from the least that the contract allows (else the lowest) to the highest."""
    sequence = named(_SEQUENCE).cast("bigint")
    first = F.least(F.min(named(_LOWEST)), F.min(sequence))
    return F.max(sequence) - first + F.lit(1) - F.count_distinct(sequence)


def _least(contract: Contract, sequence: str) -> int | None:
    options = [field.options or EMPTY for field in the_object(contract).fields if column_name(field) == sequence]
    said = options[0].get("minimum") if options else None
    return said if isinstance(said, int) else None
