"""What an action on a page consists of: its subject, its form fields and the call to the registry."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date

from treaty.catalog.links import Link
from treaty.catalog.source import Source
from treaty.errors import InvalidDocument
from treaty.registry.access.permissions import Action, Resource

_MAX_ID = 2**63


@dataclass(frozen=True)
class FormField:
    """One field of a form."""

    name: str
    label: str
    kind: str = "text"
    """text, url, date, long, choice, ticks or tick."""
    required: bool = False
    hint: str | None = None
    choices: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class FormValues:
    """Values of a submitted form or a query string, by field name."""

    texts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def raw(self, name: str) -> str:
        """Return the first value of a field, unchanged; empty if it is missing."""
        return self.texts.get(name, ("",))[0]

    def text(self, name: str) -> str:
        """Return the first value of a field without surrounding whitespace; empty if it is missing."""
        return self.raw(name).strip()

    def optional(self, name: str) -> str | None:
        """Return the value of a field, or None if it is empty."""
        return self.text(name) or None

    def required(self, name: str, label: str) -> str:
        """Return the value of a field. Raises InvalidDocument if it is empty."""
        if value := self.text(name):
            return value
        raise InvalidDocument(f"{label} is required")

    def all(self, name: str) -> tuple[str, ...]:
        """Return all checked values of a field."""
        return tuple(value for value in self.texts.get(name, ()) if value)

    def items(self, name: str) -> tuple[str, ...]:
        """Return the items of a text separated by commas or line breaks."""
        return tuple(
            splitline.strip() for splitline in self.raw(name).replace(",", "\n").splitlines() if splitline.strip()
        )

    def number(self, name: str) -> int:
        """Return the value of a field as a positive integer."""
        value = self.text(name)
        if value.isascii() and value.isdigit() and 0 < int(value[:19]) < _MAX_ID and len(value) < 20:
            return int(value)
        raise InvalidDocument(f"{name} {value[:40]!r} is not a valid id")

    def day(self, name: str, label: str) -> date | None:
        """Return the value of a field as a date, or None if it is empty."""
        value = self.text(name)
        if not value:
            return None
        try:
            return date.fromisoformat(value)
        except ValueError:
            raise InvalidDocument(f"{label} {value[:40]!r} is not a date; use the format 2026-12-31") from None


@dataclass(frozen=True)
class ActionSubject:
    """What an action applies to, its current state, and the permission that the action needs."""

    name: str
    action: Action
    resource: Resource
    back: Link
    facts: tuple[tuple[str, str], ...] = ()
    warnings: tuple[str, ...] = ()
    choices: Mapping[str, tuple[tuple[str, str], ...]] = field(default_factory=dict)
    """Choices of form fields that depend on the subject."""
    checked_on_submit: bool = False
    """Whether the permission depends on the submitted form, so that only the registry can check it."""


@dataclass(frozen=True)
class PageAction:
    """An action that users start from a page."""

    name: str
    title: str
    description: str
    button: str
    action: Action
    subject_fields: tuple[str, ...]
    """The query parameters that identify the subject."""
    load_subject: Callable[[Source, FormValues], ActionSubject]
    run: Callable[[Source, FormValues], str]
    fields: tuple[FormField, ...] = ()
    confirmation: str | None = None
    """Text of a checkbox that users must check, for actions that cannot be undone or that break consumers."""
