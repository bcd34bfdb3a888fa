"""Changes between two contracts, as values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, overload

from treaty.contracts.model import Contract


class Direction(StrEnum):
    """The direction of a change."""

    TIGHTENED = "tightened"
    LOOSENED = "loosened"
    ADDED = "added"
    REMOVED = "removed"
    REPLACED = "replaced"


class Breaks(StrEnum):
    """What may fail after the change."""

    EXISTING_DATA = "existing_data"
    EXISTING_READERS = "existing_readers"


@dataclass(frozen=True, slots=True)
class Change:
    """A term that differs between two contracts: its kind, direction, values and path.

    `has_default` tells of an added, removed or renamed field whether a reader that misses it has a default for it;
    `declared_by` is the team that declared a change of meaning editorial; `consumers` are the only ones that a change
    of an effective view is about.
    """

    kind: str
    direction: Direction
    before: Any
    after: Any
    field: str | None = None
    subject: str | None = None
    has_default: bool = False
    declared_by: str | None = None
    consumers: tuple[str, ...] = ()

    @property
    def path(self) -> str:
        """The path of the term: a field path, a promise (``sla.freshness``), or both (``total#no_nulls``)."""
        return "#".join(part for part in (self.field, self.subject) if part)

    @property
    def sort_key(self) -> tuple[str, str, str, str]:
        """A sort key that does not depend on the order of the documents."""
        return (self.field or "", self.subject or "", self.kind, self.direction)


@dataclass(frozen=True)
class Changes(Sequence[Change]):
    """All changes between two contracts, sorted."""

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
