"""Which field is which: before and after are paired once, by stable id, else by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar


class Named(Protocol):
    """Something with a name and perhaps a stable id."""

    @property
    def name(self) -> str | None:
        """What it is called."""

    @property
    def id(self) -> str | None:
        """What it stays, whatever it is called."""


T = TypeVar("T", bound=Named)


@dataclass(frozen=True, slots=True)
class Pairs(Generic[T]):
    """Those on both sides, and those on one."""

    both: tuple[tuple[T, T], ...]
    removed: tuple[T, ...]
    added: tuple[T, ...]


def pair(before: Sequence[T], after: Sequence[T]) -> Pairs[T]:
    """Pair by id first; then by name, unless both have ids and they differ."""
    taken: set[int] = set()
    by_id = {item.id: index for index, item in enumerate(after) if item.id is not None}
    by_name: dict[str | None, list[int]] = {}
    for index, item in enumerate(after):
        by_name.setdefault(item.name, []).append(index)

    partners: list[int | None] = []
    for item in before:
        partner = by_id.get(item.id) if item.id is not None else None
        if partner in taken:
            partner = None
        if partner is not None:
            taken.add(partner)
        partners.append(partner)
    for position, item in enumerate(before):
        if partners[position] is not None:
            continue
        for index in by_name.get(item.name, ()):
            other = after[index]
            if index not in taken and (item.id is None or other.id is None):
                partners[position] = index
                taken.add(index)
                break

    both = tuple((item, after[index]) for item, index in zip(before, partners, strict=True) if index is not None)
    removed = tuple(item for item, index in zip(before, partners, strict=True) if index is None)
    added = tuple(item for index, item in enumerate(after) if index not in taken)
    return Pairs(both, removed, added)
