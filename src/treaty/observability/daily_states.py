"""Contract × day: how each day went, as its worst measure says."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta

from treaty.observability.measures import State, worst


@dataclass(frozen=True, slots=True)
class DayState:
    """How one day went for one contract, and by which measures it was no better."""

    day: date
    state: State | None = None
    by: tuple[str, ...] = ()


def days_until(last: date, count: int) -> tuple[date, ...]:
    """Return so many days, the last one included."""
    return tuple(last - timedelta(days=back) for back in range(count - 1, -1, -1))


def summarize_day(day: date, found: Mapping[str, State | None]) -> DayState:
    """Return how a day went, from the worst state of each of its measures."""
    state = worst(found.values())
    return DayState(day, state, tuple(sorted(name for name, one in found.items() if state and one is state)))


def fill_days(days: Iterable[date], found: Iterable[DayState]) -> tuple[DayState, ...]:
    """Return a row of a grid: every day, also those of which nothing is known."""
    known = {one.day: one for one in found}
    return tuple(known.get(day) or DayState(day) for day in days)
