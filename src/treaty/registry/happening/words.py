"""Words that sentences are made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from treaty.registry.happening.subjects import About

_CLOCK = "calendar"
_LONGEST = 300
_MOST_NAMED = 4


@dataclass(frozen=True, slots=True)
class Told:
    """An entry as sentences see it."""

    actor: str
    about: About
    details: Mapping[str, Any]
    follows: bool
    """Whether there was a version before the one that it is about."""

    @property
    def who(self) -> str:
        """Who did it; what the calendar does, nobody did."""
        return "The calendar" if self.actor == _CLOCK else self.actor

    def because(self, key: str = "reason") -> str:
        """Return the reason that was given, if one was."""
        said = str(self.details.get(key) or "").strip()
        return f": {shortened(said)}" if said else ""


def day(text: object) -> str:
    """Write a day as people do."""
    try:
        found = date.fromisoformat(str(text))
    except ValueError:
        return str(text)
    return f"{found.day} {found:%b %Y}"


def listed(names: Sequence[str]) -> str:
    """Name a few, and count the rest."""
    more = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def shortened(text: str) -> str:
    """Return words that fit into a feed."""
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
