"""Incidents, and the one health state of each contract."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from treaty.contracts.versions import Line, try_parse_line
from treaty.errors import Conflict, InvalidDocument, NotFound
from treaty.observability.evidence import SILENCE
from treaty.observability.health import Health, LineHealth, worst_health
from treaty.observability.measures import measure_kind
from treaty.observability.service_levels import ServiceLevel, Window, evaluate_service_levels
from treaty.registry.access.actors import Actor
from treaty.registry.access.permissions import Action, Resource, authorize
from treaty.registry.api import IncidentsApi
from treaty.registry.model import ContractHealthAnswer, HealthAnswer, IncidentAnswer, Page, ServiceLevelAnswer
from treaty.registry.model.page import PAGE, after, check_limit, page_of
from treaty.registry.not_found import no_line
from treaty.registry.rules import RegistryRules
from treaty.registry.service import policies
from treaty.registry.service.context import Context
from treaty.registry.service.lifecycle import head_of
from treaty.registry.store import Connection, health_records, measure_records, teams, versions
from treaty.registry.store import incidents as store
from treaty.registry.store.incidents import StoredIncident
from treaty.registry.store.transaction import Transaction
from treaty.registry.store.visibility import Sight, Visibility, check_visible

STATES = ("open", "closed")
_MAX_REASON_LENGTH = 2_000
_MAX_MEASURES = 20_000
_MAX_INCIDENTS = 100
_TITLES = {SILENCE: "Silence"}


class Incidents(IncidentsApi):
    """The incidents of a registry."""

    def __init__(self, context: Context) -> None:
        self._context = context

    def list(
        self,
        *,
        contract: str | None = None,
        state: str | None = None,
        team: str | None = None,
        cursor: str | None = None,
        limit: int = PAGE,
    ) -> Page[IncidentAnswer]:
        """List incidents, the newest first, optionally of one contract, owning team or state (open or closed)."""
        check_limit(limit)
        if state is not None and state not in STATES:
            raise InvalidDocument(f"unknown state {state[:40]!r} of incidents; use one of: {', '.join(STATES)}")
        before = int(after(cursor, 0)[0]) if cursor is not None else None
        is_open = None if state is None else state == "open"

        def find(connection: Connection, visibility: Visibility) -> Page[IncidentAnswer]:
            owned = teams.realm_of(connection, visibility, team).owned if team is not None else None
            rows = store.page(connection, visibility, contract, is_open, owned, before, limit + 1)
            page = page_of(rows, limit, lambda row: (row.id,))
            return Page(items=incident_answers(connection, visibility, page.items), next=page.next)

        return self._context.read(find)

    def get(self, incident: int) -> IncidentAnswer:
        """Return one incident."""
        return self._context.read(
            lambda connection, visibility: incident_answers(
                connection, visibility, [find_incident(connection, visibility, incident)]
            )[0]
        )

    def acknowledge(self, incident: int, *, reason: str) -> IncidentAnswer:
        """Acknowledge an open incident with a reason; it is not escalated any more, and closes by itself."""
        context = self._context
        return context.write(
            lambda transaction: acknowledge(transaction, context.actor, context.sight(transaction), incident, reason)
        )

    def health(self, contract: str) -> ContractHealthAnswer:
        """Return the health of a contract or line, with its incidents and service levels."""
        context = self._context
        return context.read(
            lambda connection, visibility: contract_health(connection, visibility, context.rules, contract, context.now)
        )

    def overview(self, *, state: str | None = None, cursor: str | None = None, limit: int = PAGE) -> Page[HealthAnswer]:
        """List the health of the measured contracts, the worst first, optionally of one state."""
        check_limit(limit)
        if state is not None and state not in set(Health):
            raise InvalidDocument(f"unknown health {state[:40]!r}; use one of: {', '.join(Health)}")
        wanted = Health(state) if state is not None else None
        rank, name = after(cursor, 0, "")
        start = (int(rank), str(name)) if cursor else None
        now = self._context.now

        def find(connection: Connection, visibility: Visibility) -> Page[HealthAnswer]:
            rows = health_records.contracts_by_health(connection, visibility, now, wanted, start, limit + 1)
            page = page_of(rows, limit, lambda row: (row[2], row[0]))
            lines = health_records.worst_lines(connection, now, [row[0] for row in page.items])
            answers = [health_answer(lines[name], visibility, title) for name, title, _ in page.items]
            return Page(items=answers, next=page.next)

        return self._context.read(find)


def find_incident(connection: Connection, sight: Sight, identity: int) -> StoredIncident:
    """Return an incident that the actor may see; raise NotFound otherwise."""
    stored = store.find(connection, identity)
    if stored is None or not sight.sees(stored.incident.line.contract):
        raise NotFound(f"there is no incident {identity}", "list them with: treaty incident list")
    return stored


def acknowledge(transaction: Transaction, actor: Actor, sight: Sight, identity: int, reason: str) -> IncidentAnswer:
    """Record that an incident is being worked on."""
    text = reason.strip()
    if not text or len(text) > _MAX_REASON_LENGTH:
        raise InvalidDocument(f"say in 1 to {_MAX_REASON_LENGTH:,} characters what is being done about the incident")
    stored = find_incident(transaction.connection, sight, identity)
    line = stored.incident.line
    owners = versions.owners_of(transaction.connection, line)
    authorize(actor, Action.NOTIFY, Resource("contract", line.contract, owners))
    if stored.incident.closed_at is not None:
        raise Conflict(f"incident {identity} is closed since {stored.incident.closed_at:%Y-%m-%d %H:%M} UTC")
    details = {"incident": identity, "reason": text, "measure": stored.incident.measure}
    transaction.record(actor.name, "incident.acknowledge", str(line), after=details, details=details)
    store.put_acknowledgement(transaction, identity, actor.name, text)
    changed = store.find(transaction.connection, identity)
    return incident_answers(transaction.connection, sight, [changed or stored])[0]


def incident_answers(connection: Connection, sight: Sight, stored: Iterable[StoredIncident]) -> list[IncidentAnswer]:
    """Return the API models of incidents, without the names that an actor may not see."""
    listed = list(stored)
    lines = {line for one in listed for line in (one.incident.line, *one.incident.blocked)}
    readers = store.readers_of(connection, lines)
    roots = {one.root: store.find(connection, one.root) for one in listed if one.root is not None}
    return [_incident_answer(one, sight, readers, roots.get(one.root or 0)) for one in listed]


def _incident_answer(
    stored: StoredIncident, sight: Sight, readers: dict[Line, list[tuple[str, str]]], root: StoredIncident | None
) -> IncidentAnswer:
    incident = stored.incident
    blocked = [line for line in incident.blocked if sight.sees(line.contract)]
    hidden = {str(line) for line in incident.blocked} - {str(line) for line in blocked}
    consumers: dict[str, set[str]] = {}
    for line in (incident.line, *incident.blocked):
        for consumer, consumer_class in readers.get(line, ()):
            if sight.sees(consumer) and sight.sees(line.contract):
                consumers.setdefault(consumer_class, set()).add(consumer)
            elif sight.sees(line.contract):
                hidden.add(consumer)
    is_hidden_root = root is not None and not sight.sees(root.incident.line.contract)
    return IncidentAnswer(
        id=stored.id,
        contract=incident.line.contract,
        line=str(incident.line),
        measure=incident.measure,
        title=_TITLES.get(incident.measure) or measure_kind(incident.measure).title,
        severity="failing" if incident.severity == "failing" else "warning",
        state="open" if incident.closed_at is None else "closed",
        cause=incident.cause,
        evidence=dict(incident.evidence),
        owners=list(stored.owners),
        first_seen=incident.first_seen,
        last_seen=incident.last_seen,
        escalated_at=incident.escalated_at,
        acknowledged_at=incident.acknowledged_at,
        acknowledged_by=stored.acknowledged_by,
        reason=stored.reason,
        closed_at=incident.closed_at,
        resolution="caused by a contract you may not see" if is_hidden_root else incident.resolution,
        root=None if is_hidden_root else stored.root,
        blocked=[str(line) for line in blocked],
        consumers={name: sorted(consumers[name]) for name in sorted(consumers)},
        hidden=len(hidden),
    )


def health_answer(health: LineHealth, sight: Sight, name: str | None = None) -> HealthAnswer:
    """Return the API model of the health of a line."""
    return HealthAnswer(**_health_values(health, sight, name))


def _health_values(health: LineHealth, sight: Sight, name: str | None) -> dict[str, Any]:
    shows_root = health.blocked_by is None or sight.sees(health.blocked_by.contract)
    return {
        "contract": health.line.contract,
        "line": str(health.line),
        "name": name,
        "state": health.state.value if health.state else None,
        "cause": health_records.shown_cause(health, sight),
        "blocked_by": str(health.blocked_by) if health.blocked_by and shows_root else None,
        "since": health.since,
        "incident": health.incident if shows_root else None,
    }


def contract_health(
    connection: Connection, visibility: Visibility, rules: RegistryRules, name: str, now: datetime
) -> ContractHealthAnswer:
    """Return the health of a contract or line."""
    chosen, majors = _find_lines(connection, visibility, name)
    found = health_records.health_of_lines(connection, now, [chosen.contract])
    lines = [found[Line(chosen.contract, major)] for major in majors if Line(chosen.contract, major) in found]
    worst = worst_health(lines) or LineHealth(chosen)
    shown = worst.line if worst.state is not None else chosen
    open_now = store.open_incidents(connection, [Line(chosen.contract, major) for major in majors])
    newest_first = sorted(open_now, key=lambda one: -one.id)[:_MAX_INCIDENTS]
    settings = rules.observability
    return ContractHealthAnswer(
        **_health_values(worst, visibility, health_records.title_of(connection, chosen.contract)),
        lines=[health_answer(health, visibility) for health in lines],
        incidents=incident_answers(connection, visibility, newest_first),
        service_levels=_service_levels(connection, rules, shown, now),
        window_days=settings.window.days,
    )


def _find_lines(connection: Connection, visibility: Visibility, name: str) -> tuple[Line, list[int]]:
    """Return the line that a name means, and the lines to show: of a contract all of them, the highest first."""
    highest = versions.highest(connection, name) if visibility.sees(name) else None
    if highest is not None:
        majors = {version.major for version in versions.list_versions(connection, name)}
        return highest.line, sorted(majors, reverse=True)
    line = try_parse_line(name)
    if line is None:
        check_visible(visibility, name)
        raise versions.not_found_error(connection, name, "")
    check_visible(visibility, line.contract)
    if not versions.versions_in_line(connection, line):
        raise no_line(line)
    return line, [line.major]


def _service_levels(
    connection: Connection, rules: RegistryRules, line: Line, now: datetime
) -> list[ServiceLevelAnswer]:
    settings = rules.observability
    members = versions.versions_in_line(connection, line)
    if not members:
        return []
    contract = policies.effective_of(connection, rules, head_of(members), now.date()).contract
    start = now - settings.window
    window = Window(
        now,
        measure_records.history_since(connection, line, start, _MAX_MEASURES),
        [one.incident for one in store.since(connection, line, start)],
        settings.window,
        settings.objective,
    )
    return [_service_level_answer(level) for level in evaluate_service_levels(contract, window)]


def _service_level_answer(level: ServiceLevel) -> ServiceLevelAnswer:
    return ServiceLevelAnswer(
        property=level.name,
        promise=level.promise,
        measure=level.measure,
        state=level.state.value if level.state else None,
        kept=None if level.kept is None else round(level.kept, 3),
        objective=level.objective,
        budget=None if level.budget is None else round(level.budget, 1),
        measured=level.measured,
        reason=level.reason,
    )
