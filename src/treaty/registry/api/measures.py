"""The interface for measures."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from typing import Protocol

from treaty.observability.measures import Measure
from treaty.registry.model import GridRowAnswer, MeasureAnswer, Page, RecordedAnswer
from treaty.registry.model.page import PAGE


class MeasuresApi(Protocol):
    """Measures of contracts over time, judged against what the contracts promise."""

    def record(self, measures: Sequence[Measure]) -> RecordedAnswer:
        """Store up to 1,000 measures, judged against the promises of their contracts."""
        ...

    def current(
        self, *, contract: str | None = None, name: str | None = None, cursor: str | None = None, limit: int = PAGE
    ) -> Page[MeasureAnswer]:
        """List the newest measure of each kind, by contract and name."""
        ...

    def history(
        self, contract: str, name: str, *, since: date | None = None, cursor: str | None = None, limit: int = PAGE
    ) -> Page[MeasureAnswer]:
        """List the measures of one kind since a day, the newest first; by default of the last 30 days."""
        ...

    def grid(
        self, *, since: date | None = None, domain: str | None = None, cursor: str | None = None, limit: int = PAGE
    ) -> Page[GridRowAnswer]:
        """List the daily states of each measured contract, the least healthy contract first."""
        ...

    def last_measured(self) -> dict[str, datetime]:
        """Return when each contract was last measured; empty over HTTP, where it would take a request per page."""
        ...
