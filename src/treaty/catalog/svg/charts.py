"""Charts of measures over time: the line, the promise it is held to, and where it was broken."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import pairwise
from statistics import median

from markupsafe import Markup

from treaty.catalog.formatting import format_date
from treaty.observability import formatting
from treaty.observability.measures import PERCENT, SECONDS, Bound, MeasureKind, State

_WIDE = 1_000
_GAP = 2.6
"""So many usual distances without a measure, and the line is broken: nobody knows what was there."""

_SHORTEST_GAP = 3 * 3_600.0
_FEW = 12
_LABELS = 5
_END = 0.35
_APART = 0.012
_NO_ROOM_ABOVE = 0.9
_SIGNS = {
    State.FAILING: Markup(
        '<path class="mark failing" d="M-2.4-5.6h4.8l3.2 3.2v4.8L2.4 5.6h-4.8l-3.2-3.2v-4.8z"/>'
        '<path class="cross" d="M-2-2 2 2M2-2-2 2"/>'
    ),
    State.WARNING: Markup('<path class="mark warning" d="M0-5.2 5.4 4.4H-5.4z"/>'),
}


@dataclass(frozen=True, slots=True)
class Point:
    """One measure in a chart."""

    at: datetime
    value: float
    promise: float | None = None
    state: State | None = None


@dataclass(frozen=True, slots=True)
class Window:
    """The time that a chart shows."""

    first: datetime
    last: datetime

    def share(self, at: datetime) -> float:
        """Return how far into the window a moment lies, from 0 to 1."""
        return min(1.0, max(0.0, (at - self.first) / (self.last - self.first)))


def render_chart(points: Sequence[Point], kind: MeasureKind, unit: str, window: Window, words_for: str) -> Markup:
    """Draw a chart; its plot stretches with the page while its words keep their size."""
    promised = [one.promise for one in points if one.promise is not None]
    scale = make_scale([*(one.value for one in points), *promised], unit, near_all=kind.bound is Bound.AT_LEAST)
    inner = Markup("").join(
        [
            *_levels(scale),
            *_days(window),
            _lines(points, scale, window),
            *_dots(points, scale, window),
            *_promise(points, kind, unit, scale, window),
            *_marks(points, scale, window),
        ]
    )
    return Markup('<div class="chart"><svg class="plot" role="img" aria-label="{}">{}</svg></div>').format(
        words_for, inner
    )


def _levels(scale: Scale) -> Iterator[Markup]:
    for mark in scale.marks:
        height = _percent(1 - scale.share(mark))
        yield Markup('<line class="level" x1="0" x2="100%" y1="{0}" y2="{0}"/>').format(height)
        yield Markup('<text class="axis" x="-8" y="{}" dy=".32em" text-anchor="end">{}</text>').format(
            height, scale.label(mark)
        )


def _days(window: Window) -> Iterator[Markup]:
    span = (window.last.date() - window.first.date()).days
    step = max(1, -(-span // _LABELS))
    for back in range(0, span, step):
        at = _midnight(window.last, window.last.date() - timedelta(days=back))
        if at < window.first:
            return
        label = format_date(at).rpartition(" ")[0]
        yield Markup('<text class="axis" x="{}" y="100%" dy="18" text-anchor="middle">{}</text>').format(
            _percent(window.share(at)), label
        )


def _midnight(like: datetime, on: date) -> datetime:
    return like.replace(year=on.year, month=on.month, day=on.day, hour=0, minute=0, second=0, microsecond=0)


def _lines(points: Sequence[Point], scale: Scale, window: Window) -> Markup:
    drawn = Markup("")
    for part in _unbroken(points):
        places = [(_WIDE * window.share(one.at), _WIDE * (1 - scale.share(one.value))) for one in part]
        path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
        area = f"{path}L{places[-1][0]:.1f} {_WIDE}L{places[0][0]:.1f} {_WIDE}z"
        drawn += Markup('<path class="area" d="{}"/><path class="line" d="{}"/>').format(area, f"{path}h0.1")
    return (
        Markup('<svg width="100%" height="100%" viewBox="0 0 {0} {0}" preserveAspectRatio="none">').format(_WIDE)
        + drawn
        + Markup("</svg>")
    )


def _unbroken(points: Sequence[Point]) -> Iterator[list[Point]]:
    """Part the points where nothing was measured for long."""
    distances = [(after.at - before.at).total_seconds() for before, after in pairwise(points)]
    longest = timedelta(seconds=max(_SHORTEST_GAP, median(distances) * _GAP if distances else 0.0))
    part: list[Point] = []
    for one in points:
        if part and one.at - part[-1].at > longest:
            yield part
            part = []
        part.append(one)
    if part:
        yield part


def _promise(points: Sequence[Point], kind: MeasureKind, unit: str, scale: Scale, window: Window) -> Iterator[Markup]:
    """Draw what was promised, as long as it was; a promise that changed is drawn in steps, the last one labelled."""
    held = [one for one in points if one.promise is not None]
    starts = [
        one for before, one in zip([None, *held], held, strict=False) if not before or before.promise != one.promise
    ]
    for number, one in enumerate(starts):
        assert one.promise is not None  # noqa: S101  only those are held
        left = _percent(window.share(one.at)) if number else "0"
        right = _percent(window.share(starts[number + 1].at)) if number + 1 < len(starts) else "100%"
        height = _percent(1 - scale.share(one.promise))
        yield Markup('<line class="promise" x1="{0}" x2="{1}" y1="{2}" y2="{2}"/>').format(left, right, height)
    if starts and starts[-1].promise is not None:
        share = scale.share(starts[-1].promise)
        on_left = _room(held, scale, window, early=True) > _room(held, scale, window, early=False)
        yield Markup('<text class="promise-label" x="{}" y="{}" dy="{}" text-anchor="{}">promised {}</text>').format(
            "4" if on_left else "100%",
            _percent(1 - share),
            "15" if share > _NO_ROOM_ABOVE else "-5",
            "start" if on_left else "end",
            formatting.format_promise(kind, starts[-1].promise, unit),
        )


def _room(held: Sequence[Point], scale: Scale, window: Window, *, early: bool) -> float:
    """Return how far the line keeps from the promise at one end, where its label might stand."""
    near = [one for one in held if (window.share(one.at) < _END if early else window.share(one.at) > 1 - _END)]
    return min((abs(scale.share(one.value) - scale.share(one.promise or 0.0)) for one in near), default=1.0)


def _dots(points: Sequence[Point], scale: Scale, window: Window) -> Iterator[Markup]:
    """Mark each measure where there are few: one alone is no line that anybody would see."""
    for one in points if len(points) <= _FEW else ():
        at = _percent(window.share(one.at)), _percent(1 - scale.share(one.value))
        yield Markup('<circle class="dot" cx="{}" cy="{}" r="2.6"/>').format(*at)


def _marks(points: Sequence[Point], scale: Scale, window: Window) -> Iterator[Markup]:
    drawn = -1.0
    for one in points:
        if one.state in _SIGNS and window.share(one.at) - drawn > _APART:  # signs on signs tell nobody anything
            drawn = window.share(one.at)
            title = f"{format_date(one.at)}, {one.at:%H:%M}: {one.state}"
            yield Markup('<svg class="at" x="{}" y="{}"><title>{}</title>{}</svg>').format(
                _percent(window.share(one.at)),
                _percent(1 - scale.share(one.value)),
                title,
                _SIGNS[one.state],
            )


def _percent(share: float) -> str:
    return f"{share * 100:.2f}%"


_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
_TIME = ((86_400.0, "days"), (3_600.0, "hours"), (60.0, "minutes"), (1.0, "seconds"))
_ENOUGH = 1.5
"""So many of a unit there must be before an axis counts in it."""

_MARKS = 4
_LEAST, _MOST = 1e-9, 1e15
"""What is drawn: less is nothing to the eye, more is refused where measures are taken in."""

_ALL = 100.0


@dataclass(frozen=True, slots=True)
class Scale:
    """An axis from low to high, in values; marks are where it is labelled."""

    low: float
    high: float
    size: float
    """How many of the measure's unit are one of the axis."""
    unit: str
    marks: tuple[float, ...]

    def share(self, value: float) -> float:
        """Return how far up a value lies, from 0 to 1."""
        return min(1.0, max(0.0, (value - self.low) / (self.high - self.low)))

    def label(self, mark: float) -> str:
        """Write a mark of the axis."""
        number = mark / self.size
        return f"{number / 1_000:g}k" if abs(number) >= 10_000 and number % 100 == 0 else f"{number:,.10g}"


