"""Pairs fields and objects of two versions by stable id or by name."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeAlias, TypeVar


class Named(Protocol):
    """Something with a name and possibly a stable id."""

    @property
    def name(self) -> str | None:
        """The name, which may change."""

    @property
    def id(self) -> str | None:
        """The stable id, which survives renames."""


T = TypeVar("T", bound=Named)
_Waiting: TypeAlias = dict[str | None, deque[int]]


@dataclass(frozen=True, slots=True)
class Pairs(Generic[T]):
    """The items on both sides, and those on only one side."""

    both: tuple[tuple[T, T], ...]
    removed: tuple[T, ...]
    added: tuple[T, ...]


def pair(before: Sequence[T], after: Sequence[T]) -> Pairs[T]:
    """Pair by id; then by name, unless both have different ids; then by an id that equals the old name."""
    by_id = {item.id: index for index, item in enumerate(after) if item.id is not None}
    partners = [by_id.get(item.id) if item.id is not None else None for item in before]
    partners = _each_once(partners)
    taken = {index for index in partners if index is not None}
    nameless, named = _by_name(after, taken)
    for position, item in enumerate(before):
        if partners[position] is None:
            waiting = nameless.get(item.name) or (named.get(item.name) if item.id is None else None)
            if waiting:
                index = waiting.popleft()
                partners[position] = index
                taken.add(index)
    for position, item in enumerate(before):
        known = by_id.get(item.name or "") if partners[position] is None else None
        if known is not None and known not in taken:
            partners[position] = known
            taken.add(known)

    both = tuple((item, after[index]) for item, index in zip(before, partners, strict=True) if index is not None)
    removed = tuple(item for item, index in zip(before, partners, strict=True) if index is None)
    added = tuple(item for index, item in enumerate(after) if index not in taken)
    return Pairs(both, removed, added)


def _each_once(partners: list[int | None]) -> list[int | None]:
    """Keep only the first of several items that have the same partner."""
    seen: set[int] = set()
    kept: list[int | None] = []
    for index in partners:
        kept.append(None if index in seen else index)
        if index is not None:
            seen.add(index)
    return kept


def _by_name(items: Sequence[Named], taken: set[int]) -> tuple[_Waiting, _Waiting]:
    """Return the unpaired items by name: those without an id, and those with one."""
    without_id: _Waiting = {}
    with_id: _Waiting = {}
    for index, item in enumerate(items):
        if index not in taken:
            queues = without_id if item.id is None else with_id
            queues.setdefault(item.name, deque()).append(index)
    return without_id, with_id
