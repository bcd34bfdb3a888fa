"""The state of a contract per day: the worst state of its measures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta

from treaty.observability.measures import State, worst


@dataclass(frozen=True, slots=True)
class DayState:
    """The state of a contract on one day, and the measures that caused it."""

    day: date
    state: State | None = None
    by: tuple[str, ...] = ()


def days_until(last: date, count: int) -> tuple[date, ...]:
    """Return a number of consecutive days up to and including the last one."""
    return tuple(last - timedelta(days=back) for back in range(count - 1, -1, -1))


def summarize_day(day: date, found: Mapping[str, State | None]) -> DayState:
    """Return the state of a day from the worst state of each measure."""
    state = worst(found.values())
    return DayState(day, state, tuple(sorted(name for name, one in found.items() if state and one is state)))


def fill_days(days: Iterable[date], found: Iterable[DayState]) -> tuple[DayState, ...]:
    """Return one entry per day; days without data have no state."""
    known = {one.day: one for one in found}
    return tuple(known.get(day) or DayState(day) for day in days)
