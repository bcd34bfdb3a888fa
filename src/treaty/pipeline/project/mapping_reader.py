"""One mapping of a document, read key by key; what is wrong is noted with its line, and reading goes on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from enum import StrEnum
from typing import TypeVar

from treaty.contracts.findings import Finding, Place, Severity
from treaty.contracts.text import ParsedDocument
from treaty.contracts.text.limits import truncate_message
from treaty.contracts.validation import raise_if_any
from treaty.contracts.values import Json, abbreviate

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
        self._found.append(
            Finding(kind, Severity.ERROR, truncate_message(message), place=place, hint=truncate_message(hint))
        )

    def keep(self, findings: Iterable[Finding]) -> None:
        """Keep what a reader found on its own."""
        self._found += findings

    def raise_if_any(self) -> None:
        """Raise everything as one error, file by file and from top to bottom."""
        raise_if_any(sorted(self._found, key=_where))


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


E = TypeVar("E", bound=StrEnum)


class Entry:
    """A mapping at a place in a document; an empty value (`key:` alone) is as if the key were not there."""

    def __init__(
        self, reading: ParsedDocument, problems: Problems, data: dict[str, Json], path: tuple[str, ...] = ()
    ) -> None:
        self.data = data
        self.problems = problems
        self._reading = reading
        self._path = path

    def __contains__(self, key: str) -> bool:
        return self.data.get(key) is not None

    def place(self, *keys: str | int) -> Place:
        """Return where a part of the mapping stands."""
        return self._reading.place((*self._path, *keys))

    def note(self, message: str, hint: str, *keys: str | int, kind: str = DECLARATION) -> None:
        """Keep something that is wrong with a part of the mapping."""
        self.problems.note(message, self.place(*keys), hint, kind)

    def only(self, known: Sequence[str]) -> None:
        """Note every key that is none of those known, with the one that was meant."""
        for key in self.data:
            if key not in known:
                self.note(f"unknown key {self.named(key)!r}", meant(key, known, f"use: {', '.join(known)}"), key)

    def text(self, key: str) -> str | None:
        """Return a text, or None where there is none."""
        value = self.data.get(key)
        if value is None:
            return None
        if not isinstance(value, str):
            self.note(
                f"{self.named(key)} must be a text, not {abbreviate(value)}", f'quote it: "{abbreviate(value)}"', key
            )
            return None
        if not value.strip():
            self.note(f"{self.named(key)} is empty", "write something, or leave the key out", key)
            return None
        return value.strip()

    def needed_text(self, key: str, hint: str) -> str:
        """Return a text that must be there; where it is not, that is noted and the text is empty."""
        if key not in self:
            self.note(f"{self.named(key)} is missing", hint)
        return self.text(key) or ""

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a list of texts without doubles; none where the key is not there."""
        value = self.data.get(key)
        if value is None:
            return ()
        if not isinstance(value, list):
            shown = value if isinstance(value, str) else "name"
            self.note(
                f"{self.named(key)} must be a list, not {abbreviate(value)}",
                f"write it like [{abbreviate(shown)}]",
                key,
            )
            return ()
        found: dict[str, None] = {}
        for index, one in enumerate(value):
            if not isinstance(one, str) or not one.strip():
                self.note(f"{self.named(key)} has {abbreviate(one)}, which is no name", "write a text", key, index)
            elif one in found:
                self.note(f"{self.named(key)} names {one!r} twice", "keep one", key, index)
            else:
                found[one] = None
        return tuple(found)

    def needed_texts(self, key: str, hint: str) -> tuple[str, ...]:
        """Return a list of texts that must have one at least."""
        if not self.data.get(key):
            self.note(f"{self.named(key)} is missing or empty", hint, *((key,) if key in self else ()))
            return ()
        return self.texts(key)

    def choice(self, key: str, choices: Sequence[E]) -> E | None:
        """Return one of a few words, or None where there is none."""
        word = self.text(key)
        for one in choices:
            if word == one.value:
                return one
        if word is not None:
            self.note(f"unknown {self.named(key)} {abbreviate(word)!r}", listed(one.value for one in choices), key)
        return None

    def inner(self, key: str, hint: str) -> Entry | None:
        """Return the mapping below a key, or None where there is none."""
        value = self.data.get(key)
        if value is None:
            return None
        if not isinstance(value, dict):
            self.note(f"{self.named(key)} must be a mapping, not {abbreviate(value)}", hint, key)
            return None
        return Entry(self._reading, self.problems, value, (*self._path, key))

    def inner_entries(self, hint: str) -> Iterator[tuple[str, Entry]]:
        """Yield each name of the mapping with the mapping below it."""
        for name in self.data:
            if name not in self:
                self.note(f"{self.named(name)} says nothing", hint, name)
            elif found := self.inner(name, hint):
                yield name, found

    def named(self, key: str) -> str:
        """Return a key as people write it: `claims.order.product`."""
        return ".".join((*self._path, key))
