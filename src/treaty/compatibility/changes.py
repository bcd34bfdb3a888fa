"""Changes as values: one term that differs between two contracts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, overload

from treaty.contracts.model import Contract


class Direction(StrEnum):
    """Which way a term moved."""

    TIGHTENED = "tightened"
    LOOSENED = "loosened"
    ADDED = "added"
    REMOVED = "removed"
    REPLACED = "replaced"


class Breaks(StrEnum):
    """Who may fail once the change is made."""

    EXISTING_DATA = "existing_data"
    EXISTING_READERS = "existing_readers"


@dataclass(frozen=True, slots=True)
class Change:
    """One term that differs: what kind of change, where, from what, to what, and which way."""

    kind: str
    direction: Direction
    before: Any
    after: Any
    field: str | None = None
    subject: str | None = None

    @property
    def path(self) -> str:
        """Where the term stands: a field path, a promise (``sla.freshness``), or both (``total#no_nulls``)."""
        return "#".join(part for part in (self.field, self.subject) if part)

    @property
    def sort_key(self) -> tuple[str, str, str, str]:
        """One order for the same changes, however the documents are arranged."""
        return (self.field or "", self.subject or "", self.kind, self.direction)


@dataclass(frozen=True)
class Changes(Sequence[Change]):
    """Every change between two contracts, in one order."""

    before: Contract
    after: Contract
    items: tuple[Change, ...]

    @overload
    def __getitem__(self, index: int) -> Change: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Change, ...]: ...
    def __getitem__(self, index: int | slice) -> Change | tuple[Change, ...]:
        return self.items[index]

    def __iter__(self) -> Iterator[Change]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)