def make_scale(values: Sequence[float], unit: str, near_all: bool = False) -> Scale:
    """Return the scale for some values: from zero, or up to all of a hundred per cent where that is what counts."""
    values = tuple(map(_drawn, values))
    most = max(values, default=0.0)
    size, name = _unit(most, unit)
    if near_all and unit == PERCENT:
        least = max(0.0, min(values, default=_ALL))
        step = _step(_ALL - least)
        low = math.floor(least / step) * step
        low = low if low < _ALL else _ALL - step
        return Scale(low, _ALL, 1.0, PERCENT, _marks_scales(low, _ALL, step))
    step = _step(most / size) * size
    high = max(step, math.ceil(most * 1.04 / step) * step)
    return Scale(0.0, high, size, name, _marks_scales(0.0, high, step))


def _drawn(value: float) -> float:
    """Return a value as an axis can hold it."""
    return 0.0 if abs(value) < _LEAST else max(-_MOST, min(_MOST, value))


def _unit(most: float, unit: str) -> tuple[float, str]:
    if unit != SECONDS:
        return 1.0, unit
    return next(((size, name) for size, name in _TIME if most >= _ENOUGH * size), _TIME[-1])


def _step(span: float) -> float:
    if span < _LEAST:
        return 1.0
    span = min(span, _MOST)
    power = 10.0 ** math.floor(math.log10(span / _MARKS))
    return next(one * power for one in _STEPS if one * power * _MARKS >= span * 0.999)


def _marks_scales(low: float, high: float, step: float) -> tuple[float, ...]:
    count = round((high - low) / step)
    return tuple(low + step * number for number in range(count + 1))


_WHOLE = 100.0


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a bar: what it is, how many, and where it is drawn."""

    name: str
    count: int
    start: float
    length: float


def stacked_bar(counts: Mapping[str, int]) -> tuple[Part, ...]:
    """Return the parts of a bar in the order they are counted; what is not there is not drawn."""
    total = sum(counts.values())
    parts: list[Part] = []
    start = 0.0
    for name, count in counts.items():
        if count > 0:
            length = _WHOLE * count / total
            parts.append(Part(name, count, round(start, 2), round(length, 2)))
            start += length
    return tuple(parts)


def share(done: float, whole: float) -> float:
    """Return how much of a bar is filled."""
    return round(min(_WHOLE, max(0.0, _WHOLE * done / whole)), 2) if whole > 0 else _WHOLE
