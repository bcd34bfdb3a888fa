"""The sequences that the contracts of events promise, and whether a product's key has the whole of one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from treaty.contracts.model import Contract
from treaty.spark.schema import column_name, the_object


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
    return next((column_name(field) for field in the_object(contract).fields if field.name == name), name)
