"""The life cycle of the keys of an event stream: the values that a `lifecycle` block is parsed into."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from treaty.contracts.findings import Severity


@dataclass(frozen=True, slots=True)
class Move:
    """A move of a key by an event: from the state `source`, or to its first state if there is none."""

    to: str
    source: str | None = None

    def __str__(self) -> str:
        return f"{self.source or 'start'} -> {self.to}"


@dataclass(frozen=True, slots=True)
class Invariant:
    """A condition on an event (`current`) and the event of its key before it (`previous`), in Spark SQL.

    As with CHECK, an event violates it only if it is false. An error sets the event apart; a warning is recorded.
    """

    name: str
    sql: str
    severity: Severity = Severity.ERROR
    meaning: str | None = None

    @property
    def text(self) -> str:
        """The SQL without blanks that mean nothing in SQL."""
        return " ".join(self.sql.split())

    def __str__(self) -> str:
        return f"{self.severity}: {self.text}"


@dataclass(frozen=True, slots=True)
class Lifecycle:
    """The part of one event type in the life cycle of the keys of a stream.

    An event type without moves may occur in every state and does not change it.
    """

    stream: str
    moves: tuple[Move, ...] = ()
    invariants: tuple[Invariant, ...] = ()


def parse_lifecycle(value: Mapping[str, Any]) -> Lifecycle:
    """Return the life cycle that a valid block states."""
    moves = tuple(Move(item["to"], item.get("from")) for item in value.get("moves", ()))
    return Lifecycle(value["stream"], moves, tuple(map(_invariant, value.get("invariants", ()))))


def _invariant(value: Mapping[str, Any]) -> Invariant:
    severity = Severity(value.get("severity", Severity.ERROR))
    return Invariant(value["name"], value["sql"], severity, value.get("meaning"))
