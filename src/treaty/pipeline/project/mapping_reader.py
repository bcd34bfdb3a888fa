"""Reading one mapping of a YAML document key by key; problems are reported with their line, and reading continues."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from typing import TypeVar

from treaty.contracts.findings import Finding, Place, Severity
from treaty.contracts.text import ParsedDocument
from treaty.contracts.text.limits import truncate_message
from treaty.contracts.validation import raise_if_any
from treaty.contracts.values import Json, abbreviate
from treaty.suggestions import did_you_mean

DECLARATION = "invalid-declaration"
"""A declaration is invalid."""
UNKNOWN_NAME = "unknown-name"
"""A reference names something that is not declared."""
WRONG_LAYER = "wrong-layer"
"""A reference is not allowed, such as a publication that reads raw events."""
DUPLICATE_NAME = "duplicate-name"
"""Two declarations have the same name or table."""
MISSING_SQL = "missing-sql"
"""An SQL file is missing or cannot be used."""


class Problems:
    """The problems of all files, in the order in which they were reported."""

    def __init__(self) -> None:
        self._findings: list[Finding] = []

    def report(self, message: str, place: Place, hint: str, kind: str = DECLARATION) -> None:
        """Report a problem, with a hint what to do."""
        self._findings.append(
            Finding(kind, Severity.ERROR, truncate_message(message), place=place, hint=truncate_message(hint))
        )

    def extend(self, findings: Iterable[Finding]) -> None:
        """Add findings of another reader."""
        self._findings += findings

    def raise_if_any(self) -> None:
        """Raise all problems as one error, sorted by file and line."""
        raise_if_any(sorted(self._findings, key=_where))


def _where(finding: Finding) -> tuple[str, int]:
    place = finding.place or Place("")
    return place.source, place.line or 0


def list_choices(choices: Iterable[str]) -> str:
    """Return a hint that lists all choices."""
    return f"use one of: {', '.join(choices)}"


E = TypeVar("E", bound=StrEnum)


class MappingReader:
    """A mapping in a document. An empty value (`key:` alone) counts as a missing key."""

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
        """Return the place of a part of the mapping."""
        return self._reading.place((*self._path, *keys))

    def report(self, message: str, hint: str, *keys: str | int, kind: str = DECLARATION) -> None:
        """Report a problem with a part of the mapping."""
        self.problems.report(message, self.place(*keys), hint, kind)

    def allow_only(self, known: Sequence[str]) -> None:
        """Report unknown keys, each with the most similar known one."""
        for key in self.data:
            if key not in known:
                self.report(
                    f"unknown key {self.named(key)!r}", did_you_mean(key, known, f"use: {', '.join(known)}"), key
                )

    def text(self, key: str) -> str | None:
        """Return a text, or None if the key is missing."""
        value = self.data.get(key)
        if value is None:
            return None
        if not isinstance(value, str):
            self.report(
                f"{self.named(key)} must be a text, not {abbreviate(value)}", f'quote it: "{abbreviate(value)}"', key
            )
            return None
        if not value.strip():
            self.report(f"{self.named(key)} is empty", "give it a value, or remove the key", key)
            return None
        return value.strip()

    def required_text(self, key: str, hint: str) -> str:
        """Return a required text; if it is missing, report that and return an empty text."""
        if key not in self:
            self.report(f"{self.named(key)} is missing", hint)
        return self.text(key) or ""

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a list of distinct texts; empty if the key is missing."""
        value = self.data.get(key)
        if value is None:
            return ()
        if not isinstance(value, list):
            shown = value if isinstance(value, str) else "name"
            self.report(
                f"{self.named(key)} must be a list, not {abbreviate(value)}",
                f"write it like [{abbreviate(shown)}]",
                key,
            )
            return ()
        distinct: dict[str, None] = {}
        for index, name in enumerate(value):
            if not isinstance(name, str) or not name.strip():
                self.report(
                    f"{self.named(key)} has {abbreviate(name)}, which is not a name", "write a text", key, index
                )
            elif name in distinct:
                self.report(f"{self.named(key)} names {name!r} twice", "remove one of them", key, index)
            else:
                distinct[name] = None
        return tuple(distinct)

    def required_texts(self, key: str, hint: str) -> tuple[str, ...]:
        """Return a required list of texts."""
        if not self.data.get(key):
            self.report(f"{self.named(key)} is missing or empty", hint, *((key,) if key in self else ()))
            return ()
        return self.texts(key)

    def choice(self, key: str, choices: Sequence[E]) -> E | None:
        """Return one of the choices, or None if the key is missing or unknown."""
        word = self.text(key)
        for choice in choices:
            if word == choice.value:
                return choice
        if word is not None:
            self.report(
                f"unknown {self.named(key)} {abbreviate(word)!r}", list_choices(choice.value for choice in choices), key
            )
        return None

    def inner(self, key: str, hint: str) -> MappingReader | None:
        """Return the mapping below a key, or None."""
        value = self.data.get(key)
        if value is None:
            return None
        if not isinstance(value, dict):
            self.report(f"{self.named(key)} must be a mapping, not {abbreviate(value)}", hint, key)
            return None
        return MappingReader(self._reading, self.problems, value, (*self._path, key))

    def inner_entries(self, hint: str) -> Iterator[tuple[str, MappingReader]]:
        """Yield each key of the mapping with the mapping below it."""
        for name in self.data:
            if name not in self:
                self.report(f"{self.named(name)} is empty", hint, name)
            elif inner := self.inner(name, hint):
                yield name, inner

    def named(self, key: str) -> str:
        """Return the path of a key, such as `claims.order.product`."""
        return ".".join((*self._path, key))
