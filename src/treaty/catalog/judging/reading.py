"""A document that is no contract: each problem beside the lines it stands in."""

from __future__ import annotations

from dataclasses import dataclass

from treaty.contracts.findings import Finding
from treaty.errors import InvalidDocument

_SHOWN = 25
_AROUND = 2
_LONGEST_LINE = 160


@dataclass(frozen=True)
class TextLine:
    """One line of what was pasted."""

    number: int
    text: str
    is_meant: bool


@dataclass(frozen=True)
class Trouble:
    """One thing that cannot be read, and where."""

    message: str
    hint: str | None = None
    line: int | None = None
    excerpt: tuple[TextLine, ...] = ()


@dataclass(frozen=True)
class Unreadable:
    """Everything that stands against reading a document."""

    troubles: tuple[Trouble, ...]
    more: int = 0


def unreadable(error: InvalidDocument, text: str) -> Unreadable:
    """Put each problem beside its line."""
    lines = text.split("\n")
    found = [_trouble(one, lines) for one in error.findings] or [Trouble(str(error))]
    return Unreadable(tuple(found[:_SHOWN]), max(0, len(found) - _SHOWN))


def _trouble(finding: Finding, lines: list[str]) -> Trouble:
    number = finding.place.line if finding.place else None
    where = f"{finding.path}: " if finding.path and finding.path not in finding.message else ""
    return Trouble(f"{where}{finding.message}", finding.hint, number, _excerpt(lines, number) if number else ())


def _excerpt(lines: list[str], number: int) -> tuple[TextLine, ...]:
    first, last = max(1, number - _AROUND), min(len(lines), number + _AROUND)
    return tuple(TextLine(one, lines[one - 1][:_LONGEST_LINE], one == number) for one in range(first, last + 1))
