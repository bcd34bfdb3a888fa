"""Measures of a contract: known kinds, promised values, the state of a value, and the state of a day."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from enum import StrEnum
from typing import Any

from treaty.contracts.blocks import SemanticMeasure
from treaty.contracts.model import Contract
from treaty.contracts.quantities import parse_quantity


class State(StrEnum):
    """Whether a measure keeps its promise; a measure without a promise may have no state."""

    HEALTHY = "healthy"
    WARNING = "warning"  # kept, but close to the limit
    FAILING = "failing"


RANKS: dict[State | None, int] = {None: 0, State.HEALTHY: 1, State.WARNING: 2, State.FAILING: 3}
"""Ranks for comparison in the database; higher is worse."""

CURRENT_FOR = timedelta(days=2)
"""How long a measure counts as current: two days, so that a daily measure may be late once."""

_STATES = {rank: state for state, rank in RANKS.items()}


def worst(states: Iterable[State | None]) -> State | None:
    """Return the worst of some states."""
    return max(states, key=RANKS.__getitem__, default=None)


def state_for_rank(rank: int | None) -> State | None:
    """Return the state of a rank."""
    return _STATES[rank or 0]


def current_since(now: datetime) -> datetime:
    """Return the time after which measures count as current."""
    return now - CURRENT_FOR


def is_stale(at: datetime, now: datetime) -> bool:
    """Return whether a measure is too old to count as current."""
    return at <= current_since(now)


@dataclass(frozen=True, slots=True)
class Measure:
    """A measured value; the promise has the same unit, which for known kinds is the unit of the kind."""

    contract: str
    name: str
    at: datetime
    value: float
    unit: str | None = None
    promise: float | None = None
    state: State | None = None
    details: Mapping[str, Any] = field(default_factory=dict)
    major: int | None = None
    """The line that was measured; the registry knows it from the name of a line, else it is the highest one."""


def evaluate_measure(measure: Measure, contract: Contract) -> Measure:
    """Return a measure with its promise and state according to a contract; given values are kept.

    Known kinds must be in their own unit, which is checked when measures are recorded.
    """
    kind = kind_in_contract(contract, measure.name, measure.unit)
    unit = measure.unit if measure.unit is not None else kind.unit
    promise = measure.promise if measure.promise is not None else promised_value(contract, kind)
    state = measure.state or evaluate(kind, measure.value, promise)
    return replace(measure, unit=unit, promise=promise, state=state)


class Bound(StrEnum):
    """Whether a promise is an upper or a lower bound."""

    AT_MOST = "at most"
    AT_LEAST = "at least"


@dataclass(frozen=True, slots=True)
class MeasureKind:
    """A kind of measure."""

    name: str
    title: str
    unit: str
    meaning: str
    bound: Bound = Bound.AT_MOST
    promised_as: tuple[str, ...] = ()
    """The ODCS service levels that promise it, in lower case."""
    warn_above: float | None = None
    """The value above which a measure without a promise is a warning."""


FRESHNESS, LATENCY, LAG, VOLUME, ROWS_IN = "freshness", "latency", "lag", "volume", "rows_in"
QUARANTINED, QUARANTINED_SHARE, SCHEMA_DRIFT = "quarantined_rows", "quarantined_share", "schema_drift"
EXCEPTIONS, EXCEPTIONS_OPENED, EXCEPTIONS_CLOSED = "exceptions_open", "exceptions_opened", "exceptions_closed"
EXCEPTIONS_OLDEST_AGE, FILES_SET_APART = "exceptions_oldest_age", "files_set_apart"
DUPLICATES, OUT_OF_ORDER, GAPS = "duplicates", "out_of_order", "gaps"
COMPLETENESS, VALIDITY, AVAILABILITY = "completeness", "validity", "availability"
RUN, DURATION = "run", "duration"
LEGACY_READS = "legacy_reads"

SECONDS, ROWS, PERCENT, NO_UNIT = "s", "rows", "%", ""

_AT_LEAST = Bound.AT_LEAST
_KINDS = (
    MeasureKind(FRESHNESS, "Freshness", SECONDS, "Age of the published data.", promised_as=("freshness",)),
    MeasureKind(
        LATENCY, "Latency", SECONDS, "Time from the event until it can be read.", promised_as=("latency", "ly")
    ),
    MeasureKind(LAG, "Lag", SECONDS, "Time from the event until readers see it."),
    MeasureKind(
        VOLUME, "Volume", ROWS, "Rows that were published.", _AT_LEAST, ("volume", "rowcount", "throughput", "th")
    ),
    MeasureKind(ROWS_IN, "Rows in", ROWS, "Rows that arrived.", _AT_LEAST),
    MeasureKind(QUARANTINED, "Quarantined rows", ROWS, "Rows that violate the contract."),
    MeasureKind(
        QUARANTINED_SHARE,
        "Quarantine",
        PERCENT,
        "Share of rows that violate the contract.",
        promised_as=("errorrate", "error_rate", "er", "quarantine"),
        warn_above=1.0,
    ),
    MeasureKind(
        SCHEMA_DRIFT,
        "Schema drift",
        NO_UNIT,
        "Fields of the data that differ from the contract.",
        promised_as=("schemadrift", "schema_drift"),
        warn_above=0.0,
    ),
    MeasureKind(DUPLICATES, "Duplicates", ROWS, "Rows that were delivered before."),
    MeasureKind(OUT_OF_ORDER, "Out of order", ROWS, "Events that arrived after a newer event of their sequence."),
    MeasureKind(GAPS, "Gaps", NO_UNIT, "Numbers that are missing in the sequences of events."),
    MeasureKind(EXCEPTIONS, "Open exceptions", NO_UNIT, "Keys that no rule could reconcile."),
    MeasureKind(EXCEPTIONS_OPENED, "Opened exceptions", NO_UNIT, "Exceptions that the run opened."),
    MeasureKind(EXCEPTIONS_CLOSED, "Closed exceptions", NO_UNIT, "Exceptions that the run closed."),
    MeasureKind(EXCEPTIONS_OLDEST_AGE, "Oldest exception", SECONDS, "Age of the oldest open exception."),
    MeasureKind(
        FILES_SET_APART, "Files set apart", NO_UNIT, "Files of the source that cannot be read.", warn_above=0.0
    ),
    MeasureKind(
        COMPLETENESS,
        "Completeness",
        PERCENT,
        "Share of expected values that are present.",
        _AT_LEAST,
        ("completeness",),
    ),
    MeasureKind(
        VALIDITY,
        "Validity",
        PERCENT,
        "Share of rows that satisfy all rules.",
        _AT_LEAST,
        ("validity", "accuracy", "quality"),
    ),
    MeasureKind(
        AVAILABILITY,
        "Availability",
        PERCENT,
        "Share of time in which the data could be read.",
        _AT_LEAST,
        ("availability", "av"),
    ),
    MeasureKind(RUN, "Run", NO_UNIT, "Whether the last run succeeded: 1 or 0.", _AT_LEAST),
    MeasureKind(DURATION, "Run time", SECONDS, "Duration of the last run."),
    MeasureKind(LEGACY_READS, "Reads of retired feeds", NO_UNIT, "Consumers that read a legacy feed that is retired."),
)

KNOWN_MEASURES: dict[str, MeasureKind] = {kind.name: kind for kind in _KINDS}
"""Measures with a fixed meaning; teams may record others under names of their own."""


def measure_kind(name: str, unit: str | None = None) -> MeasureKind:
    """Return the kind of a measure; a known kind has its own unit.

    Other measures have the given unit, and the service level of the same name is their upper bound.
    """
    title = name.replace("_", " ").capitalize()
    return KNOWN_MEASURES.get(name) or MeasureKind(name, title, unit or NO_UNIT, "", promised_as=(name.lower(),))


_PERCENT_UNITS = frozenset({"%", "percent", "pct", "percentage"})


def semantic_measure(contract: Contract, name: str) -> SemanticMeasure | None:
    """Return the measure that a contract declares under a name; None if it declares none."""
    return next((measure for measure in contract.treaty.measures if measure.name == name), None)


def semantic_unit(measure: SemanticMeasure) -> str:
    """Return the unit of a declared measure; percentages have one notation, and rules give percentages by default."""
    unit = measure.unit or (PERCENT if measure.rule else NO_UNIT)
    return PERCENT if unit.strip().lower() in _PERCENT_UNITS else unit


def kind_in_contract(contract: Contract, name: str, unit: str | None = None) -> MeasureKind:
    """Return the kind of a measure of a contract, which may declare measures of its own."""
    declared = semantic_measure(contract, name)
    if declared is None or name in KNOWN_MEASURES:
        return measure_kind(name, unit)
    at_least = declared.target is not None and declared.target.at_least is not None
    title = name.replace("_", " ").capitalize()
    return MeasureKind(
        name,
        title,
        semantic_unit(declared) if unit is None else unit,
        declared.meaning or "",
        Bound.AT_LEAST if at_least else Bound.AT_MOST,
    )


_WARNING_SHARE = 0.9
"""The share of the allowed range above which a kept promise is a warning."""

_DIMENSIONS = {SECONDS: frozenset({"time"}), PERCENT: frozenset({"percent", ""})}
_COUNTED = frozenset({"", "row", "rows", "record", "records", "count", "event", "events"})


def promised_value(contract: Contract, kind: MeasureKind) -> float | None:
    """Return the strictest value that a contract promises, in the unit of the measure, or None."""
    promised = list(_promised(contract, kind))
    if not promised:
        return 1.0 if kind.name == RUN else None
    return min(promised) if kind.bound is Bound.AT_MOST else max(promised)


def evaluate(kind: MeasureKind, value: float, promise: float | None) -> State | None:
    """Return the state of a value: failing if it breaks the promise, warning if it is close to the limit."""
    if promise is None:
        if kind.warn_above is None:
            return None
        return State.WARNING if value > kind.warn_above else State.HEALTHY
    if value > promise if kind.bound is Bound.AT_MOST else value < promise:
        return State.FAILING
    return State.WARNING if _used(kind, value, promise) > _WARNING_SHARE else State.HEALTHY


def _used(kind: MeasureKind, value: float, promise: float) -> float:
    """Return the used share of the allowed range."""
    if kind.bound is Bound.AT_MOST:
        return value / promise if promise > 0 else 0.0
    if kind.unit == PERCENT:
        return (100 - value) / (100 - promise) if promise < 100 else 0.0
    return 0.0  # a lower bound on a count has no range


def _promised(contract: Contract, kind: MeasureKind) -> Iterator[float]:
    declared = semantic_measure(contract, kind.name)
    if declared is not None and declared.target is not None:
        limit = declared.target.at_least if kind.bound is Bound.AT_LEAST else declared.target.at_most
        yield from [] if limit is None else [float(limit)]
    words = kind.promised_as if kind.name != LAG else KNOWN_MEASURES[LATENCY].promised_as  # the same promise
    for level in contract.sla or ():
        if str(level.get("property", "")).lower() in words:
            yield from read_promise(kind, level.get("value"), level.get("unit"))
    if kind.name in (LAG, LATENCY) and contract.treaty.latency and contract.treaty.latency.within:
        yield from read_promise(kind, contract.treaty.latency.within, None)


def read_promise(kind: MeasureKind, value: object, unit: object) -> Iterator[float]:
    """Yield the value of a service level in the unit of a measure; nothing if it is in another one."""
    quantity = parse_quantity(value, unit if isinstance(unit, str) else None)
    if quantity is not None and quantity.dimension in _DIMENSIONS.get(kind.unit, _COUNTED | {kind.unit}):
        yield float(quantity.amount)


@dataclass(frozen=True, slots=True)
class DayState:
    """The state of a contract on one day, and the measures that caused it."""

    day: date
    state: State | None = None
    by: tuple[str, ...] = ()


def days_until(last: date, count: int) -> tuple[date, ...]:
    """Return a number of consecutive days up to and including the last one."""
    return tuple(last - timedelta(days=back) for back in range(count - 1, -1, -1))


def summarize_day(day: date, states: Mapping[str, State | None]) -> DayState:
    """Return the state of a day from the worst state of each measure."""
    state = worst(states.values())
    return DayState(day, state, tuple(sorted(name for name, own in states.items() if state and own is state)))


def fill_days(days: Iterable[date], states: Iterable[DayState]) -> tuple[DayState, ...]:
    """Return one entry per day; days without data have no state."""
    known = {state.day: state for state in states}
    return tuple(known.get(day) or DayState(day) for day in days)
