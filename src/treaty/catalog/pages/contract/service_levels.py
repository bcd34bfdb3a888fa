"""Service levels of a contract: what it promises, the latest measures, and charts over time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from markupsafe import Markup

from treaty.catalog.formatting import pluralize
from treaty.catalog.source import Source
from treaty.catalog.svg.charts import Point, Window, make_scale, render_chart
from treaty.contracts.model import Contract
from treaty.observability import amounts, measures
from treaty.observability.measures import KNOWN_MEASURES, MeasureKind, State, measure_kind, promised_value
from treaty.registry.model import MeasureAnswer

_MAX_MEASURES = 1_000


@dataclass(frozen=True, slots=True)
class Promise:
    """A promise of a contract and its latest measure."""

    name: str
    promised: str
    measured: str | None = None
    """The latest measure, or None if there is none."""
    state: str = "none"
    at: datetime | None = None
    anchor: str | None = None
    """Anchor of its chart, one of `measure_charts`."""
    statement: str | None = None
    measurable: bool = True
    """Whether it can be measured. Other promises are statements."""


def contract_promises(source: Source, contract: Contract) -> tuple[Promise, ...]:
    """Return the promises of a contract with their latest measures, measurable ones first."""
    of = contract.line or contract.id
    measured = {measure.name: measure for measure in source.measures.current(contract=of, limit=_MAX_MEASURES).items}
    promises = [*_measurable(contract, measured), *_statements(contract)]
    return tuple(sorted(promises, key=lambda promise: not promise.measurable))


def _measurable(contract: Contract, measured: Mapping[str, MeasureAnswer]) -> Iterator[Promise]:
    by_word = {word: kind for kind in KNOWN_MEASURES.values() for word in kind.promised_as}
    seen: set[str] = set()
    for level in contract.sla or ():
        name = str(level.get("property", "")).strip()
        kind = by_word.get(name.lower()) or (measure_kind(name.lower()) if name.lower() in measured else None)
        if kind is None:
            yield Promise(_title_of(name), _format_level(level), statement=_statement(level), measurable=False)
        elif kind.name not in seen:
            seen.add(kind.name)
            yield _promise(contract, kind, level, _measured(kind, measured))
    latency = contract.treaty.latency
    if measures.LATENCY not in seen and latency and latency.within:
        within = {"value": latency.within, "description": latency.statement}
        kind = KNOWN_MEASURES[measures.LATENCY]
        yield _promise(contract, kind, within, _measured(kind, measured))


def _measured(kind: MeasureKind, measured: Mapping[str, MeasureAnswer]) -> MeasureAnswer | None:
    """Return the latest measure of a kind; latency is also measured as the lag of runs."""
    measure = measured.get(kind.name)
    return measured.get(measures.LAG) if measure is None and kind.name == measures.LATENCY else measure


def _promise(contract: Contract, kind: MeasureKind, level: Mapping[str, Any], measure: MeasureAnswer | None) -> Promise:
    limit = promised_value(contract, kind)
    promised = _format_level(level) if limit is None else amounts.format_promise(kind, limit)
    if measure is None:
        return Promise(kind.title, promised, statement=_statement(level))
    return Promise(
        kind.title,
        promised,
        amounts.format_measured(kind, measure.value, measure.unit),
        measure.state or "none",
        measure.at,
        chart_anchor(measure.name),
        _statement(level),
    )


def _statements(contract: Contract) -> Iterator[Promise]:
    """Yield promises about ordering, delivery and changes, which are not measured."""
    blocks = contract.treaty
    if blocks.ordering is not None:
        keys = ", ".join(blocks.ordering.key)
        by = f"by {keys}" + (f", following {blocks.ordering.sequence}" if blocks.ordering.sequence else "")
        yield _stated("Ordering", by if blocks.ordering.is_guaranteed else "none", blocks.ordering.statement)
    if blocks.delivery is not None:
        over = f", as {', '.join(blocks.delivery.channels)}" if blocks.delivery.channels else ""
        guarantee = blocks.delivery.guarantee.replace("_", " ")
        yield _stated("Delivery", f"{guarantee}{over}", blocks.delivery.statement)
    if (policy := blocks.change_policy) is not None:
        parts = [
            policy.compatibility and f"{policy.compatibility} compatible",
            policy.notice and f"{policy.notice} notice",
        ]
        yield _stated("Changes", ", ".join(filter(None, parts)) or "as stated", policy.statement)


def _stated(name: str, promised: str, statement: str | None) -> Promise:
    return Promise(name, promised, statement=statement, measurable=False)


def _format_level(level: Mapping[str, Any]) -> str:
    return f"{level.get('value', '')} {level.get('unit') or ''}".strip()


def _statement(level: Mapping[str, Any]) -> str | None:
    text = level.get("description")
    return str(text) if text else None


def _title_of(name: str) -> str:
    return (name[:1].upper() + name[1:]).replace("_", " ") or "Service level"


DAYS = 30
_MAX_TABLE_ROWS = 60
_MAX_CHARTS = 6
_CHART_ORDER = (
    measures.FRESHNESS,
    measures.VOLUME,
    measures.QUARANTINED_SHARE,
    measures.EXCEPTIONS,
    measures.FILES_SET_APART,
    measures.AVAILABILITY,
    measures.COMPLETENESS,
    measures.VALIDITY,
    measures.LATENCY,
    measures.LAG,
    measures.SCHEMA_DRIFT,
    measures.EXCEPTIONS_OLDEST_AGE,
)
"""Charts in this order, followed by custom measures."""

_NOT_CHARTED = frozenset(
    {
        *(measures.RUN, measures.DURATION, measures.ROWS_IN, measures.QUARANTINED),
        *(measures.DUPLICATES, measures.OUT_OF_ORDER, measures.GAPS),
        *(measures.EXCEPTIONS_OPENED, measures.EXCEPTIONS_CLOSED),
    }
)
"""Technical measures without a chart."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A value in the table of a chart."""

    at: datetime
    value: str
    state: str


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart, and its values as a table."""

    anchor: str
    title: str
    note: str
    svg: Markup
    readings: tuple[Reading, ...]
    more: int = 0
    """Number of values that the table omits."""


def measure_charts(source: Source, contract: str, now: datetime | None = None) -> tuple[Chart, ...]:
    """Return charts of the measures of the last 30 days."""
    current = source.measures.current(contract=contract, limit=_MAX_MEASURES).items
    names = list(dict.fromkeys(measure.name for measure in current))
    own = [name for name in names if name not in KNOWN_MEASURES]
    chart_names = [*(name for name in _CHART_ORDER if name in names), *own][:_MAX_CHARTS]
    return tuple(chart for name in chart_names if (chart := measure_chart(source, contract, name, now)))


def measure_chart(
    source: Source, contract: str, name: str, now: datetime | None = None, anchor: str = ""
) -> Chart | None:
    """Return the chart of one measure, or None if it has no values."""
    until = now or datetime.now(UTC)
    window = Window(until - timedelta(days=DAYS), until)
    page = source.measures.history(contract, name, since=window.first.date(), limit=_MAX_MEASURES)
    found = [measure for measure in reversed(page.items) if window.first <= measure.at <= window.last]
    if not found or name in _NOT_CHARTED:
        return None
    if page.next is not None:  # too many values: show only the time that they cover
        window = Window(found[0].at, window.last)
    kind, unit = measure_kind(name, found[-1].unit), found[-1].unit
    points = [
        Point(measure.at, measure.value, measure.promise, State(measure.state) if measure.state else None)
        for measure in found
    ]
    title = _title(kind, unit, points)
    note = _note(points, (window.last - window.first).days) + _sample_note(found)
    readings = tuple(_reading(kind, measure) for measure in reversed(found[-_MAX_TABLE_ROWS:]))
    return Chart(
        anchor or chart_anchor(name),
        title,
        note,
        render_chart(points, kind, unit, window, f"{title} over time: {note}. A table of values follows."),
        readings,
        len(found) - len(readings),
    )


def chart_anchor(name: str) -> str:
    """Return the HTML anchor of a chart."""
    return "chart-" + "".join(char if char.isalnum() and char.isascii() else "-" for char in name)


def _title(kind: MeasureKind, unit: str, points: list[Point]) -> str:
    values = [point.value for point in points] + [point.promise for point in points if point.promise is not None]
    name = make_scale(values, unit).unit
    return f"{kind.title}, {name}" if name else kind.title


def _note(points: list[Point], days: int) -> str:
    """Summarize the states of a chart."""
    span = pluralize(days, "day") if days else "the last hours"
    broken, warned = (sum(point.state is state for point in points) for state in (State.FAILING, State.WARNING))
    if broken:
        return f"{pluralize(broken, 'breach', 'breaches')} in {span}"
    if all(point.promise is None for point in points):
        return f"{pluralize(warned, 'warning')} in {span}" if warned else "no promise"
    return f"met for {span}"


def _sample_note(measures: Sequence[MeasureAnswer]) -> str:
    """Return a remark on measures that are marked as sample data in their details."""
    samples = sum(measure.details.get("sample") is True for measure in measures)
    return f"; sample data: {samples} of {pluralize(len(measures), 'value')}" if samples else ""


def _reading(kind: MeasureKind, measure: MeasureAnswer) -> Reading:
    return Reading(measure.at, amounts.format_measured(kind, measure.value, measure.unit), measure.state or "none")


__all__ = [
    "Chart",
    "Promise",
    "measure_charts",
    "contract_promises",
]
