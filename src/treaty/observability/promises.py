"""What a contract promises of a measure, and whether a value keeps it."""

from __future__ import annotations

from collections.abc import Iterator

from treaty.contracts.model import Contract
from treaty.contracts.quantities import quantity
from treaty.observability.known import LATENCY, PERCENT, RUN, SECONDS, Bound, Kind
from treaty.observability.states import State

_LITTLE_ROOM = 0.9
"""So much of the room that a promise leaves may be used before somebody is warned."""

_DIMENSIONS = {SECONDS: frozenset({"time"}), PERCENT: frozenset({"percent", ""})}
_COUNTED = frozenset({"", "row", "rows", "record", "records", "count", "event", "events"})


def promise_of(contract: Contract, kind: Kind) -> float | None:
    """Return what a contract promises, in the measure's unit: the strictest, if it says several things."""
    promised = list(_promised(contract, kind))
    if not promised:
        return 1.0 if kind.name == RUN else None
    return min(promised) if kind.bound is Bound.AT_MOST else max(promised)


def judge(kind: Kind, value: float, promise: float | None) -> State | None:
    """Judge a value: failing where the promise is broken, a warning where little room is left."""
    if promise is None:
        if kind.watched_above is None:
            return None
        return State.WARNING if value > kind.watched_above else State.HEALTHY
    if value > promise if kind.bound is Bound.AT_MOST else value < promise:
        return State.FAILING
    return State.WARNING if _used(kind, value, promise) > _LITTLE_ROOM else State.HEALTHY


def _used(kind: Kind, value: float, promise: float) -> float:
    """Return the share of the room that is used: of what may pass, or of what may be missing of all."""
    if kind.bound is Bound.AT_MOST:
        return value / promise if promise > 0 else 0.0
    if kind.unit == PERCENT:
        return (100 - value) / (100 - promise) if promise < 100 else 0.0
    return 0.0  # one row more than promised is enough


def _promised(contract: Contract, kind: Kind) -> Iterator[float]:
    for level in contract.sla or ():
        if str(level.get("property", "")).lower() in kind.promised_as:
            yield from _read(kind, level.get("value"), level.get("unit"))
    if kind.name == LATENCY and contract.treaty.latency and contract.treaty.latency.within:
        yield from _read(kind, contract.treaty.latency.within, None)


def _read(kind: Kind, value: object, unit: object) -> Iterator[float]:
    found = quantity(value, unit if isinstance(unit, str) else None)
    if found is not None and found.dimension in _DIMENSIONS.get(kind.unit, _COUNTED | {kind.unit}):
        yield float(found.amount)
