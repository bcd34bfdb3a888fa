"""What a contract promises, and how that is kept today, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from markupsafe import Markup

from treaty.catalog.formatting import pluralize
from treaty.catalog.source import Source
from treaty.catalog.svg.charts import Point, Window, make_scale, render_chart
from treaty.contracts.model import Contract
from treaty.observability import formatting, measures
from treaty.observability.measures import KNOWN_MEASURES, MeasureKind, State, measure_kind, promised_value
from treaty.registry.model import MeasureAnswer

_MOST = 1_000


@dataclass(frozen=True, slots=True)
class Promise:
    """One promise of a contract, in words, and how it is kept."""

    name: str
    promised: str
    kept: str | None = None
    """As it was last measured; None where nothing ever was."""
    state: str = "none"
    at: datetime | None = None
    anchor: str | None = None
    """Of the chart that shows it over time, among those of `behaviour_of`."""
    statement: str | None = None
    measurable: bool = True
    """Whether there is a measure for it; other promises are only told."""


def contract_promises(source: Source, contract: Contract) -> tuple[Promise, ...]:
    """Return what a contract promises and how it is kept today; what can be measured comes first."""
    measured = {one.name: one for one in source.measures.current(contract=contract.id, limit=_MOST).items}
    found = [*_levels(contract, measured), *_told(contract)]
    return tuple(sorted(found, key=lambda one: not one.measurable))


def _levels(contract: Contract, measured: Mapping[str, MeasureAnswer]) -> Iterator[Promise]:
    by_word = {word: kind for kind in KNOWN_MEASURES.values() for word in kind.promised_as}
    seen: set[str] = set()
    for level in contract.sla or ():
        name = str(level.get("property", "")).strip()
        kind = by_word.get(name.lower()) or (measure_kind(name.lower()) if name.lower() in measured else None)
        if kind is None:
            yield Promise(_title_of(name), _said(level), statement=_statement(level), measurable=False)
        elif kind.name not in seen:
            seen.add(kind.name)
            yield _kept(contract, kind, level, measured.get(kind.name))
    latency = contract.treaty.latency
    if measures.LATENCY not in seen and latency and latency.within:
        within = {"value": latency.within, "description": latency.statement}
        yield _kept(contract, KNOWN_MEASURES[measures.LATENCY], within, measured.get(measures.LATENCY))


def _kept(contract: Contract, kind: MeasureKind, level: Mapping[str, Any], one: MeasureAnswer | None) -> Promise:
    limit = promised_value(contract, kind)
    promised = _said(level) if limit is None else formatting.format_promise(kind, limit)
    if one is None:
        return Promise(kind.title, promised, statement=_statement(level))
    return Promise(
        kind.title,
        promised,
        formatting.format_measured(kind, one.value, one.unit),
        one.state or "none",
        one.at,
        anchor_of(kind.name),
        _statement(level),
    )


def _told(contract: Contract) -> Iterator[Promise]:
    """Yield what Treaty's own blocks promise: these are kept by how a contract is run, not measured."""
    blocks = contract.treaty
    if blocks.ordering is not None:
        keys = ", ".join(blocks.ordering.key)
        by = f"by {keys}" + (f", following {blocks.ordering.sequence}" if blocks.ordering.sequence else "")
        yield _statement_of("Ordering", by if blocks.ordering.is_guaranteed else "none", blocks.ordering.statement)
    if blocks.delivery is not None:
        over = f", as {', '.join(blocks.delivery.channels)}" if blocks.delivery.channels else ""
        guarantee = blocks.delivery.guarantee.replace("_", " ")
        yield _statement_of("Delivery", f"{guarantee}{over}", blocks.delivery.statement)
    if (policy := blocks.change_policy) is not None:
        parts = [
            policy.compatibility and f"{policy.compatibility} compatible",
            policy.notice and f"{policy.notice} notice",
        ]
        yield _statement_of("Changes", ", ".join(filter(None, parts)) or "as stated", policy.statement)


def _statement_of(name: str, promised: str, statement: str | None) -> Promise:
    return Promise(name, promised, statement=statement, measurable=False)


def _said(level: Mapping[str, Any]) -> str:
    return f"{level.get('value', '')} {level.get('unit') or ''}".strip()


