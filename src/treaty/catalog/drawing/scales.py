"""Scales of charts: round numbers on the axis, in a unit that suits them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from treaty.observability.known import PERCENT, SECONDS

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


def scale_of(values: Sequence[float], unit: str, near_all: bool = False) -> Scale:
    """Return the scale for some values: from zero, or up to all of a hundred per cent where that is what counts."""
    values = tuple(map(_drawn, values))
    most = max(values, default=0.0)
    size, name = _unit(most, unit)
    if near_all and unit == PERCENT:
        least = max(0.0, min(values, default=_ALL))
        step = _step(_ALL - least)
        low = math.floor(least / step) * step
        low = low if low < _ALL else _ALL - step
        return Scale(low, _ALL, 1.0, PERCENT, _marks(low, _ALL, step))
    step = _step(most / size) * size
    high = max(step, math.ceil(most * 1.04 / step) * step)
    return Scale(0.0, high, size, name, _marks(0.0, high, step))


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


def _marks(low: float, high: float, step: float) -> tuple[float, ...]:
    count = round((high - low) / step)
    return tuple(low + step * number for number in range(count + 1))
