"""SVG charts of measures over time with the promised value and its violations, and stacked bars."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import pairwise
from statistics import median

from markupsafe import Markup

from treaty.catalog.formatting import format_date
from treaty.observability import amounts
from treaty.observability.measures import PERCENT, SECONDS, Bound, MeasureKind, State

_PLOT_SIZE = 1_000
_MAX_GAP = 2.6
"""The line is interrupted after a gap of this many median intervals."""

_MIN_GAP_S = 3 * 3_600.0
_MAX_DOTS = 12
_DATE_LABELS = 5
_LABEL_WIDTH = 0.35
_MIN_ICON_DISTANCE = 0.012
_LABEL_BELOW_FROM = 0.9
_STATE_ICONS = {
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
    """The time range of a chart."""

    first: datetime
    last: datetime

    def share(self, at: datetime) -> float:
        """Return the position of a time in the range, from 0 to 1."""
        return min(1.0, max(0.0, (at - self.first) / (self.last - self.first)))


def render_chart(points: Sequence[Point], kind: MeasureKind, unit: str, window: Window, label: str) -> Markup:
    """Render a chart. The plot scales with the page, texts keep their size."""
    promised = [point.promise for point in points if point.promise is not None]
    scale = make_scale([*(point.value for point in points), *promised], unit, up_to_full=kind.bound is Bound.AT_LEAST)
    inner = Markup("").join(
        [
            *_grid_lines(scale),
            *_date_axis(window),
            _value_line(points, scale, window),
            *_value_dots(points, scale, window),
            *_promise_line(points, kind, unit, scale, window),
            *_state_icons(points, scale, window),
        ]
    )
    return Markup('<div class="chart"><svg class="plot" role="img" aria-label="{}">{}</svg></div>').format(label, inner)


def _grid_lines(scale: Scale) -> Iterator[Markup]:
    for mark in scale.marks:
        height = _percent(1 - scale.share(mark))
        yield Markup('<line class="level" x1="0" x2="100%" y1="{0}" y2="{0}"/>').format(height)
        yield Markup('<text class="axis" x="-8" y="{}" dy=".32em" text-anchor="end">{}</text>').format(
            height, scale.label(mark)
        )


def _date_axis(window: Window) -> Iterator[Markup]:
    span = (window.last.date() - window.first.date()).days
    step = max(1, -(-span // _DATE_LABELS))
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


def _value_line(points: Sequence[Point], scale: Scale, window: Window) -> Markup:
    markup = Markup("")
    for part in _split_at_gaps(points):
        places = [(_PLOT_SIZE * window.share(point.at), _PLOT_SIZE * (1 - scale.share(point.value))) for point in part]
        path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
        area = f"{path}L{places[-1][0]:.1f} {_PLOT_SIZE}L{places[0][0]:.1f} {_PLOT_SIZE}z"
        markup += Markup('<path class="area" d="{}"/><path class="line" d="{}"/>').format(area, f"{path}h0.1")
    return (
        Markup('<svg width="100%" height="100%" viewBox="0 0 {0} {0}" preserveAspectRatio="none">').format(_PLOT_SIZE)
        + markup
        + Markup("</svg>")
    )


def _split_at_gaps(points: Sequence[Point]) -> Iterator[list[Point]]:
    """Split the points where no value was measured for a long time."""
    distances = [(after.at - before.at).total_seconds() for before, after in pairwise(points)]
    longest = timedelta(seconds=max(_MIN_GAP_S, median(distances) * _MAX_GAP if distances else 0.0))
    part: list[Point] = []
    for point in points:
        if part and point.at - part[-1].at > longest:
            yield part
            part = []
        part.append(point)
    if part:
        yield part


def _promise_line(
    points: Sequence[Point], kind: MeasureKind, unit: str, scale: Scale, window: Window
) -> Iterator[Markup]:
    """Draw the promised value as a step line, and label the last step."""
    held = [point for point in points if point.promise is not None]
    starts = [
        point
        for before, point in zip([None, *held], held, strict=False)
        if not before or before.promise != point.promise
    ]
    for number, start in enumerate(starts):
        assert start.promise is not None  # noqa: S101  filtered above
        left = _percent(window.share(start.at)) if number else "0"
        right = _percent(window.share(starts[number + 1].at)) if number + 1 < len(starts) else "100%"
        height = _percent(1 - scale.share(start.promise))
        yield Markup('<line class="promise" x1="{0}" x2="{1}" y1="{2}" y2="{2}"/>').format(left, right, height)
    if starts and starts[-1].promise is not None:
        share = scale.share(starts[-1].promise)
        on_left = _label_space(held, scale, window, early=True) > _label_space(held, scale, window, early=False)
        yield Markup('<text class="promise-label" x="{}" y="{}" dy="{}" text-anchor="{}">promised {}</text>').format(
            "4" if on_left else "100%",
            _percent(1 - share),
            "15" if share > _LABEL_BELOW_FROM else "-5",
            "start" if on_left else "end",
            amounts.format_promise(kind, starts[-1].promise, unit),
        )


def _label_space(held: Sequence[Point], scale: Scale, window: Window, *, early: bool) -> float:
    """Return the distance between values and promise at one end, where the label could go."""
    near = [
        point
        for point in held
        if (window.share(point.at) < _LABEL_WIDTH if early else window.share(point.at) > 1 - _LABEL_WIDTH)
    ]
    return min((abs(scale.share(point.value) - scale.share(point.promise or 0.0)) for point in near), default=1.0)


def _value_dots(points: Sequence[Point], scale: Scale, window: Window) -> Iterator[Markup]:
    """Draw a dot for each value if there are few, because a single value makes no line."""
    for point in points if len(points) <= _MAX_DOTS else ():
        at = _percent(window.share(point.at)), _percent(1 - scale.share(point.value))
        yield Markup('<circle class="dot" cx="{}" cy="{}" r="2.6"/>').format(*at)


def _state_icons(points: Sequence[Point], scale: Scale, window: Window) -> Iterator[Markup]:
    last_label = -1.0
    for point in points:
        if (
            point.state in _STATE_ICONS and window.share(point.at) - last_label > _MIN_ICON_DISTANCE
        ):  # overlapping icons are unreadable
            last_label = window.share(point.at)
            title = f"{format_date(point.at)}, {point.at:%H:%M}: {point.state}"
            yield Markup('<svg class="at" x="{}" y="{}"><title>{}</title>{}</svg>').format(
                _percent(window.share(point.at)),
                _percent(1 - scale.share(point.value)),
                title,
                _STATE_ICONS[point.state],
            )


def _percent(share: float) -> str:
    return f"{share * 100:.2f}%"


_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
_TIME = ((86_400.0, "days"), (3_600.0, "hours"), (60.0, "minutes"), (1.0, "seconds"))
_MIN_UNITS = 1.5
"""The axis uses a larger unit if the values reach this many of it."""

_AXIS_MARKS = 4
_MIN_VALUE, _MAX_VALUE = 1e-9, 1e15
"""Range of values in a chart. The registry refuses larger measures."""

_FULL_PERCENT = 100.0


@dataclass(frozen=True, slots=True)
class Scale:
    """A value axis with labelled marks."""

    low: float
    high: float
    size: float
    """Units of the measure per unit of the axis."""
    unit: str
    marks: tuple[float, ...]

    def share(self, value: float) -> float:
        """Return the position of a value on the axis, from 0 to 1."""
        return min(1.0, max(0.0, (value - self.low) / (self.high - self.low)))

    def label(self, mark: float) -> str:
        """Format a mark of the axis."""
        number = mark / self.size
        return f"{number / 1_000:g}k" if abs(number) >= 10_000 and number % 100 == 0 else f"{number:,.10g}"


def make_scale(values: Sequence[float], unit: str, up_to_full: bool = False) -> Scale:
    """Return the scale for values: from zero, or up to 100 % for percentages with a lower bound."""
    values = tuple(map(_clamp, values))
    most = max(values, default=0.0)
    size, name = _unit(most, unit)
    if up_to_full and unit == PERCENT:
        least = max(0.0, min(values, default=_FULL_PERCENT))
        step = _step(_FULL_PERCENT - least)
        low = math.floor(least / step) * step
        low = low if low < _FULL_PERCENT else _FULL_PERCENT - step
        return Scale(low, _FULL_PERCENT, 1.0, PERCENT, _axis_marks(low, _FULL_PERCENT, step))
    step = _step(most / size) * size
    high = max(step, math.ceil(most * 1.04 / step) * step)
    return Scale(0.0, high, size, name, _axis_marks(0.0, high, step))


def _clamp(value: float) -> float:
    """Limit a value to the range of an axis."""
    return 0.0 if abs(value) < _MIN_VALUE else max(-_MAX_VALUE, min(_MAX_VALUE, value))


def _unit(most: float, unit: str) -> tuple[float, str]:
    if unit != SECONDS:
        return 1.0, unit
    return next(((size, name) for size, name in _TIME if most >= _MIN_UNITS * size), _TIME[-1])


def _step(span: float) -> float:
    if span < _MIN_VALUE:
        return 1.0
    span = min(span, _MAX_VALUE)
    power = 10.0 ** math.floor(math.log10(span / _AXIS_MARKS))
    return next(step * power for step in _STEPS if step * power * _AXIS_MARKS >= span * 0.999)


def _axis_marks(low: float, high: float, step: float) -> tuple[float, ...]:
    count = round((high - low) / step)
    return tuple(low + step * number for number in range(count + 1))


_BAR_LENGTH = 100.0


@dataclass(frozen=True, slots=True)
class Part:
    """A segment of a stacked bar."""

    name: str
    count: int
    start: float
    length: float


def stacked_bar(counts: Mapping[str, int]) -> tuple[Part, ...]:
    """Return the segments of a bar, in the given order, without empty ones."""
    total = sum(counts.values())
    parts: list[Part] = []
    start = 0.0
    for name, count in counts.items():
        if count > 0:
            length = _BAR_LENGTH * count / total
            parts.append(Part(name, count, round(start, 2), round(length, 2)))
            start += length
    return tuple(parts)


def filled_share(elapsed: float, total: float) -> float:
    """Return the filled length of a bar."""
    return round(min(_BAR_LENGTH, max(0.0, _BAR_LENGTH * elapsed / total)), 2) if total > 0 else _BAR_LENGTH
