"""Differences between a writer's and a reader's schema, and the limit on the work of finding them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from treaty.errors import InvalidDocument

MAX_COMPARISONS = 100_000
"""Pairs of parts that one comparison looks at; beyond that it is refused."""
MAX_DIFFERENCES = 200
"""Differences that one comparison returns; the others are left out."""


class Party(StrEnum):
    """Which of two schemas the reader has."""

    NEW = "new"
    OLD = "old"

    @property
    def other(self) -> Party:
        """The other one."""
        return Party.OLD if self is Party.NEW else Party.NEW


@dataclass(frozen=True, slots=True)
class SchemaDifference:
    """Why a reader cannot read what a writer writes.

    `type` is the name of the difference as clients of schema registries know it. `text` describes it, with `{reader}`
    and `{writer}` for the names of the two schemas.
    """

    type: str
    path: str
    text: str

    def describe(self, reader: Party) -> str:
        """Return the description; `reader` is the schema that the reader has."""
        return self.text.replace("{reader}", reader.value).replace("{writer}", reader.other.value)

    def message(self, reader: Party) -> str:
        """Return the difference as schema registries write it."""
        return f"{{errorType:'{self.type}', description:'{self.describe(reader)}'}}"


class Budget:
    """Counts comparisons, so that schemas made to be slow are refused instead."""

    def __init__(self, limit: int = MAX_COMPARISONS) -> None:
        self._left = limit

    def spend(self, amount: int = 1) -> None:
        """Count comparisons; raise InvalidDocument if there were too many."""
        self._left -= amount
        if self._left < 0:
            raise InvalidDocument(
                "the schemas are too complex to compare: too many combinations of alternatives; "
                "use fewer alternatives in 'oneOf' or 'anyOf', or unions with fewer types"
            )


def too_deep() -> InvalidDocument:
    """Return the error for schemas that are nested too deeply."""
    return InvalidDocument(
        "the schemas are nested too deeply to compare; define the inner parts once and refer to them"
    )
