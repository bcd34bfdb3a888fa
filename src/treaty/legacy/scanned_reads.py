"""What a scan finds: consumers, the tables and columns that they read, and where that is written."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from treaty.legacy.consumer_guess import ClassGuess

MAX_PLACES = 5


@dataclass(frozen=True, slots=True)
class ScannedRead:
    """A consumer that reads a table."""

    consumer: str
    source: str
    """The full name of the table in lower case, such as `warehouse.legacy_revenue`."""
    columns: frozenset[str]
    """`*` if the text does not tell which."""
    kind: str
    """What it was found in, such as `airflow`."""
    guess: ClassGuess
    team: str | None = None
    latency: str | None = None
    """How often it reads, such as `1d`, if a schedule or a query log tells."""
    decision: str | None = None
    """What it is for, in the words of its author."""
    places: tuple[str, ...] = ()
    """Files, with the line or cell."""
    parsed: frozenset[str] = frozenset()
    """The columns whose texts are taken apart."""


@dataclass(frozen=True, slots=True)
class ScanProblem:
    """A file, or a part of one, that could not be read."""

    place: str
    problem: str


@dataclass(frozen=True, slots=True)
class Scan:
    """The result of a scan."""

    reads: tuple[ScannedRead, ...] = ()
    problems: tuple[ScanProblem, ...] = ()
    files: int = 0


def merge_reads(reads: Iterable[ScannedRead]) -> tuple[ScannedRead, ...]:
    """Merge what was found of the same consumer and table in several places; sorted by consumer and table.

    Tables that the scanned files write themselves stay: a consumer of a consumer is a dependency as well.
    """
    merged: dict[tuple[str, str], ScannedRead] = {}
    for read in reads:
        key = (read.consumer, read.source)
        before = merged.get(key)
        merged[key] = read if before is None else _merge(before, read)
    return tuple(merged[key] for key in sorted(merged))


def _merge(before: ScannedRead, read: ScannedRead) -> ScannedRead:
    surest = max(before, read, key=lambda one: one.guess.confidence)
    return replace(
        before,
        columns=before.columns | read.columns,
        parsed=before.parsed | read.parsed,
        guess=surest.guess,
        team=before.team or read.team,
        latency=before.latency or read.latency,
        decision=before.decision or read.decision,
        places=tuple(dict.fromkeys((*before.places, *read.places)))[:MAX_PLACES],
    )
