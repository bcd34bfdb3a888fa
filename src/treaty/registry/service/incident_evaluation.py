"""Evaluation of incidents and health: on every measure, and by the calendar for what no measure shows.

Silence, incidents that last, and lines that are retired are seen by ticks only.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta

from treaty.contracts.model import Contract
from treaty.contracts.versions import Line
from treaty.observability.evidence import SILENCE, describe_silence
from treaty.observability.health import LineHealth, judge_health
from treaty.observability.incidents import (
    ABANDONED_AFTER,
    Decision,
    Incident,
    Observation,
    abandon,
    decide,
    escalate,
    observe,
)
from treaty.observability.measures import FRESHNESS, RUN, VOLUME, Measure, State, measure_kind, promised_value
from treaty.observability.service_levels import update_period
from treaty.registry.access.actors import CALENDAR
from treaty.registry.rules import RegistryRules
from treaty.registry.service import policies
from treaty.registry.service.incident_notices import notify_closed, notify_escalated, notify_opened
from treaty.registry.service.lifecycle import head_of
from treaty.registry.store import Connection, health_records, incidents, lineage, measure_records, versions
from treaty.registry.store.health_records import StoredHealth
from treaty.registry.store.incidents import StoredIncident
from treaty.registry.store.transaction import Transaction

SILENCE_GRACE = 0.25
"""How much longer than promised nothing may be measured, as a share of the promise, before it is silence."""

_PULSE = (FRESHNESS, RUN, VOLUME)
"""The measures that show that a line is alive."""

MAX_LINES = 500
"""Lines that one transaction of a tick looks at."""


class StoredLineage:
    """The graph of lines in the database; each line is read once."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._before: dict[Line, tuple[Line, ...]] = {}
        self._after: dict[Line, tuple[Line, ...]] = {}

    def upstream(self, line: Line) -> frozenset[Line]:
        """Return the lines that a line is made from, at any distance."""
        return self._reach(line, is_upstream=True)

    def downstream(self, line: Line) -> frozenset[Line]:
        """Return the lines in use that are made from a line, at any distance."""
        return frozenset(incidents.lines_in_use(self._connection, self._reach(line, is_upstream=False)))

    def _reach(self, start: Line, *, is_upstream: bool) -> frozenset[Line]:
        reached: set[Line] = set()
        waiting = [start]
        while waiting:
            line = waiting.pop()
            for other in self._next(line, is_upstream=is_upstream):
                if other not in reached:
                    reached.add(other)
                    waiting.append(other)
        return frozenset(reached)

    def _next(self, line: Line, *, is_upstream: bool) -> tuple[Line, ...]:
        known = self._before if is_upstream else self._after
        if line not in known:
            if is_upstream:
                known[line] = tuple(edge.upstream for edge in lineage.upstreams_of(self._connection, line))
            else:
                known[line] = tuple(edge.line for edge in lineage.made_from(self._connection, line))
        return known[line]


def evaluate_measures(
    transaction: Transaction,
    fresh: Sequence[Measure],
    before: Mapping[measure_records.Key, datetime],
    promised: Mapping[Line, Contract],
) -> None:
    """Open, continue and close incidents by new measures, and store the health of what they concern.

    A measure that is older than the current one of its kind changes nothing: it was late itself.
    """
    newer = [
        measure
        for measure in fresh
        if (key := measure_records.key_of(measure)) not in before or before[key] < measure.at
    ]
    if not newer:
        return
    observations = [seen for measure in newer if (seen := observe(measure)) is not None]
    heard = {_line_of(measure): measure.at for measure in sorted(newer, key=lambda one: one.at)}
    observations += [_heard(line, at) for line, at in heard.items()]
    stored = incidents.open_incidents(transaction.connection)
    decision = Decision()
    if stored or any(seen.severity for seen in observations):
        decision = decide([one.incident for one in stored], observations, StoredLineage(transaction.connection))
    touched = apply_decision(transaction, decision, stored)
    refresh_health(transaction, heard.keys() | touched, promised)


def apply_decision(transaction: Transaction, decision: Decision, stored: Sequence[StoredIncident]) -> set[Line]:
    """Store and announce what was decided, and return the lines whose health it may change.

    An incident that began and ended before anyone could be told is stored without a notice.
    """
    owners = {one.id: one.owners for one in stored}
    ids = {one.incident.key: one.id for one in stored}
    for incident in decision.opened:
        identity, teams = _open(transaction, incident)
        ids[incident.key], owners[identity] = identity, teams
        notify_opened(transaction, replace(incident, id=identity), teams)
    for incident in decision.updated:
        if incident not in decision.escalated:
            incidents.put_newest(transaction, incident)
    for incident in decision.escalated:
        _escalate(transaction, incident, owners.get(incident.id or 0, ()))
    for incident in decision.closed:
        if incident.id is None:
            _open(transaction, incident)
        else:
            root = ids.get(incident.root) if incident.root else None
            _close(transaction, incident, owners.get(incident.id, ()), root)
    earlier = {line for one in stored for line in one.incident.blocked} if decision.closed else set()
    changed = (*decision.opened, *decision.updated, *decision.closed)
    return {line for one in changed for line in (one.line, *one.blocked)} | {
        line for line in earlier if any(line in one.blocked for one in decision.closed)
    }


