"""What pages show of a pipeline project's tables: exceptions of reconciliations, and quarantined rows.

The server gets an implementation when it is started with a project; this module imports nothing that reads tables.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class Dataset:
    """A reconciliation or source of the project, and its contract, whose readers may see its rows."""

    name: str
    contract: str


@dataclass(frozen=True, slots=True)
class ExceptionQuery:
    """Which exceptions of a reconciliation to list."""

    reconciliation: str
    state: str | None = None
    reason_class: str | None = None
    owner: str | None = None
    older_than: timedelta | None = None


@dataclass(frozen=True, slots=True)
class ExceptionRow:
    """An exception of a key: what is in doubt, why, since when, and who owns it."""

    reconciliation: str
    key: str
    assertion: str
    reason_class: str
    statement: str
    claims: Mapping[str, Any]
    owner: str | None
    state: str
    first_seen: datetime
    last_seen: datetime
    age_seconds: int
    accepted_by: str | None = None
    accepted_reason: str | None = None


@dataclass(frozen=True, slots=True)
class ExceptionPage:
    """Exceptions, the oldest first, and the cursor of the next page."""

    rows: tuple[ExceptionRow, ...]
    next: str | None = None


@dataclass(frozen=True, slots=True)
class Reason:
    """A rule, how many quarantined rows violate it, and the most frequent values."""

    rule: str
    message: str
    rows: int
    values: tuple[tuple[str | None, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Cell:
    """A value of a quarantined row, and what is wrong with it."""

    name: str
    value: str | None
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class QuarantinedRow:
    """A row as it came, the reasons, and where it came from in the raw data."""

    cells: tuple[Cell, ...]
    reasons: tuple[str, ...]
    place: str
    """Such as `line 28 of orders.csv`; empty if it is unknown."""
    run: int | None
    original: str | None
    """The text of the row, if it is known."""


@dataclass(frozen=True, slots=True)
class Quarantine:
    """The quarantined rows of a source: how many, why, and the first of them."""

    total: int
    reasons: tuple[Reason, ...]
    rows: tuple[QuarantinedRow, ...]


class ProjectData(Protocol):
    """The tables of a project."""

    def reconciliations(self) -> tuple[Dataset, ...]:
        """Return the reconciliations that have run."""
        ...

    def sources(self) -> tuple[Dataset, ...]:
        """Return the sources with a table of events."""
        ...

    def exceptions(
        self, query: ExceptionQuery, now: datetime, *, cursor: str | None = None, limit: int = 50
    ) -> ExceptionPage:
        """List exceptions, the oldest first."""
        ...

    def find_exception(self, reconciliation: str, key: str, assertion: str, now: datetime) -> ExceptionRow:
        """Return one exception; raise NotFound if there is none."""
        ...

    def accept_exception(self, row: ExceptionRow, *, reason: str, actor: str, now: datetime) -> None:
        """Accept an open exception, so that its key resolves with the next run."""
        ...

    def quarantine(self, source: str, *, rule: str | None = None, limit: int = 50) -> Quarantine:
        """Return the quarantined rows of a source; with a rule, only those that violate it."""
        ...
