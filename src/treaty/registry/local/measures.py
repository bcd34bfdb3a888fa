"""Measures: how promises are kept, now and over time."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta

from treaty.observability.measures import Measure
from treaty.registry import measuring
from treaty.registry.answers import GridRowAnswer, MeasureAnswer, Page, RecordedAnswer
from treaty.registry.local.desk import Desk
from treaty.registry.pages import PAGE, after, check_limit, page_of
from treaty.registry.store import measuring as store

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_LAST = (datetime.max.replace(tzinfo=UTC) - _EPOCH) // _MICROSECOND


class Measures:
    """The measures of a registry."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def record(self, measures: Sequence[Measure]) -> RecordedAnswer:
        """Keep what was measured, held to what the contracts promise; 1,000 at a time at most."""
        return self._desk.write(lambda it: measuring.record(it, self._desk.actor, measures))

    def current(
        self, *, contract: str | None = None, name: str | None = None, cursor: str | None = None, limit: int = PAGE
    ) -> Page[MeasureAnswer]:
        """List the newest measure of each kind, by contract and name."""
        check_limit(limit)
        start = after(cursor, "", "")
        key = (str(start[0]), str(start[1]))
        found = self._desk.read(lambda it: store.current(it, contract, name, key, limit + 1))
        page = page_of(found, limit, lambda one: (one.contract, one.name))
        return Page(items=[measuring.measure_answer(one) for one in page.items], next=page.next)

    def history(
        self, contract: str, name: str, *, since: date | None = None, cursor: str | None = None, limit: int = PAGE
    ) -> Page[MeasureAnswer]:
        """List the measures of one kind since a day, the newest first; by default of the last 30 days."""
        check_limit(limit)
        first = measuring.first_day(self._desk.today, since)
        start = datetime(first.year, first.month, first.day, tzinfo=UTC)
        (micros,) = after(cursor, 0)
        before = _EPOCH + min(max(int(micros), 0), _LAST) * _MICROSECOND if cursor else None
        found = self._desk.read(lambda it: store.history(it, contract, name, start, before, limit + 1))
        page = page_of(found, limit, lambda one: ((one.at - _EPOCH) // _MICROSECOND,))
        return Page(items=[measuring.measure_answer(one) for one in page.items], next=page.next)

    def grid(
        self, *, since: date | None = None, domain: str | None = None, cursor: str | None = None, limit: int = PAGE
    ) -> Page[GridRowAnswer]:
        """List how the days went of each contract that was measured, the worst contract first."""
        check_limit(limit)
        first = measuring.first_day(self._desk.today, since)
        rank, contract = after(cursor, 0, "")
        start = (int(rank), str(contract)) if cursor else None
        found = self._desk.read(lambda it: store.grid(it, self._desk.now, first, domain, start, limit + 1))
        page = page_of(found, limit, lambda one: (one.rank, one.contract))
        return Page(items=[measuring.row_answer(one) for one in page.items], next=page.next)