def refresh_health(transaction: Transaction, lines: Iterable[Line], promised: Mapping[Line, Contract]) -> None:
    """Judge the health of some lines and store it; without the promises of a line, its silence is left as it was."""
    wanted = sorted(set(lines))
    if not wanted:
        return
    connection = transaction.connection
    measures = measure_records.current_of(connection, wanted)
    stored = incidents.open_incidents(connection)
    before = health_records.healths(connection, wanted)
    own: dict[Line, list[Incident]] = {}
    for one in stored:
        own.setdefault(one.incident.line, []).append(one.incident)
    results: list[StoredHealth] = []
    gone: list[Line] = []
    for line in wanted:
        health = judge_health(line, measures.get(line, ()), own.get(line, ()), _root(line, stored), transaction.now)
        earlier = before.get(line)
        if health.state is None and line not in measures:
            gone.append(line)  # it was blocked, and has no measures of its own
            continue
        silent_at = earlier.silent_at if earlier else None
        if line in promised:
            silent_at = next_silence(promised[line], measures.get(line, ()))
        results.append(StoredHealth(_keep_since(health, earlier), silent_at))
    changed = [one for one in results if one != before.get(one.health.line)]
    health_records.put_healths(transaction, changed)
    health_records.delete_healths(transaction, [line for line in gone if line in before])


def next_silence(contract: Contract, measures: Sequence[Measure]) -> datetime | None:
    """Return when a line counts as silent unless it is measured before; None if no promise says how often it is."""
    expected = _expected_pulse(contract, measures)
    return None if expected is None else expected[0] + expected[1] * (1 + SILENCE_GRACE)


def is_due(connection: Connection, rules: RegistryRules, now: datetime) -> bool:
    """Return whether a tick has something to do for incidents."""
    if health_records.overdue(connection, now, limit=1):
        return True
    stored = incidents.open_incidents(connection)
    if not stored:
        return False
    open_now = [one.incident for one in stored]
    lines = {one.line for one in open_now}
    return bool(
        escalate(open_now, now, rules.observability.escalate_after)
        or abandon(open_now, now)
        or lines - incidents.lines_in_use(connection, lines)
    )


def sweep(transaction: Transaction, rules: RegistryRules) -> int:
    """Find silent lines, escalate incidents that last, and close those that nobody watches; return the lines seen."""
    connection, now = transaction.connection, transaction.now
    overdue = health_records.overdue(connection, now, MAX_LINES)
    in_use = incidents.lines_in_use(connection, overdue)
    promised = {
        line: contract for line in in_use if (contract := _promises(connection, rules, line, now.date())) is not None
    }
    measures = measure_records.current_of(connection, overdue)
    silent = [
        seen for line, contract in promised.items() if (seen := _silence(line, contract, measures.get(line, ()), now))
    ]
    stored = incidents.open_incidents(connection)
    decision = decide([one.incident for one in stored], silent, StoredLineage(connection)) if silent else Decision()
    touched = apply_decision(transaction, decision, stored)
    touched |= _end_unwatched(transaction)
    touched |= _escalate_lasting(transaction, rules.observability.escalate_after)
    refresh_health(transaction, touched | set(overdue), {})
    suppressed = {seen.line for seen in decision.suppressed}
    again = {line: now + _period(promised[line], measures.get(line, ())) for line in suppressed}
    _set_silence(transaction, overdue, again)
    return len(overdue)


def _silence(line: Line, contract: Contract, measures: Sequence[Measure], now: datetime) -> Observation | None:
    expected = _expected_pulse(contract, measures)
    if expected is None or now < expected[0] + expected[1] * (1 + SILENCE_GRACE):
        return None
    last, allowed, promise = expected
    cause = describe_silence(last, promise, allowed)
    evidence = {"last_measured": last.isoformat(), "promise": allowed.total_seconds(), "unit": "s"}
    return Observation(line, SILENCE, now, State.FAILING, cause, evidence)


def _expected_pulse(contract: Contract, measures: Sequence[Measure]) -> tuple[datetime, timedelta, str] | None:
    """Return when a line was last measured, how long the next measure may take, and the promise that says so."""
    pulse = [measure.at for measure in measures if measure.name in _PULSE]
    if not pulse:
        return None
    allowed: list[tuple[timedelta, str]] = []
    freshness = promised_value(contract, measure_kind(FRESHNESS))
    if freshness is not None and freshness > 0:
        allowed.append((timedelta(seconds=freshness), "a freshness"))
    if (period := update_period(contract)) is not None:
        allowed.append((period, "an update frequency"))
    if not allowed:
        return None
    shortest, promise = min(allowed)
    return max(pulse), shortest, promise


