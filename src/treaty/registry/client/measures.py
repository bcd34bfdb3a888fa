"""Measures, over HTTP: how promises are kept, now and over time."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Any

from treaty.observability.measures import Measure
from treaty.registry.answers import GridRowAnswer, MeasureAnswer, Page, RecordedAnswer
from treaty.registry.client.addresses import API
from treaty.registry.client.wire import Wire
from treaty.registry.pages import PAGE, check_limit

_MEASURES = f"{API}/measures"


class Measures:
    """The measures of a registry."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    def record(self, measures: Sequence[Measure]) -> RecordedAnswer:
        """Keep what was measured, held to what the contracts promise; 1,000 at a time at most."""
        said = [_said(one) for one in measures]
        return self._wire.change("POST", _MEASURES, RecordedAnswer, {"measures": said})

    def current(
        self, *, contract: str | None = None, name: str | None = None, cursor: str | None = None, limit: int = PAGE
    ) -> Page[MeasureAnswer]:
        """List the newest measure of each kind, by contract and name."""
        check_limit(limit)
        asked = {"contract": contract, "name": name, "cursor": cursor, "limit": limit}
        return self._wire.get(_MEASURES, Page[MeasureAnswer], asked)

    def history(
        self, contract: str, name: str, *, since: date | None = None, cursor: str | None = None, limit: int = PAGE
    ) -> Page[MeasureAnswer]:
        """List the measures of one kind since a day, the newest first; by default of the last 30 days."""
        check_limit(limit)
        asked = {"contract": contract, "name": name, "since": _day(since), "cursor": cursor, "limit": limit}
        return self._wire.get(f"{_MEASURES}/history", Page[MeasureAnswer], asked)

    def grid(
        self, *, since: date | None = None, domain: str | None = None, cursor: str | None = None, limit: int = PAGE
    ) -> Page[GridRowAnswer]:
        """List how the days went of each contract that was measured, the worst contract first."""
        check_limit(limit)
        asked = {"since": _day(since), "domain": domain, "cursor": cursor, "limit": limit}
        return self._wire.get(f"{_MEASURES}/grid", Page[GridRowAnswer], asked)


def _day(one: date | None) -> str | None:
    return one.isoformat() if one else None


def _said(one: Measure) -> dict[str, Any]:
    said = {
        "contract": one.contract,
        "name": one.name,
        "at": one.at.isoformat(),
        "value": one.value,
        "unit": one.unit,
        "promise": one.promise,
        "state": one.state.value if one.state else None,
        "details": dict(one.details),
    }
    return {name: value for name, value in said.items() if value is not None}
