"""What a judgement found: a value with an id, a severity, a place and a hint."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeAlias


class Severity(StrEnum):
    """How much a finding weighs: only errors stop anything."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"

    @property
    def rank(self) -> int:
        """Sort errors first."""
        return list(Severity).index(self)


@dataclass(frozen=True, slots=True)
class Place:
    """Where something stands: a source (file name, URL) and, if known, its line, counted from 1."""

    source: str
    line: int | None = None

    def __str__(self) -> str:
        return self.source if self.line is None else f"{self.source}:{self.line}"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing somebody should know about a contract."""

    id: str
    severity: Severity
    message: str
    path: str | None = None
    place: Place | None = None
    hint: str | None = None

    def as_data(self) -> dict[str, Any]:
        """Return the finding as JSON would say it."""
        return {
            "id": self.id,
            "severity": self.severity.value,
            "path": self.path,
            "message": self.message,
            "hint": self.hint,
            "source": self.place.source if self.place else None,
            "line": self.place.line if self.place else None,
        }

    @property
    def sort_key(self) -> tuple[int, int, str, str, str]:
        """Errors first, then from top to bottom of the document."""
        line = self.place.line if self.place and self.place.line else 0
        return (self.severity.rank, line, self.path or "", self.id, self.message)


Pointer: TypeAlias = tuple[str | int, ...]
"""The keys and positions that lead to a part of a document."""

PlaceOf: TypeAlias = Callable[[Sequence[str | int]], Place]
"""Tells where the part stands that keys and positions lead to."""

LineTree: TypeAlias = "dict[str, tuple[int, LineTree | None]] | list[tuple[int, LineTree | None]]"
"""Beside each mapping and sequence: the line of each child, and the child's own tree."""


def line_number_at(tree: LineTree | None, pointer: Sequence[str | int]) -> int:
    """Return the line of the part, or of the nearest part around it that is there."""
    line = 1
    for key in pointer:
        found = None
        if isinstance(tree, dict) and isinstance(key, str):
            found = tree.get(key)
        elif isinstance(tree, list) and isinstance(key, int) and 0 <= key < len(tree):
            found = tree[key]
        if found is None:
            break
        line, tree = found
    return line
