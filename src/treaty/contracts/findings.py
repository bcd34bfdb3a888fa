"""Findings of checks, and the places in documents that they refer to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeAlias


class Severity(StrEnum):
    """The severity of a finding; only errors block."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"

    @property
    def rank(self) -> int:
        """The sort order: errors first."""
        return _RANKS[self]


_RANKS = {severity: rank for rank, severity in enumerate(Severity)}


@dataclass(frozen=True, slots=True)
class Place:
    """A source (file name, URL) and, if known, a line number, counted from 1."""

    source: str
    line: int | None = None

    def __str__(self) -> str:
        return self.source if self.line is None else f"{self.source}:{self.line}"


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of a check: a message about a contract, with a place and a hint."""

    id: str
    severity: Severity
    message: str
    path: str | None = None
    place: Place | None = None
    hint: str | None = None

    def as_data(self) -> dict[str, Any]:
        """Return the finding as plain data for JSON output."""
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
        """Sorts errors first, then by position in the document."""
        line = self.place.line if self.place and self.place.line else 0
        return (self.severity.rank, line, self.path or "", self.id, self.message)


Pointer: TypeAlias = tuple[str | int, ...]
"""The keys and indexes that lead to a part of a document."""

PlaceOf: TypeAlias = Callable[[Sequence[str | int]], Place]
"""Returns the place of the part that a pointer leads to."""

LineTree: TypeAlias = "dict[str, tuple[int, LineTree | None]] | list[tuple[int, LineTree | None]]"
"""For each mapping and sequence: the line of each child, and the tree of the child."""


def line_number_at(tree: LineTree | None, pointer: Sequence[str | int]) -> int:
    """Return the line of a part, or of the nearest enclosing part that exists."""
    line = 1
    for key in pointer:
        child = None
        if isinstance(tree, dict) and isinstance(key, str):
            child = tree.get(key)
        elif isinstance(tree, list) and isinstance(key, int) and 0 <= key < len(tree):
            child = tree[key]
        if child is None:
            break
        line, tree = child
    return line
