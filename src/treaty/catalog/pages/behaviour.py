"""What was measured of a contract, drawn over time."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from markupsafe import Markup

from treaty.catalog.drawing.charts import Point, Window, chart
from treaty.catalog.drawing.scales import scale_of
from treaty.catalog.sources import Source
from treaty.catalog.words import counted
from treaty.observability import known, words
from treaty.observability.known import KNOWN, Kind, kind_of
from treaty.observability.states import State
from treaty.registry.answers import MeasureAnswer

DAYS = 30
_MOST = 1_000
_LISTED = 60
_CHARTS = 6
_CHARTED = (
    known.FRESHNESS,
    known.VOLUME,
    known.QUARANTINED_SHARE,
    known.EXCEPTIONS,
    known.AVAILABILITY,
    known.COMPLETENESS,
    known.VALIDITY,
    known.LATENCY,
)
"""What is drawn, in this order; after it, a team's own measures."""

_PLUMBING = frozenset({known.RUN, known.DURATION, known.ROWS_IN, known.QUARANTINED})
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


def behaviour_of(source: Source, contract: str, now: datetime | None = None) -> tuple[Chart, ...]:
    """Return charts of what was measured of a contract in the last 30 days."""
    names = [one.name for one in source.measures.current(contract=contract, limit=_MOST).items]
    own = [name for name in names if name not in KNOWN]
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
    kind, unit = kind_of(name, found[-1].unit), found[-1].unit
    points = [Point(one.at, one.value, one.promise, State(one.state) if one.state else None) for one in found]
    title = _title(kind, unit, points)
    note = _note(points, (window.last - window.first).days)
    readings = tuple(_reading(kind, one) for one in reversed(found[-_LISTED:]))
    return Chart(
        anchor or anchor_of(name),
        title,
        note,
        chart(points, kind, unit, window, f"{title} over time: {note}. The values follow as a table."),
        readings,
        len(found) - len(readings),
    )


def anchor_of(name: str) -> str:
    """Return where on a page the chart of a measure stands."""
    return "chart-" + "".join(sign if sign.isalnum() and sign.isascii() else "-" for sign in name)


def _title(kind: Kind, unit: str, points: list[Point]) -> str:
    values = [one.value for one in points] + [one.promise for one in points if one.promise is not None]
    name = scale_of(values, unit).unit
    return f"{kind.title}, {name}" if name else kind.title


def _note(points: list[Point], days: int) -> str:
    """Say how it went; what nobody promised cannot be broken, only be worth a look."""
    span = counted(days, "day") if days else "the last hours"
    broken, warned = (sum(one.state is state for one in points) for state in (State.FAILING, State.WARNING))
    if broken:
        return f"{counted(broken, 'breach', 'breaches')} in {span}"
    if all(one.promise is None for one in points):
        return f"{counted(warned, 'warning')} in {span}" if warned else "nothing promised"
    return f"kept for {span}"


def _reading(kind: Kind, one: MeasureAnswer) -> Reading:
    return Reading(one.at, words.measured(kind, one.value, one.unit), one.state or "none")