def _statement(level: Mapping[str, Any]) -> str | None:
    text = level.get("description")
    return str(text) if text else None


def _title_of(name: str) -> str:
    return (name[:1].upper() + name[1:]).replace("_", " ") or "Service level"


DAYS = 30
_LISTED = 60
_CHARTS = 6
_CHARTED = (
    measures.FRESHNESS,
    measures.VOLUME,
    measures.QUARANTINED_SHARE,
    measures.EXCEPTIONS,
    measures.AVAILABILITY,
    measures.COMPLETENESS,
    measures.VALIDITY,
    measures.LATENCY,
)
"""What is drawn, in this order; after it, a team's own measures."""

_PLUMBING = frozenset({measures.RUN, measures.DURATION, measures.ROWS_IN, measures.QUARANTINED})
"""Measures that explain others; they are not drawn by themselves."""


@dataclass(frozen=True, slots=True)
class Reading:
    """One value of a chart, in words."""

    at: datetime
    words: str
    state: str


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart with its words, and the same as a table."""

    anchor: str
    title: str
    note: str
    drawing: Markup
    readings: tuple[Reading, ...]
    more: int = 0
    """How many readings the table leaves out."""


def measure_charts(source: Source, contract: str, now: datetime | None = None) -> tuple[Chart, ...]:
    """Return charts of what was measured of a contract in the last 30 days."""
    names = [one.name for one in source.measures.current(contract=contract, limit=_MOST).items]
    own = [name for name in names if name not in KNOWN_MEASURES]
    drawn = [*(name for name in _CHARTED if name in names), *own][:_CHARTS]
    return tuple(one for name in drawn if (one := chart_of(source, contract, name, now)))


def chart_of(source: Source, contract: str, name: str, now: datetime | None = None, anchor: str = "") -> Chart | None:
    """Return one measure of a contract over time, or nothing where there is none to be drawn."""
    until = now or datetime.now(UTC)
    window = Window(until - timedelta(days=DAYS), until)
    page = source.measures.history(contract, name, since=window.first.date(), limit=_MOST)
    found = [one for one in reversed(page.items) if window.first <= one.at <= window.last]
    if not found or name in _PLUMBING:
        return None
    if page.next is not None:  # more than are drawn: show the time that they cover
        window = Window(found[0].at, window.last)
    kind, unit = measure_kind(name, found[-1].unit), found[-1].unit
    points = [Point(one.at, one.value, one.promise, State(one.state) if one.state else None) for one in found]
    title = _title(kind, unit, points)
    note = _note(points, (window.last - window.first).days)
    readings = tuple(_reading(kind, one) for one in reversed(found[-_LISTED:]))
    return Chart(
        anchor or anchor_of(name),
        title,
        note,
        render_chart(points, kind, unit, window, f"{title} over time: {note}. The values follow as a table."),
        readings,
        len(found) - len(readings),
    )


def anchor_of(name: str) -> str:
    """Return where on a page the chart of a measure stands."""
    return "chart-" + "".join(sign if sign.isalnum() and sign.isascii() else "-" for sign in name)


def _title(kind: MeasureKind, unit: str, points: list[Point]) -> str:
    values = [one.value for one in points] + [one.promise for one in points if one.promise is not None]
    name = make_scale(values, unit).unit
    return f"{kind.title}, {name}" if name else kind.title


def _note(points: list[Point], days: int) -> str:
    """Say how it went; what nobody promised cannot be broken, only be worth a look."""
    span = pluralize(days, "day") if days else "the last hours"
    broken, warned = (sum(one.state is state for one in points) for state in (State.FAILING, State.WARNING))
    if broken:
        return f"{pluralize(broken, 'breach', 'breaches')} in {span}"
    if all(one.promise is None for one in points):
        return f"{pluralize(warned, 'warning')} in {span}" if warned else "nothing promised"
    return f"kept for {span}"


def _reading(kind: MeasureKind, one: MeasureAnswer) -> Reading:
    return Reading(one.at, formatting.format_measured(kind, one.value, one.unit), one.state or "none")


__all__ = [
    "Chart",
    "Promise",
    "measure_charts",
    "contract_promises",
]
