"""Each named type of an Avro schema is defined once, and then referred to."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from treaty.contracts.model import Field
from treaty.contracts.values import Json
from treaty.formats.naming import identifier, is_identifier

_STORED = re.compile(r"(?:record|enum) (\S+)")


class Definitions:
    """The names that are taken, by what, and in which namespace the writer stands."""

    def __init__(self, taken: Iterable[str]) -> None:
        self._taken: dict[str, Field | None] = dict.fromkeys(taken)
        self._spaces = [""]

    def enter(self, namespace: str) -> None:
        """Stand in the namespace of a record at the top."""
        self._spaces = [namespace]

    def place(self, field: Field, default: str) -> tuple[str, str | None]:
        """Return the name to define a type by, or with it the reference to one that is defined alike."""
        stored = _STORED.fullmatch(field.physical_type or "")
        wanted = stored[1] if stored and all(map(is_identifier, stored[1].split("."))) else default
        known = self._taken.get(wanted)
        if known is not None and (known.properties, known.enum) == (field.properties, field.enum):
            return wanted, self.full(wanted)
        if wanted in self._taken:
            wanted = identifier(default, self._taken)
        self._taken[wanted] = field
        return wanted, None

    def full(self, name: str) -> str:
        """Return the full name of a type."""
        return name if "." in name or not self._spaces[0] else f"{self._spaces[0]}.{name}"

    def named(self, name: str) -> dict[str, Json]:
        """Return the keys that name a type where the writer stands."""
        outside = "." not in name and self._spaces[-1] != self._spaces[0]
        return {"name": name} | ({"namespace": self._spaces[0]} if outside else {})

    @contextmanager
    def inside(self, name: str) -> Iterator[None]:
        """Stand in the namespace of a record while its fields are written."""
        self._spaces.append(self.full(name).rpartition(".")[0])
        yield
        self._spaces.pop()
