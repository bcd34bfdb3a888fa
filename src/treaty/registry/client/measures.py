"""Measures over HTTP."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from typing import Any

from treaty.observability.measures import Measure
from treaty.registry.api import MeasuresApi
from treaty.registry.client.requests import API
from treaty.registry.client.transport import Transport
from treaty.registry.model import GridRowAnswer, MeasureAnswer, Page, RecordedAnswer
from treaty.registry.model.page import PAGE, check_limit

_MEASURES = f"{API}/measures"


class Measures(MeasuresApi):
    """The measures of a registry."""

    def __init__(self, wire: Transport) -> None:
        self._wire = wire

    def record(self, measures: Sequence[Measure]) -> RecordedAnswer:
        """Store up to 1,000 measures, judged against the promises of their contracts."""
        bodies = [_measure_body(measure) for measure in measures]
        return self._wire.change("POST", _MEASURES, RecordedAnswer, {"measures": bodies})

    def current(
        self, *, contract: str | None = None, name: str | None = None, cursor: str | None = None, limit: int = PAGE
    ) -> Page[MeasureAnswer]:
        """List the newest measure of each kind, by contract and name."""
        check_limit(limit)
        parameters = {"contract": contract, "name": name, "cursor": cursor, "limit": limit}
        return self._wire.get(_MEASURES, Page[MeasureAnswer], parameters)

    def history(
        self, contract: str, name: str, *, since: date | None = None, cursor: str | None = None, limit: int = PAGE
    ) -> Page[MeasureAnswer]:
        """List the measures of one kind since a day, the newest first; by default of the last 30 days."""
        check_limit(limit)
        parameters = {"contract": contract, "name": name, "since": _day(since), "cursor": cursor, "limit": limit}
        return self._wire.get(f"{_MEASURES}/history", Page[MeasureAnswer], parameters)

    def grid(
        self, *, since: date | None = None, domain: str | None = None, cursor: str | None = None, limit: int = PAGE
    ) -> Page[GridRowAnswer]:
        """List the daily states of each measured contract, the least healthy contract first."""
        check_limit(limit)
        parameters = {"since": _day(since), "domain": domain, "cursor": cursor, "limit": limit}
        return self._wire.get(f"{_MEASURES}/grid", Page[GridRowAnswer], parameters)

    def last_measured(self) -> dict[str, datetime]:
        """Return when each contract was last measured; empty over HTTP, where it would take a request per page."""
        return {}


def _day(day: date | None) -> str | None:
    return day.isoformat() if day else None


def _measure_body(measure: Measure) -> dict[str, Any]:
    parameters = {
        "contract": measure.contract,
        "name": measure.name,
        "at": measure.at.isoformat(),
        "value": measure.value,
        "unit": measure.unit,
        "promise": measure.promise,
        "state": measure.state.value if measure.state else None,
        "details": dict(measure.details),
    }
    return {name: value for name, value in parameters.items() if value is not None}
