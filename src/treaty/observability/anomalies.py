"""Volume anomalies without configuration: is a value out of the usual range of its hour and weekday?

The baseline is robust: medians of the logarithm of the values, by hour of the day and day of the week, and the median
absolute deviation of what is left. Single outliers in the history do not move it, and it needs no limits from people.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from statistics import median
from typing import TypeVar

HISTORY = timedelta(days=56)
"""How far back the baseline looks: eight of each weekday."""

MIN_DAYS = 14
"""No value is called unusual before the history covers so many days: two of each weekday."""

MIN_VALUES = 12
MIN_PER_SLOT = 3
"""Values that an hour of a weekday needs for a baseline of its own; with fewer, hour and weekday are added up."""

_CONSISTENT = 1.4826
"""The median absolute deviation times this is the standard deviation of normally distributed values."""

_RECENT = timedelta(days=7)
_MIN_SPREAD = 0.04
"""The smallest relative spread: a constant series may vary by a few percent."""

_POLISH_ROUNDS = 2
Sample = tuple[datetime, float]
_Key = TypeVar("_Key", bound=Hashable)


class Sensitivity(StrEnum):
    """How far from usual a value must be to count as an anomaly."""

    OFF = "off"
    LOW = "low"
    NORMAL = "normal"
    HIGH = "high"

    @property
    def threshold(self) -> float:
        """The number of standard deviations."""
        return _THRESHOLDS[self]


_THRESHOLDS = {
    Sensitivity.OFF: math.inf,
    Sensitivity.LOW: 6.0,
    Sensitivity.NORMAL: 4.0,
    Sensitivity.HIGH: 3.0,
}


@dataclass(frozen=True, slots=True)
class Expectation:
    """The usual value of an hour and weekday, and the range outside which a value is an anomaly."""

    usual: float
    low: float
    high: float

    def is_met_by(self, value: float) -> bool:
        """Return whether a value is in the range."""
        return self.low <= value <= self.high


def expect(
    history: Iterable[Sample], at: datetime, sensitivity: Sensitivity = Sensitivity.NORMAL
) -> Expectation | None:
    """Return what is usual at a time by the values before it; None if the history is too short or not comparable."""
    if sensitivity is Sensitivity.OFF:
        return None
    samples = sorted((when, value) for when, value in history if at - HISTORY <= when < at and value >= 0)
    if len(samples) < MIN_VALUES or at - samples[0][0] < timedelta(days=MIN_DAYS):
        return None
    times = [when for when, _ in samples]
    values = [math.log1p(value) for _, value in samples]
    season = _fit_season(times, values)
    residuals = [value - season.at(when) for when, value in zip(times, values, strict=True)]
    recent = [left for when, left in zip(times, residuals, strict=True) if at - when <= _RECENT]
    level = median(recent) if len(recent) >= MIN_PER_SLOT else median(residuals)
    middle = season.at(at) + level
    spread = _spread(residuals, math.expm1(middle)) * math.sqrt(1 + math.pi / (2 * season.support(at)))
    reach = sensitivity.threshold * spread
    return Expectation(*(max(0.0, math.expm1(end)) for end in (middle, middle - reach, middle + reach)))


@dataclass(frozen=True, slots=True)
class _Season:
    """What is usual at each hour and weekday, as a logarithm."""

    level: float
    slots: dict[tuple[int, int], float]
    hours: dict[int, float]
    weekdays: dict[int, float]
    counts: dict[tuple[int, int], int]

    def at(self, when: datetime) -> float:
        slot = _slot(when)
        if slot in self.slots:
            return self.slots[slot]
        return self.level + self.hours.get(when.hour, 0.0) + self.weekdays.get(when.weekday(), 0.0)

    def support(self, when: datetime) -> int:
        """Return how many values the baseline of a time is computed from."""
        return max(self.counts.get(_slot(when), 0), MIN_PER_SLOT)


def _fit_season(times: Sequence[datetime], values: Sequence[float]) -> _Season:
    """Fit hours and weekdays by alternating medians; slots with enough values get a median of their own."""
    level = median(values)
    slots = [_slot(when) for when in times]
    hour_of, weekday_of = [hour for _, hour in slots], [weekday for weekday, _ in slots]
    hours: dict[int, float] = {}
    weekdays: dict[int, float] = dict.fromkeys(weekday_of, 0.0)
    for _ in range(_POLISH_ROUNDS):
        left = [value - level - weekdays[weekday] for value, weekday in zip(values, weekday_of, strict=True)]
        hours = _centres(hour_of, left)
        left = [value - level - hours[hour] for value, hour in zip(values, hour_of, strict=True)]
        weekdays = _centres(weekday_of, left)
    groups = _groups(slots, values)
    own = {slot: median(group) for slot, group in groups.items() if len(group) >= MIN_PER_SLOT}
    return _Season(level, own, hours, weekdays, {slot: len(group) for slot, group in groups.items()})


def _spread(residuals: Sequence[float], usual: float) -> float:
    """Return the standard deviation of the residuals, robustly; small counts vary by chance at least."""
    centre = median(residuals)
    deviation = _CONSISTENT * median(abs(left - centre) for left in residuals)
    return math.hypot(max(deviation, _MIN_SPREAD), 1 / math.sqrt(max(usual, 1.0)))


def _slot(when: datetime) -> tuple[int, int]:
    return when.weekday(), when.hour


def _centres(keys: Sequence[int], values: Sequence[float]) -> dict[int, float]:
    return {key: _centre(group) for key, group in _groups(keys, values).items()}


def _centre(values: Sequence[float]) -> float:
    """Return the median; of one or two values the one that is nearest to zero, because the other may be an outlier."""
    return median(values) if len(values) >= MIN_PER_SLOT else min(values, key=abs)


def _groups(keys: Sequence[_Key], values: Sequence[float]) -> dict[_Key, list[float]]:
    groups: dict[_Key, list[float]] = {}
    for key, value in zip(keys, values, strict=True):
        groups.setdefault(key, []).append(value)
    return groups
