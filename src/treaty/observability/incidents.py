"""Incidents: which breaches open, continue, escalate and close one, and which line is the root cause.

A breach belongs to a line and a measure, and there is at most one open incident of both. If a line is late, empty or
silent because a line that it is made from was refused, late or silent itself, the incident is that of the upstream
line: the lines after it are blocked by it and have no incidents of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Protocol

from treaty.contracts.versions import Line
from treaty.observability.amounts import format_measured
from treaty.observability.evidence import EXPECTED, SILENCE, describe_breach
from treaty.observability.measures import (
    AVAILABILITY,
    FRESHNESS,
    LAG,
    LATENCY,
    RANKS,
    ROWS_IN,
    RUN,
    SCHEMA_DRIFT,
    VOLUME,
    Measure,
    State,
    measure_kind,
)

BLOCKING = frozenset({RUN, FRESHNESS, SILENCE})
"""Measures whose breach means that new data does not arrive, so that lines made from it wait."""

FLOW = BLOCKING | {LAG, LATENCY, VOLUME, ROWS_IN, AVAILABILITY}
"""Measures whose breach can be caused by an upstream line that is blocked."""

ESCALATE_AFTER = timedelta(days=1)
ABANDONED_AFTER = timedelta(days=30)
"""An incident closes if its measure was not recorded for so long: the promise is not watched any more."""

Key = tuple[Line, str]


@dataclass(frozen=True, slots=True)
class Observation:
    """What a measure says about a promise at a time: broken if it has a severity, else kept."""

    line: Line
    measure: str
    at: datetime
    severity: State | None = None
    cause: str = ""
    evidence: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> Key:
        """The line and the measure."""
        return self.line, self.measure


@dataclass(frozen=True, slots=True)
class Incident:
    """A broken promise of a line, from the first to the last time that it was seen."""

    line: Line
    measure: str
    severity: State
    cause: str
    first_seen: datetime
    last_seen: datetime
    evidence: Mapping[str, Any] = field(default_factory=dict)
    id: int | None = None
    """None as long as it is not stored."""
    opened_at: datetime | None = None
    """When the registry opened it, which may be after it was first seen."""
    escalated_at: datetime | None = None
    acknowledged_at: datetime | None = None
    closed_at: datetime | None = None
    resolution: str | None = None
    root: Key | None = None
    """The line and measure of the incident that caused it, if that was found after it was opened."""
    blocked: tuple[Line, ...] = ()

    @property
    def key(self) -> Key:
        """The line and the measure."""
        return self.line, self.measure

    @property
    def is_blocking(self) -> bool:
        """Whether the lines that are made from this one wait for it."""
        return self.measure in BLOCKING and self.severity is State.FAILING


class LineGraph(Protocol):
    """The lines before and after a line, at any distance."""

    def upstream(self, line: Line) -> frozenset[Line]:
        """Return the lines that a line is made from."""
        ...

    def downstream(self, line: Line) -> frozenset[Line]:
        """Return the lines that are made from a line."""
        ...


@dataclass(frozen=True, slots=True)
class Decision:
    """What becomes of incidents. Those that open and close in one decision are among the closed ones only."""

    opened: tuple[Incident, ...] = ()
    updated: tuple[Incident, ...] = ()
    escalated: tuple[Incident, ...] = ()
    closed: tuple[Incident, ...] = ()
    suppressed: tuple[Observation, ...] = ()
    """Breaches of blocked lines, which have their root cause in another line."""


def observe(measure: Measure) -> Observation | None:
    """Return what a measure says about its promise; None if there is no promise and nothing unusual."""
    line = Line(measure.contract, measure.major or 0)
    severity = breach_severity(measure)
    if severity is not None:
        evidence = {
            "value": measure.value,
            "unit": measure.unit or "",
            "promise": measure.promise,
            "details": dict(measure.details),
        }
        return Observation(line, measure.name, measure.at, severity, describe_breach(measure), evidence)
    kind = measure_kind(measure.name, measure.unit)
    kept = f"{kind.title[:1].lower()}{kind.title[1:]} {format_measured(kind, measure.value, measure.unit)}"
    return Observation(line, measure.name, measure.at, cause=kept)


def breach_severity(measure: Measure) -> State | None:
    """Return how severe a breach is: failing if a promise is broken, warning if a value is out of its usual range.

    A value that is only close to its limit is no breach.
    """
    if measure.state is State.FAILING:
        return State.FAILING
    if measure.state is not State.WARNING:
        return None
    is_unusual = EXPECTED in measure.details
    is_drift = measure.name == SCHEMA_DRIFT and measure.promise is None
    return State.WARNING if is_unusual or is_drift else None


def decide(open_incidents: Iterable[Incident], observations: Iterable[Observation], graph: LineGraph) -> Decision:
    """Decide what becomes of incidents by what was observed, in the order of time; runs explain what else is wrong."""
    board = _Board(open_incidents, graph)
    for observation in sorted(observations, key=lambda one: (one.at, one.measure != RUN, str(one.line), one.measure)):
        board.take(observation)
    return board.decision()


def escalate(open_incidents: Iterable[Incident], now: datetime, after: timedelta) -> tuple[Incident, ...]:
    """Return the incidents to escalate: open for longer than a time, neither acknowledged nor escalated before."""
    return tuple(
        replace(incident, escalated_at=now)
        for incident in open_incidents
        if incident.escalated_at is None and incident.acknowledged_at is None and now - incident.first_seen >= after
    )


def abandon(
    open_incidents: Iterable[Incident], now: datetime, after: timedelta = ABANDONED_AFTER
) -> tuple[Incident, ...]:
    """Return the incidents to close because their measure is not recorded any more; silence stays an incident."""
    return tuple(
        replace(incident, closed_at=now, resolution=f"not measured for {after.days} days")
        for incident in open_incidents
        if incident.measure != SILENCE and now - incident.last_seen >= after
    )


def root_cause(line: Line, roots: Iterable[Incident], graph: LineGraph) -> Incident | None:
    """Return the open incident that blocks a line: the first of those of the lines that it is made from."""
    blocking = [one for one in roots if one.is_blocking and one.closed_at is None]
    if not blocking:
        return None
    upstream = graph.upstream(line) - {line}
    causes = [one for one in blocking if one.line in upstream]
    return min(causes, key=lambda one: (one.first_seen, str(one.line), one.measure), default=None)


class _Board:
    """The incidents while observations are taken one after the other."""

    def __init__(self, open_incidents: Iterable[Incident], graph: LineGraph) -> None:
        self._graph = graph
        self._open: dict[Key, Incident] = {incident.key: incident for incident in open_incidents}
        self._touched: dict[Key, None] = {}
        self._escalated: dict[Key, None] = {}
        self._closed: list[Incident] = []
        self._suppressed: list[Observation] = []

    def take(self, observation: Observation) -> None:
        incident = self._open.get(observation.key)
        if observation.severity is None:
            if incident is not None:
                self._close(
                    incident, observation.at, f"kept again: {observation.cause}" if observation.cause else "kept"
                )
        elif incident is not None:
            self._continue(incident, observation, observation.severity)
        elif self._has_other_cause(observation):
            self._suppressed.append(observation)
        else:
            self._start(observation, observation.severity)

    def decision(self) -> Decision:
        touched = [self._open[key] for key in self._touched if key in self._open]
        return Decision(
            opened=tuple(one for one in touched if one.id is None),
            updated=tuple(one for one in touched if one.id is not None),
            escalated=tuple(one for one in touched if one.id is not None and one.key in self._escalated),
            closed=tuple(self._closed),
            suppressed=tuple(self._suppressed),
        )

    def _has_other_cause(self, observation: Observation) -> bool:
        """Return whether the breach follows from another incident, of the line itself or of an upstream line.

        A line whose run failed is late as well, and one that is late and not measured any more is not silent besides.
        """
        if observation.measure not in FLOW:
            return False
        if observation.measure != RUN and (observation.line, RUN) in self._open:
            return True
        if observation.measure == SILENCE and any(
            line == observation.line and measure in FLOW for line, measure in self._open
        ):
            return True
        return root_cause(observation.line, self._open.values(), self._graph) is not None

    def _start(self, observation: Observation, severity: State) -> None:
        incident = Incident(
            observation.line,
            observation.measure,
            severity,
            observation.cause,
            observation.at,
            observation.at,
            observation.evidence,
        )
        self._put(self._blocking_others(incident))

    def _continue(self, incident: Incident, observation: Observation, severity: State) -> None:
        is_worse = RANKS[severity] > RANKS[incident.severity]
        if is_worse:
            self._escalated[incident.key] = None
        changed = replace(
            incident,
            severity=severity if is_worse else incident.severity,
            cause=observation.cause,
            evidence=observation.evidence,
            last_seen=max(incident.last_seen, observation.at),
            escalated_at=observation.at if is_worse else incident.escalated_at,
        )
        self._put(self._blocking_others(changed))

    def _blocking_others(self, incident: Incident) -> Incident:
        """Return the incident with the lines that it blocks; their own incidents have their cause in it."""
        if not incident.is_blocking:
            return incident
        blocked = self._graph.downstream(incident.line) - {incident.line}
        for key, other in list(self._open.items()):
            if other.line in blocked and other.measure in FLOW:
                del self._open[key]
                if other.id is not None:
                    because = f"caused by {incident.line.contract}: {incident.cause}"
                    self._closed.append(
                        replace(other, closed_at=incident.last_seen, resolution=because, root=incident.key)
                    )
        return replace(incident, blocked=tuple(sorted(blocked)))

    def _close(self, incident: Incident, at: datetime, resolution: str) -> None:
        del self._open[incident.key]
        self._closed.append(replace(incident, closed_at=at, resolution=resolution))

    def _put(self, incident: Incident) -> None:
        self._open[incident.key] = incident
        self._touched[incident.key] = None


@dataclass(frozen=True, slots=True)
class Lineage:
    """A graph of lines, from the lines that each line is made from."""

    upstreams: Mapping[Line, frozenset[Line]]

    def upstream(self, line: Line) -> frozenset[Line]:
        """Return the lines that a line is made from."""
        return _reach(line, self.upstreams)

    def downstream(self, line: Line) -> frozenset[Line]:
        """Return the lines that are made from a line."""
        derived: dict[Line, set[Line]] = {}
        for after, befores in self.upstreams.items():
            for before in befores:
                derived.setdefault(before, set()).add(after)
        return _reach(line, derived)


def _reach(start: Line, edges: Mapping[Line, Iterable[Line]]) -> frozenset[Line]:
    reached: set[Line] = set()
    waiting: Sequence[Line] = [start]
    while waiting:
        found = {other for line in waiting for other in edges.get(line, ())} - reached
        reached |= found
        waiting = sorted(found)
    return frozenset(reached)
