"""What is wrong with a project, collected until all of it was read."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from treaty.contracts.findings import Finding, Place, Severity
from treaty.contracts.reading.limits import shortened
from treaty.contracts.validation import refuse_if_any

DECLARATION = "invalid-declaration"
"""A declaration that cannot be understood."""
UNKNOWN_NAME = "unknown-name"
"""Something is read that nothing declares."""
WRONG_LAYER = "wrong-layer"
"""Something is read that does not belong there, such as raw events by a publication."""
DUPLICATE_NAME = "duplicate-name"
"""Two declarations claim one name or one table."""
MISSING_SQL = "missing-sql"
"""An SQL file that is named and not there, or cannot be used."""

_LONGEST_NAME = 60


class Problems:
    """Findings of all files, in the order they were noted."""

    def __init__(self) -> None:
        self._found: list[Finding] = []

    def note(self, message: str, place: Place, hint: str, kind: str = DECLARATION) -> None:
        """Keep one thing that is wrong, and what to do about it."""
        self._found.append(Finding(kind, Severity.ERROR, shortened(message), place=place, hint=shortened(hint)))

    def keep(self, findings: Iterable[Finding]) -> None:
        """Keep what a reader found on its own."""
        self._found += findings

    def raise_if_any(self) -> None:
        """Raise everything as one error, file by file and from top to bottom."""
        refuse_if_any(sorted(self._found, key=_where))


def _where(finding: Finding) -> tuple[str, int]:
    place = finding.place or Place("")
    return place.source, place.line or 0


def meant(name: str, known: Iterable[str], otherwise: str) -> str:
    """Return a hint: the known name that is nearest, or what to do where none is."""
    close = get_close_matches(name[:_LONGEST_NAME], tuple(known), n=1)
    return f"did you mean {close[0]!r}?" if close else otherwise


def listed(choices: Iterable[str]) -> str:
    """Return a hint that names every choice."""
    return f"use one of: {', '.join(choices)}"
