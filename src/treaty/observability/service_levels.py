"""Service levels of ODCS over a window: the share that was kept, and what is left of the error budget.

Every property gets an answer. One that cannot be measured says why, and what would measure it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from itertools import pairwise
from typing import Any

from treaty.contracts.model import Contract
from treaty.contracts.quantities import parse_seconds
from treaty.observability.amounts import format_amount, format_promise
from treaty.observability.incidents import Incident
from treaty.observability.measures import (
    AVAILABILITY,
    COMPLETENESS,
    FRESHNESS,
    LAG,
    LATENCY,
    QUARANTINED_SHARE,
    RUN,
    SECONDS,
    VALIDITY,
    VOLUME,
    Measure,
    State,
    evaluate,
    measure_kind,
    read_promise,
)

WINDOW = timedelta(days=30)
OBJECTIVE = 95.0
"""The share of measured values that is to keep a promise, in percent, where the promise itself is no share."""

RETENTION = "retention"
"""The measure of the age of the oldest rows, in seconds."""

_LOW_BUDGET = 25.0
"""Below this share of the error budget a service level is a warning, in percent."""

_FULL = 100.0


@dataclass(frozen=True, slots=True)
class ServiceLevel:
    """How one promised property was kept over the window."""

    name: str
    """The property, as the contract writes it."""
    promise: str
    measure: str | None = None
    kept: float | None = None
    """In percent; None if it cannot be measured."""
    objective: float | None = None
    measured: int = 0
    reason: str | None = None
    """Why it cannot be measured."""

    @property
    def budget(self) -> float | None:
        """What is left of the error budget in percent of it; negative if more was used than there is."""
        if self.kept is None or self.objective is None:
            return None
        allowed = _FULL - self.objective
        if allowed <= 0:
            return _FULL if self.kept >= _FULL else -_FULL
        return _FULL * (1 - (_FULL - self.kept) / allowed)

    @property
    def state(self) -> State | None:
        """Failing if the budget is spent, warning if little is left."""
        left = self.budget
        if left is None:
            return None
        return State.FAILING if left < 0 else State.WARNING if left < _LOW_BUDGET else State.HEALTHY


@dataclass(frozen=True, slots=True)
class Window:
    """What was measured of a line: values by the name of the measure, in the order of time, and incidents."""

    now: datetime
    measures: Mapping[str, Sequence[Measure]] = field(default_factory=dict)
    incidents: Sequence[Incident] = ()
    length: timedelta = WINDOW
    objective: float = OBJECTIVE

    @property
    def start(self) -> datetime:
        """The first moment of the window."""
        return self.now - self.length

    def of(self, name: str) -> list[Measure]:
        """Return the values of a measure in the window."""
        return [one for one in self.measures.get(name, ()) if self.start <= one.at <= self.now]


Level = Mapping[str, Any]
Evaluator = Callable[[Level, Window], ServiceLevel]


def evaluate_service_levels(contract: Contract, window: Window) -> tuple[ServiceLevel, ...]:
    """Evaluate every service level that a contract promises."""
    levels: list[Level] = list(contract.sla or ())
    latency = contract.treaty.latency
    if latency and latency.within:
        levels.append({"property": "latency", "value": latency.within})
    return tuple(_evaluate(level, window) for level in levels)


def update_period(contract: Contract) -> timedelta | None:
    """Return the longest time between two updates that a contract promises; None if it promises none."""
    periods = [
        seconds
        for level in contract.sla or ()
        if _name(level) in _FREQUENCY_NAMES and (seconds := _period(level)) is not None
    ]
    return timedelta(seconds=min(periods)) if periods else None


def _evaluate(level: Level, window: Window) -> ServiceLevel:
    name = _name(level)
    evaluator = _EVALUATORS.get(name)
    if evaluator is not None:
        return evaluator(level, window)
    return _by_measure(str(level.get("property", "")))(level, window)


def _name(level: Level) -> str:
    return str(level.get("property", "")).lower().replace("_", "").replace("-", "").replace(" ", "")


def _property(level: Level) -> str:
    return str(level.get("property", ""))


def _written(level: Level) -> str:
    unit = level.get("unit")
    return f"{level.get('value', '')}{f' {unit}' if unit else ''}"


def _unmeasured(level: Level, reason: str, promise: str | None = None, measure: str | None = None) -> ServiceLevel:
    return ServiceLevel(_property(level), promise or _written(level), measure, reason=reason)


def _by_measure(*names: str) -> Evaluator:
    """Evaluate by the recorded values of the first measure that has any."""

    def run(level: Level, window: Window) -> ServiceLevel:
        chosen = next((name for name in names if window.of(name)), names[0])
        values = window.of(chosen)
        kind = measure_kind(chosen, values[0].unit if values else None)
        promise = next(read_promise(kind, level.get("value"), level.get("unit")), None)
        if promise is None:
            unit = f"a value in {kind.unit!r}" if kind.unit else "a number"
            return _unmeasured(level, f"{_written(level)!r} cannot be read as {unit}", measure=chosen)
        text = format_promise(kind, promise, kind.unit or (values[0].unit if values else None))
        if not values:
            return _unmeasured(level, f"no measure {chosen!r} was recorded in the window", text, chosen)
        kept = sum(evaluate(kind, one.value, promise) is not State.FAILING for one in values)
        return _counted(level, text, chosen, kept, len(values), window.objective)

    return run


def _counted(level: Level, promise: str, measure: str, kept: int, count: int, objective: float) -> ServiceLevel:
    return ServiceLevel(_property(level), promise, measure, _FULL * kept / count, objective, count)


def _availability(level: Level, window: Window) -> ServiceLevel:
    """Evaluate the share of scheduled reads that succeeded; the promise is the objective."""
    kind = measure_kind(AVAILABILITY)
    promise = next(read_promise(kind, level.get("value"), level.get("unit")), None)
    if promise is None:
        return _unmeasured(level, f"{_written(level)!r} cannot be read as a percentage", measure=AVAILABILITY)
    text = format_promise(kind, promise)
    reads = window.of(AVAILABILITY)
    if not reads:
        return _unmeasured(level, "no scheduled read was recorded; run: treaty monitor", text, AVAILABILITY)
    share = sum(read.value for read in reads) / len(reads)
    return ServiceLevel(_property(level), text, AVAILABILITY, share, promise, len(reads))


def _error_rate(level: Level, window: Window) -> ServiceLevel:
    """Evaluate the share of rows that keep the rules; the promised error rate is the budget."""
    kind = measure_kind(QUARANTINED_SHARE)
    promise = next(read_promise(kind, level.get("value"), level.get("unit")), None)
    if promise is None:
        return _unmeasured(level, f"{_written(level)!r} cannot be read as a percentage", measure=QUARANTINED_SHARE)
    text = format_promise(kind, promise)
    shares = window.of(QUARANTINED_SHARE)
    if not shares:
        return _unmeasured(level, f"no measure {QUARANTINED_SHARE!r} was recorded in the window", text, kind.name)
    mean = sum(share.value for share in shares) / len(shares)
    return ServiceLevel(_property(level), text, kind.name, _FULL - mean, _FULL - promise, len(shares))


def _frequency(level: Level, window: Window) -> ServiceLevel:
    """Evaluate the time between successful runs."""
    seconds = _period(level)
    if seconds is None:
        return _unmeasured(level, f"{_written(level)!r} cannot be read as a period, such as 1 d", measure=RUN)
    text = f"every {format_amount(seconds, SECONDS)}"
    runs = [run.at for run in window.of(RUN) if run.value >= 1] or [one.at for one in window.of(VOLUME)]
    if not runs:
        return _unmeasured(level, "no successful run was recorded in the window", text, RUN)
    ends = [*runs, window.now]
    gaps = [(after - before).total_seconds() for before, after in pairwise(ends)]
    late = sum(max(0.0, gap - seconds) for gap in gaps)
    covered = max((window.now - runs[0]).total_seconds(), seconds)
    return ServiceLevel(_property(level), text, RUN, _FULL * (1 - late / covered), window.objective, len(runs))


def _time_of_availability(level: Level, window: Window) -> ServiceLevel:
    """Evaluate on how many days a run had succeeded by the promised time of the day."""
    due = _time_of_day(level.get("value"))
    if due is None:
        reason = f"{_written(level)!r} cannot be read as a time of the day, such as 09:30 or 09:30+01:00"
        return _unmeasured(level, reason, measure=RUN)
    text = f"by {due:%H:%M} {due.tzname() or 'UTC'}"
    runs = [run.at for run in window.of(RUN) if run.value >= 1]
    if not window.of(RUN):
        return _unmeasured(level, "no run was recorded in the window", text, RUN)
    first = min(one.at for one in window.of(RUN)).astimezone(due.tzinfo).date()
    days = [day for day in _days(first, window.now.date()) if datetime.combine(day, due) <= window.now]
    if not days:
        return _unmeasured(level, "no day of the window has reached that time", text, RUN)
    kept = sum(
        any(datetime.combine(day, time(), due.tzinfo) <= at <= datetime.combine(day, due) for at in runs)
        for day in days
    )
    return _counted(level, text, RUN, kept, len(days), window.objective)


def _retention(level: Level, window: Window) -> ServiceLevel:
    """Evaluate the age of the oldest rows: data is kept at least as long as promised."""
    seconds = _period(level)
    if seconds is None:
        return _unmeasured(level, f"{_written(level)!r} cannot be read as a period, such as 2 y", measure=RETENTION)
    text = f"≥ {format_amount(seconds, SECONDS)}"
    ages = window.of(RETENTION)
    if not ages:
        reason = f"the age of the oldest rows is not measured; record a measure {RETENTION!r} in s"
        return _unmeasured(level, reason, text, RETENTION)
    kept = sum(age.value >= seconds for age in ages)
    return _counted(level, text, RETENTION, kept, len(ages), window.objective)


def _by_incidents(length: Callable[[Incident, datetime], timedelta]) -> Evaluator:
    """Evaluate by how long the incidents of the window took."""

    def run(level: Level, window: Window) -> ServiceLevel:
        seconds = _period(level)
        if seconds is None:
            return _unmeasured(level, f"{_written(level)!r} cannot be read as a period, such as 4 h")
        text = f"≤ {format_amount(seconds, SECONDS)}"
        seen = [one for one in window.incidents if (one.closed_at or window.now) >= window.start]
        if not seen:
            return _unmeasured(level, "the window has no incident to measure it by", text, "incidents")
        kept = sum(length(one, window.now).total_seconds() <= seconds for one in seen)
        return _counted(level, text, "incidents", kept, len(seen), window.objective)

    return run


def _detection(incident: Incident, now: datetime) -> timedelta:
    return (incident.opened_at or now) - incident.first_seen


def _repair(incident: Incident, now: datetime) -> timedelta:
    return (incident.closed_at or now) - incident.first_seen


def _announced_date(level: Level, window: Window) -> ServiceLevel:
    """Evaluate a date of the life of the contract: it is a fact of the calendar, not of measures."""
    day = _date(level.get("value"))
    if day is None:
        return _unmeasured(level, f"{_written(level)!r} cannot be read as a date, such as 2027-03-31")
    is_past = day <= window.now.date()
    return _unmeasured(level, f"a date of the calendar, {'reached' if is_past else 'ahead'}", day.isoformat())


_FREQUENCY_NAMES = frozenset({"frequency", "fy", "updatefrequency", "frequencyofupdate"})
_EVALUATORS: dict[str, Evaluator] = {
    **dict.fromkeys(("freshness",), _by_measure(FRESHNESS)),
    **dict.fromkeys(("latency", "ly", "lag"), _by_measure(LAG, LATENCY)),
    **dict.fromkeys(("availability", "av"), _availability),
    **dict.fromkeys(("errorrate", "er", "quarantine"), _error_rate),
    **dict.fromkeys(_FREQUENCY_NAMES, _frequency),
    **dict.fromkeys(("timeofavailability", "ta"), _time_of_availability),
    **dict.fromkeys(("retention", "re"), _retention),
    **dict.fromkeys(("volume", "rowcount", "throughput", "th"), _by_measure(VOLUME)),
    **dict.fromkeys(("completeness",), _by_measure(COMPLETENESS)),
    **dict.fromkeys(("validity", "accuracy", "quality"), _by_measure(VALIDITY)),
    **dict.fromkeys(("timetodetect", "td", "timetonotify", "tn"), _by_incidents(_detection)),
    **dict.fromkeys(("timetorepair", "tr"), _by_incidents(_repair)),
    **dict.fromkeys(("generalavailability", "ga", "endofsupport", "es", "endoflife", "el"), _announced_date),
}
"""How each property is evaluated, by its name in lower case; others are measured under their own name."""


def _period(level: Level) -> float | None:
    value, unit = level.get("value"), level.get("unit")
    if isinstance(value, str) and value.lower() in _PERIODS:
        return _PERIODS[value.lower()]
    seconds = parse_seconds(value, unit if isinstance(unit, str) else None)
    return float(seconds) if seconds is not None and seconds > 0 else None


_PERIODS = {"hourly": 3_600.0, "daily": 86_400.0, "weekly": 604_800.0, "monthly": 2_678_400.0}


def _time_of_day(value: object) -> time | None:
    """Read a time of the day, alone or as part of a date and time; without a zone it is UTC."""
    text = str(value).strip()
    try:
        moment = datetime.fromisoformat(text).timetz() if len(text) > _LONGEST_TIME else time.fromisoformat(text)
    except ValueError:
        return None
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment


_LONGEST_TIME = len("09:30:00+01:00")


def _date(value: object) -> date | None:
    try:
        return datetime.fromisoformat(str(value).strip()).date()
    except ValueError:
        return None


def _days(first: date, last: date) -> Iterable[date]:
    return (first + timedelta(days=number) for number in range((last - first).days + 1))
