"""A measure: one number about a contract's data at one moment, and how it stands to what is promised."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from treaty.contracts.model import Contract
from treaty.contracts.quantities import parse_quantity


class State(StrEnum):
    """How a measure stands to its promise; one that nobody judges has no state."""

    HEALTHY = "healthy"
    WARNING = "warning"  # kept, with little room left
    FAILING = "failing"


RANKS: dict[State | None, int] = {None: 0, State.HEALTHY: 1, State.WARNING: 2, State.FAILING: 3}
"""The higher, the worse: what databases compare."""

CURRENT_FOR = timedelta(days=2)
"""So long a measure says how things are now, since a daily one may come late once; after that it counts as no data."""

_STATES = {rank: state for state, rank in RANKS.items()}


def worst(states: Iterable[State | None]) -> State | None:
    """Return the worst of some states: a contract is as healthy as its worst measure."""
    return max(states, key=RANKS.__getitem__, default=None)


def state_for_rank(rank: int | None) -> State | None:
    """Return the state of a rank."""
    return _STATES[rank or 0]


def current_since(now: datetime) -> datetime:
    """Return when what was measured after it still says how things are now."""
    return now - CURRENT_FOR


def is_stale(at: datetime, now: datetime) -> bool:
    """Tell whether a measure was taken too long ago to say how things are now."""
    return at <= current_since(now)


@dataclass(frozen=True, slots=True)
class Measure:
    """What was measured, when; the promise is in the unit of the value, which is the kind's where the kind is known."""

    contract: str
    name: str
    at: datetime
    value: float
    unit: str | None = None
    promise: float | None = None
    state: State | None = None
    details: Mapping[str, Any] = field(default_factory=dict)


def evaluate_measure(measure: Measure, contract: Contract) -> Measure:
    """Hold a measure to its contract; what whoever measured said of a promise or state stands.

    A known kind is judged in its own unit: whoever takes measures in refuses others before.
    """
    kind = measure_kind(measure.name, measure.unit)
    unit = measure.unit if measure.unit is not None else kind.unit
    promise = measure.promise if measure.promise is not None else promised_value(contract, kind)
    state = measure.state or evaluate(kind, measure.value, promise)
    return replace(measure, unit=unit, promise=promise, state=state)


class Bound(StrEnum):
    """On which side of a promise a value keeps it."""

    AT_MOST = "at most"
    AT_LEAST = "at least"


@dataclass(frozen=True, slots=True)
class MeasureKind:
    """One kind of measure."""

    name: str
    title: str
    unit: str
    meaning: str
    bound: Bound = Bound.AT_MOST
    promised_as: tuple[str, ...] = ()
    """The service levels of ODCS that promise it, in lower case."""
    watched_above: float | None = None
    """Where nothing is promised: what is worth a warning all the same."""


FRESHNESS, LATENCY, VOLUME, ROWS_IN = "freshness", "latency", "volume", "rows_in"
QUARANTINED, QUARANTINED_SHARE, EXCEPTIONS = "quarantined_rows", "quarantined_share", "exceptions_open"
COMPLETENESS, VALIDITY, AVAILABILITY = "completeness", "validity", "availability"
RUN, DURATION = "run", "duration"

SECONDS, ROWS, PERCENT, PLAIN = "s", "rows", "%", ""

