"""Measures, judged against what the contracts promise."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

from treaty.contracts.model import Contract
from treaty.contracts.text import Limits, check_plain
from treaty.contracts.versions import Line, try_parse_line
from treaty.errors import InvalidDocument
from treaty.observability.anomalies import HISTORY, Expectation, Sensitivity, expect
from treaty.observability.evidence import EXPECTED
from treaty.observability.measures import (
    KNOWN_MEASURES,
    NO_UNIT,
    ROWS_IN,
    VOLUME,
    Measure,
    State,
    evaluate_measure,
    worst,
)
from treaty.registry.access.actors import Actor
from treaty.registry.access.permissions import Action, Resource, authorize
from treaty.registry.api import MeasuresApi
from treaty.registry.documents import check_name
from treaty.registry.model import DayAnswer, GridRowAnswer, MeasureAnswer, Page, RecordedAnswer
from treaty.registry.model.page import PAGE, after, check_limit, page_of
from treaty.registry.rules import RegistryRules
from treaty.registry.service import policies
from treaty.registry.service.context import Context
from treaty.registry.service.incident_evaluation import evaluate_measures
from treaty.registry.service.lifecycle import head_of
from treaty.registry.store import Connection, measure_records, versions
from treaty.registry.store import measure_records as store
from treaty.registry.store.measure_records import GridRow
from treaty.registry.store.transaction import Transaction
from treaty.registry.store.versions import StoredVersion
from treaty.registry.store.visibility import Sight

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_LAST = (datetime.max.replace(tzinfo=UTC) - _EPOCH) // _MICROSECOND


class Measures(MeasuresApi):
    """The measures of a registry."""

    def __init__(self, context: Context) -> None:
        self._context = context

    def record(self, measures: Sequence[Measure]) -> RecordedAnswer:
        """Store up to 1,000 measures, judged against the promises of their contracts."""
        context = self._context
        return context.write(
            lambda transaction: record(transaction, context.actor, context.sight(transaction), context.rules, measures)
        )

    def current(
        self, *, contract: str | None = None, name: str | None = None, cursor: str | None = None, limit: int = PAGE
    ) -> Page[MeasureAnswer]:
        """List the newest measure of each kind, by contract and name."""
        check_limit(limit)
        of, major, kind = after(cursor, "", -1, "")
        key = (str(of), int(major), str(kind))
        rows = self._context.read(
            lambda connection, visibility: store.current(connection, visibility, contract, name, key, limit + 1)
        )
        page = page_of(rows, limit, store.key_of)
        return Page(items=[measure_answer(measure) for measure in page.items], next=page.next)

    def history(
        self, contract: str, name: str, *, since: date | None = None, cursor: str | None = None, limit: int = PAGE
    ) -> Page[MeasureAnswer]:
        """List the measures of one kind since a day, the newest first; by default of the last 30 days."""
        check_limit(limit)
        first = first_day(self._context.today, since, self._context.rules.retention.measures)
        start = datetime(first.year, first.month, first.day, tzinfo=UTC)
        (micros,) = after(cursor, 0)
        before = _EPOCH + min(max(int(micros), 0), _LAST) * _MICROSECOND if cursor else None
        rows = self._context.read(
            lambda connection, visibility: store.history(
                connection, visibility, contract, name, start, before, limit + 1
            )
        )
        page = page_of(rows, limit, lambda row: ((row.at - _EPOCH) // _MICROSECOND,))
        return Page(items=[measure_answer(measure) for measure in page.items], next=page.next)

    def grid(
        self, *, since: date | None = None, domain: str | None = None, cursor: str | None = None, limit: int = PAGE
    ) -> Page[GridRowAnswer]:
        """List the daily states of each measured contract, the least healthy contract first."""
        check_limit(limit)
        first = first_day(self._context.today, since, self._context.rules.retention.measures)
        rank, contract = after(cursor, 0, "")
        start = (int(rank), str(contract)) if cursor else None
        rows = self._context.read(
            lambda connection, visibility: store.grid(
                connection, visibility, self._context.now, first, domain, start, limit + 1
            )
        )
        page = page_of(rows, limit, lambda row: (row.health.rank, row.contract))
        return Page(items=[row_answer(row) for row in page.items], next=page.next)

    def last_measured(self) -> dict[str, datetime]:
        """Return when each contract was last measured; empty over HTTP, where it would take a request per page."""
        return self._context.read(measure_records.last_measured)


MAX_MEASURES = 1_000
_MAX_CLOCK_SKEW = timedelta(hours=1)
"""How far the clock of a sender may be ahead of ours."""

_MAX_VALUE = 1e15
"""Larger numbers are refused; floats are no longer exact there."""

_MAX_UNIT_LENGTH = 40
_DEEPEST = 8
_MAX_DETAILS_LENGTH = 4_000


def record(
    transaction: Transaction, actor: Actor, sight: Sight, rules: RegistryRules, measures: Sequence[Measure]
) -> RecordedAnswer:
    """Store measures; a measure that is stored already is skipped, so that a batch can be sent again."""
    if len(measures) > MAX_MEASURES:
        raise InvalidDocument(
            f"{len(measures):,} measures at once; send {MAX_MEASURES:,} at most, and the rest after them"
        )
    now = transaction.now
    checked = [_checked(measure, now, rules.retention.measures) for measure in measures]
    by_contract: dict[str, list[Measure]] = {}
    for measure in checked:
        by_contract.setdefault(measure.contract, []).append(measure)
    accepted: list[Measure] = []
    promises: dict[Line, Contract] = {}
    unknown: list[str] = []
    for contract, of_contract in sorted(by_contract.items()):
        version = _measured_version(transaction.connection, sight, contract)
        if version is None:
            unknown.append(contract)
            continue
        authorize(actor, Action.NOTIFY, Resource("contract", version.contract, version.teams))
        promised = policies.effective_of(transaction.connection, rules, version, now.date()).contract
        promises[version.line] = promised
        of_line = [replace(measure, contract=version.contract, major=version.major) for measure in of_contract]
        accepted += [evaluate_measure(measure, promised) for measure in of_line]
    fresh = measure_records.unknown_among(transaction.connection, accepted)
    if fresh:
        before = measure_records.current_times(transaction.connection, sorted(set(map(measure_records.key_of, fresh))))
        fresh = mark_unusual_volumes(transaction.connection, fresh, before, rules.observability.sensitivity)
        measure_records.add(transaction, fresh, before, actor.name, now - rules.retention.measures)
        evaluate_measures(transaction, fresh, before, promises)
    return RecordedAnswer(recorded=len(fresh), unknown=unknown)


_MAX_HISTORY = 2_000
_MAX_COMPARED = 400_000
"""Values that one request compares with new volumes at most, so that a large batch does not hold up other writers."""


def mark_unusual_volumes(
    connection: Connection,
    fresh: Sequence[Measure],
    before: Mapping[measure_records.Key, datetime],
    sensitivity: Sensitivity,
) -> list[Measure]:
    """Return the measures; volumes out of the usual range of their hour and weekday become warnings.

    Rows that arrived are compared where no published rows are counted. Late measures are not compared.
    """
    with_volume = {Line(one.contract, one.major or 0) for one in fresh if one.name == VOLUME}
    history: dict[measure_records.Key, list[tuple[datetime, float]]] = {}
    compared = 0
    result: list[Measure] = []
    for measure in sorted(fresh, key=lambda one: one.at):
        key, line = measure_records.key_of(measure), Line(measure.contract, measure.major or 0)
        is_compared = measure.name == VOLUME or (measure.name == ROWS_IN and line not in with_volume)
        if not is_compared or (key in before and before[key] >= measure.at) or compared > _MAX_COMPARED:
            result.append(measure)
            continue
        if key not in history:
            history[key] = measure_records.volumes(connection, line, measure.name, measure.at - HISTORY, _MAX_HISTORY)
        compared += len(history[key])
        expectation = expect(history[key], measure.at, sensitivity)
        history[key].append((measure.at, measure.value))
        result.append(_unusual(measure, expectation) if expectation else measure)
    return result


def _unusual(measure: Measure, expectation: Expectation) -> Measure:
    if expectation.is_met_by(measure.value):
        return measure
    usual = {name: round(getattr(expectation, name)) for name in ("usual", "low", "high")}
    state = worst((measure.state, State.WARNING))
    return replace(measure, state=state, details={**measure.details, EXPECTED: usual})


def _measured_version(connection: Connection, sight: Sight, name: str) -> StoredVersion | None:
    """Return the version whose promises a measure is judged by: of the named line, or the highest of a contract."""
    version = versions.highest(connection, name) if sight.sees(name) else None
    line = try_parse_line(name)
    if version is not None or line is None or not sight.sees(line.contract):
        return version
    members = versions.versions_in_line(connection, line)
    return head_of(members) if members else None


def parse_measure(values: Mapping[str, Any]) -> Measure:
    """Read a measure from a request."""
    state = values.get("state")
    return Measure(**{**values, "state": State(state) if state else None})


def measure_answer(measure: Measure) -> MeasureAnswer:
    """Return the API model of a measure."""
    return MeasureAnswer(
        contract=measure.contract,
        line=str(Line(measure.contract, measure.major or 0)),
        name=measure.name,
        at=measure.at,
        value=measure.value,
        unit=measure.unit or "",
        promise=measure.promise,
        state=measure.state.value if measure.state else None,
        details=dict(measure.details),
    )


def row_answer(row: GridRow) -> GridRowAnswer:
    """Return the API model of a row of the grid."""
    days = [DayAnswer(day=day.day, state=day.state.value, by=list(day.by)) for day in row.days if day.state]
    return GridRowAnswer(
        contract=row.contract,
        name=row.name,
        domain=row.domain,
        health=row.health.state.value if row.health.state else None,
        cause=row.cause,
        days=days,
    )


def first_day(today: date, since: date | None, retention: timedelta, days: int = 30) -> date:
    """Return the first day of a grid, not before the oldest measures."""
    return max(today - timedelta(days=days - 1) if since is None else since, today - retention)


def _checked(measure: Measure, now: datetime, retention: timedelta) -> Measure:
    """Validate a measure: finite, in range, with a time zone and a plausible time."""
    check_name(measure.name, "measure")
    if not math.isfinite(measure.value) or not math.isfinite(measure.promise or 0.0):
        raise InvalidDocument(f"{measure.name} of {measure.contract[:80]} is no finite number; leave it out")
    if max(abs(measure.value), abs(measure.promise or 0.0)) > _MAX_VALUE:
        raise InvalidDocument(
            f"{measure.name} of {measure.contract[:80]} is larger than {_MAX_VALUE:,.0f}; check how it is counted"
        )
    if measure.at.tzinfo is None:
        raise InvalidDocument(
            f"{measure.name} of {measure.contract[:80]} was measured at {measure.at}, in no time zone; add one"
        )
    if not now - retention <= measure.at <= now + _MAX_CLOCK_SKEW:
        raise InvalidDocument(
            f"{measure.name} of {measure.contract[:80]} was measured at {measure.at:%Y-%m-%d %H:%M %Z}, "
            f"not within the last {retention.days} days; check the clock"
        )
    if len(measure.unit or "") > _MAX_UNIT_LENGTH or not (measure.unit or "").isprintable():
        raise InvalidDocument(
            f"the unit of {measure.name} is longer than {_MAX_UNIT_LENGTH} characters, or cannot be printed"
        )
    _check_unit(measure)
    details = dict(measure.details)
    check_plain(details, "details", Limits(depth=_DEEPEST))
    if len(json.dumps(details)) > _MAX_DETAILS_LENGTH:
        raise InvalidDocument(
            f"the details of {measure.name} have more than {_MAX_DETAILS_LENGTH:,} characters; link the rest"
        )
    return replace(measure, value=float(measure.value), details=details)


def _check_unit(measure: Measure) -> None:
    """Refuse a known measure in another unit: units are not converted."""
    kind = KNOWN_MEASURES.get(measure.name)
    if kind is not None and measure.unit not in (None, kind.unit):
        due = "has no unit" if kind.unit == NO_UNIT else f"is counted in {kind.unit!r}"
        raise InvalidDocument(
            f"{measure.name} of {measure.contract[:80]} {due}, and is given in {measure.unit!r}; "
            "convert value and promise, or give the measure a name of your own"
        )