def _period(contract: Contract, measures: Sequence[Measure]) -> timedelta:
    expected = _expected_pulse(contract, measures)
    return expected[1] if expected else timedelta(days=1)


def _set_silence(transaction: Transaction, lines: Sequence[Line], again: Mapping[Line, datetime]) -> None:
    """Do not look at overdue lines again before their next measure; blocked ones are looked at later."""
    stored = health_records.healths(transaction.connection, lines)
    health_records.put_healths(
        transaction, [StoredHealth(stored[line].health, again.get(line)) for line in lines if line in stored]
    )


def _end_unwatched(transaction: Transaction) -> set[Line]:
    """Close the incidents of retired lines, and those whose measure is not recorded any more."""
    stored = incidents.open_incidents(transaction.connection)
    lines = {one.incident.line for one in stored}
    ended = lines - incidents.lines_in_use(transaction.connection, lines)
    over = {one.id: one for one in abandon([one.incident for one in stored], transaction.now, ABANDONED_AFTER)}
    touched: set[Line] = set()
    for one in stored:
        incident = over.get(one.id)
        if one.incident.line in ended:
            incident = replace(one.incident, closed_at=transaction.now, resolution="the line is retired")
        if incident is not None:
            _close(transaction, incident, one.owners, None)
            touched |= {incident.line, *incident.blocked}
    return touched


def _escalate_lasting(transaction: Transaction, after: timedelta) -> set[Line]:
    stored = incidents.open_incidents(transaction.connection)
    owners = {one.id: one.owners for one in stored}
    lasting = escalate([one.incident for one in stored], transaction.now, after)
    for incident in lasting:
        _escalate(transaction, incident, owners.get(incident.id or 0, ()))
    return {incident.line for incident in lasting}


def _open(transaction: Transaction, incident: Incident) -> tuple[int, tuple[str, ...]]:
    """Store an incident with its audit entry; one that ended already is closed with it."""
    teams = tuple(sorted(versions.owners_of(transaction.connection, incident.line)))
    details = {"severity": incident.severity.value, "cause": incident.cause, "measure": incident.measure}
    if incident.resolution is not None:
        details["resolution"] = incident.resolution
    identity = transaction.record(CALENDAR, "incident.open", _subject(incident), after=details, details=details)
    incidents.add(transaction, identity, incident, teams)
    return identity, teams


def _escalate(transaction: Transaction, incident: Incident, owners: Sequence[str]) -> None:
    details = {
        "incident": incident.id,
        "severity": incident.severity.value,
        "cause": incident.cause,
        "measure": incident.measure,
    }
    transaction.record(CALENDAR, "incident.escalate", _subject(incident), after=details, details=details)
    incidents.put_escalation(transaction, incident)
    notify_escalated(transaction, incident, owners)


def _close(transaction: Transaction, incident: Incident, owners: Sequence[str], root: int | None) -> None:
    """Close an incident; one with a root cause is part of the notice about that."""
    details = {"incident": incident.id, "resolution": incident.resolution, "measure": incident.measure, "root": root}
    transaction.record(CALENDAR, "incident.close", _subject(incident), after=details, details=details)
    incidents.put_end(transaction, incident, root)
    if root is None:
        notify_closed(transaction, incident, owners)


def _subject(incident: Incident) -> str:
    return str(incident.line)


def _heard(line: Line, at: datetime) -> Observation:
    return Observation(line, SILENCE, at, cause="measured again")


def _line_of(measure: Measure) -> Line:
    return Line(measure.contract, measure.major or 0)


def _root(line: Line, stored: Sequence[StoredIncident]) -> Incident | None:
    """Return the open incident that blocks a line: the first."""
    causes = [one.incident for one in stored if one.incident.is_blocking and line in one.incident.blocked]
    return min(causes, key=lambda one: (one.first_seen, str(one.line)), default=None)


def _keep_since(health: LineHealth, earlier: StoredHealth | None) -> LineHealth:
    """Return the health with the time since when the line has this state."""
    if earlier is None or earlier.health.state is not health.state or earlier.health.since is None:
        return health
    since = min(earlier.health.since, health.since) if health.since else None
    return replace(health, since=since)


def _promises(connection: Connection, rules: RegistryRules, line: Line, day: date) -> Contract | None:
    """Return the contract of a line, with what it inherits."""
    members = versions.versions_in_line(connection, line)
    if not members:
        return None
    return policies.effective_of(connection, rules, head_of(members), day).contract