_AT_LEAST = Bound.AT_LEAST
_KINDS = (
    MeasureKind(FRESHNESS, "Freshness", SECONDS, "How old what readers see is.", promised_as=("freshness",)),
    MeasureKind(
        LATENCY, "Latency", SECONDS, "From what happened to where it can be read.", promised_as=("latency", "ly")
    ),
    MeasureKind(
        VOLUME, "Volume", ROWS, "Rows that came through.", _AT_LEAST, ("volume", "rowcount", "throughput", "th")
    ),
    MeasureKind(ROWS_IN, "Rows in", ROWS, "Rows that arrived.", _AT_LEAST),
    MeasureKind(QUARANTINED, "Quarantined rows", ROWS, "Rows that broke the contract, kept with the reasons."),
    MeasureKind(
        QUARANTINED_SHARE,
        "Quarantine",
        PERCENT,
        "Rows that broke the contract, of all that arrived.",
        promised_as=("errorrate", "error_rate", "er", "quarantine"),
        watched_above=1.0,
    ),
    MeasureKind(EXCEPTIONS, "Open exceptions", PLAIN, "Keys that no rule settled and somebody owns."),
    MeasureKind(
        COMPLETENESS, "Completeness", PERCENT, "Values that are there, of those due.", _AT_LEAST, ("completeness",)
    ),
    MeasureKind(
        VALIDITY, "Validity", PERCENT, "Rows that keep every rule.", _AT_LEAST, ("validity", "accuracy", "quality")
    ),
    MeasureKind(
        AVAILABILITY, "Availability", PERCENT, "Time in which it could be read.", _AT_LEAST, ("availability", "av")
    ),
    MeasureKind(RUN, "Run", PLAIN, "Whether the last run came through: 1, or 0.", _AT_LEAST),
    MeasureKind(DURATION, "Run time", SECONDS, "How long the last run worked on it."),
)

KNOWN_MEASURES: dict[str, MeasureKind] = {kind.name: kind for kind in _KINDS}
"""Every measure that has a meaning of its own; others are named by whoever records them."""


def measure_kind(name: str, unit: str | None = None) -> MeasureKind:
    """Return the kind of a measure, a known one in its own unit whatever is said.

    One of a team's own has the unit that is said, and is held to the service level of the same name, at most.
    """
    title = name.replace("_", " ").capitalize()
    return KNOWN_MEASURES.get(name) or MeasureKind(name, title, unit or PLAIN, "", promised_as=(name.lower(),))


_LITTLE_ROOM = 0.9
"""So much of the room that a promise leaves may be used before somebody is warned."""

_DIMENSIONS = {SECONDS: frozenset({"time"}), PERCENT: frozenset({"percent", ""})}
_COUNTED = frozenset({"", "row", "rows", "record", "records", "count", "event", "events"})


def promised_value(contract: Contract, kind: MeasureKind) -> float | None:
    """Return what a contract promises, in the measure's unit: the strictest, if it says several things."""
    promised = list(_promised(contract, kind))
    if not promised:
        return 1.0 if kind.name == RUN else None
    return min(promised) if kind.bound is Bound.AT_MOST else max(promised)


def evaluate(kind: MeasureKind, value: float, promise: float | None) -> State | None:
    """Judge a value: failing where the promise is broken, a warning where little room is left."""
    if promise is None:
        if kind.watched_above is None:
            return None
        return State.WARNING if value > kind.watched_above else State.HEALTHY
    if value > promise if kind.bound is Bound.AT_MOST else value < promise:
        return State.FAILING
    return State.WARNING if _used(kind, value, promise) > _LITTLE_ROOM else State.HEALTHY


def _used(kind: MeasureKind, value: float, promise: float) -> float:
    """Return the share of the room that is used: of what may pass, or of what may be missing of all."""
    if kind.bound is Bound.AT_MOST:
        return value / promise if promise > 0 else 0.0
    if kind.unit == PERCENT:
        return (100 - value) / (100 - promise) if promise < 100 else 0.0
    return 0.0  # one row more than promised is enough


def _promised(contract: Contract, kind: MeasureKind) -> Iterator[float]:
    for level in contract.sla or ():
        if str(level.get("property", "")).lower() in kind.promised_as:
            yield from _read(kind, level.get("value"), level.get("unit"))
    if kind.name == LATENCY and contract.treaty.latency and contract.treaty.latency.within:
        yield from _read(kind, contract.treaty.latency.within, None)


def _read(kind: MeasureKind, value: object, unit: object) -> Iterator[float]:
    found = parse_quantity(value, unit if isinstance(unit, str) else None)
    if found is not None and found.dimension in _DIMENSIONS.get(kind.unit, _COUNTED | {kind.unit}):
        yield float(found.amount)
