"""The shape of an act: what it asks for, whom it is for, what it does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date

from treaty.catalog.links import Link
from treaty.catalog.source import Source
from treaty.errors import InvalidDocument
from treaty.registry.access.permissions import Action, Resource

_LARGEST = 2**63


@dataclass(frozen=True)
class FormField:
    """One thing that somebody fills in."""

    name: str
    label: str
    kind: str = "text"
    """text, url, date, long, choice, ticks or tick."""
    required: bool = False
    hint: str | None = None
    choices: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class FormValues:
    """What a form or an address says: every name with its texts."""

    texts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def whole(self, name: str) -> str:
        """Return what stands under a name, exactly as it was sent."""
        return self.texts.get(name, ("",))[0]

    def text(self, name: str) -> str:
        """Return what stands under a name, without blanks around it; nothing where it is left out."""
        return self.whole(name).strip()

    def optional(self, name: str) -> str | None:
        """Return what stands under a name, if anything does."""
        return self.text(name) or None

    def needed(self, name: str, label: str) -> str:
        """Return what must stand under a name."""
        if found := self.text(name):
            return found
        raise InvalidDocument(f"{label} is missing; fill it in")

    def all(self, name: str) -> tuple[str, ...]:
        """Return everything that was ticked under a name."""
        return tuple(one for one in self.texts.get(name, ()) if one)

    def listed(self, name: str) -> tuple[str, ...]:
        """Return what is listed in one text, by commas or line breaks."""
        return tuple(one.strip() for one in self.whole(name).replace(",", "\n").splitlines() if one.strip())

    def number(self, name: str) -> int:
        """Return a number under a name."""
        found = self.text(name)
        if found.isascii() and found.isdigit() and 0 < int(found[:19]) < _LARGEST and len(found) < 20:
            return int(found)
        raise InvalidDocument(f"{name} {found[:40]!r} is no number; follow the link on the page")

    def day(self, name: str, label: str) -> date | None:
        """Return a day, if one is given."""
        found = self.text(name)
        if not found:
            return None
        try:
            return date.fromisoformat(found)
        except ValueError:
            raise InvalidDocument(f"{label} {found[:40]!r} is not a date; write it like 2026-12-31") from None


@dataclass(frozen=True)
class ActionSubject:
    """What an act is about, as it stands now, and who may do it."""

    name: str
    action: Action
    resource: Resource
    back: Link
    facts: tuple[tuple[str, str], ...] = ()
    warnings: tuple[str, ...] = ()
    choices: Mapping[str, tuple[tuple[str, str], ...]] = field(default_factory=dict)
    """What there is to choose from, by entry, where the subject decides that."""
    may_be_anybody: bool = False
    """Whether only the filled-in form tells whose it is, so that the registry itself says who may."""


@dataclass(frozen=True)
class PageAction:
    """One thing that can be done from a page."""

    name: str
    title: str
    meaning: str
    button: str
    action: Action
    about: tuple[str, ...]
    """The names in the address that say what it is about."""
    look: Callable[[Source, FormValues], ActionSubject]
    run: Callable[[Source, FormValues], str]
    entries: tuple[FormField, ...] = ()
    care: str | None = None
    """What somebody must tick before it is done, because it cannot be taken back or hurts somebody."""
