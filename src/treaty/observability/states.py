"""How a promise is kept: the states, and which of several counts."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from enum import StrEnum


class State(StrEnum):
    """How a measure stands to its promise; one that nobody judges has no state."""

    HEALTHY = "healthy"
    WARNING = "warning"  # kept, with little room left
    FAILING = "failing"


RANKS: dict[State | None, int] = {None: 0, State.HEALTHY: 1, State.WARNING: 2, State.FAILING: 3}
"""The higher, the worse: what databases compare."""

SPEAKS_FOR = timedelta(days=2)
"""So long a measure says how things are now, since a daily one may come late once; after that it counts as no data."""

_STATES = {rank: state for state, rank in RANKS.items()}


def worst(states: Iterable[State | None]) -> State | None:
    """Return the worst of some states: a contract is as healthy as its worst measure."""
    return max(states, key=RANKS.__getitem__, default=None)


def state_of(rank: int | None) -> State | None:
    """Return the state of a rank."""
    return _STATES[rank or 0]


def speaks_since(now: datetime) -> datetime:
    """Return when what was measured after it still says how things are now."""
    return now - SPEAKS_FOR


def is_old(at: datetime, now: datetime) -> bool:
    """Tell whether a measure was taken too long ago to say how things are now."""
    return at <= speaks_since(now)
