"""The health of a line: one state with its cause, from its measures, its incidents and the lines it is made from.

This is the only place that decides it. Lists, pages, the graph, the API and the command line show its result.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from treaty.contracts.versions import Line
from treaty.observability.evidence import EXPECTED, describe_breach, describe_margin
from treaty.observability.incidents import FLOW, Incident
from treaty.observability.measures import CURRENT_FOR, Measure, State, is_stale


class Health(StrEnum):
    """The health of a line or contract."""

    HEALTHY = "healthy"
    WARNING = "warning"  # close to a limit, or unusual
    BLOCKED = "blocked"  # waits for a line that it is made from
    FAILING = "failing"  # breaks a promise


HEALTH_RANKS: dict[Health | None, int] = {
    None: 0,
    Health.HEALTHY: 1,
    Health.WARNING: 2,
    Health.BLOCKED: 3,
    Health.FAILING: 4,
}
"""Ranks for comparison in the database; higher is worse."""

_BY_RANK = {rank: health for health, rank in HEALTH_RANKS.items()}
_OF_STATE = {State.HEALTHY: Health.HEALTHY, State.WARNING: Health.WARNING, State.FAILING: Health.FAILING}


@dataclass(frozen=True, slots=True)
class LineHealth:
    """The health of a line with its cause; None as a state means that nothing was judged lately."""

    line: Line
    state: Health | None = None
    cause: str = ""
    blocked_by: Line | None = None
    incident: int | None = None
    since: datetime | None = None
    valid_until: datetime | None = None
    """When it lapses without a new measure; None if only a measure or the end of an incident changes it."""

    @property
    def rank(self) -> int:
        """The rank of the state."""
        return HEALTH_RANKS[self.state]


def health_for_rank(rank: int | None) -> Health | None:
    """Return the health of a rank."""
    return _BY_RANK[rank or 0]


def judge_health(
    line: Line, measures: Iterable[Measure], incidents: Iterable[Incident], root: Incident | None, now: datetime
) -> LineHealth:
    """Return the health of a line: the worst of its open incidents, what blocks it, and its current measures.

    `root` is the open incident of an upstream line that blocks this one. A late, empty or failed line that is blocked
    is shown as blocked, not as failing: it cannot do better.
    """
    judged = [measure for measure in measures if measure.state is not None and not is_stale(measure.at, now)]
    own = [incident for incident in incidents if incident.closed_at is None]
    candidates = [_by_incident(line, incident) for incident in own]
    if root is not None:
        candidates.append(LineHealth(line, Health.BLOCKED, "", root.line, root.id, root.first_seen))
    explained = {incident.measure for incident in own} | (FLOW if root is not None else frozenset())
    until = max((measure.at for measure in judged), default=now) + CURRENT_FOR
    candidates += [_by_measure(line, measure, until) for measure in judged if measure.name not in explained]
    return min(candidates, key=lambda one: (-one.rank, one.since or now, one.cause), default=LineHealth(line))


def worst_health(healths: Iterable[LineHealth]) -> LineHealth | None:
    """Return the worst of some lines; of equals the highest line."""
    return max(healths, key=lambda one: (one.rank, one.line.major), default=None)


def format_blocked(contract: str | None) -> str:
    """Return the cause of a blocked line; a contract that may not be named is None."""
    return f"blocked by {contract or 'a contract you may not see'}"


def _by_incident(line: Line, incident: Incident) -> LineHealth:
    state = Health.FAILING if incident.severity is State.FAILING else Health.WARNING
    return LineHealth(line, state, incident.cause, incident=incident.id, since=incident.first_seen)


def _by_measure(line: Line, measure: Measure, until: datetime) -> LineHealth:
    state = measure.state or State.HEALTHY
    cause = "" if state is State.HEALTHY else describe_state(measure)
    return LineHealth(line, _OF_STATE[state], cause, since=measure.at, valid_until=until)


def describe_state(measure: Measure) -> str:
    """Return why a measure is not healthy: it breaks its promise, or is close to its limit."""
    is_close = measure.state is State.WARNING and measure.promise is not None and EXPECTED not in measure.details
    return describe_margin(measure) if is_close else describe_breach(measure)
