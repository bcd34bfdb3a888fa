"""Incidents in the database."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, and_, case, func, or_, select

from treaty.contracts.versions import Line, parse_line, try_parse_line
from treaty.observability.incidents import Incident
from treaty.observability.measures import State
from treaty.registry.store.tables import in_batches, incidents, subscriptions, versions
from treaty.registry.store.transaction import Transaction
from treaty.registry.store.visibility import Visibility

_I = incidents.c
_IS_OPEN = _I.closed_at.is_(None)
MAX_OPEN = 10_000
"""Open incidents that one evaluation reads."""


@dataclass(frozen=True, slots=True)
class StoredIncident:
    """An incident with what the registry knows besides."""

    incident: Incident
    id: int
    opened_at: datetime
    owners: tuple[str, ...]
    acknowledged_by: str | None
    reason: str | None
    root: int | None


def open_incidents(connection: Connection, lines: Iterable[Line] | None = None) -> list[StoredIncident]:
    """Return the open incidents, the oldest first; of some lines, or of all."""
    query = select(incidents).where(_IS_OPEN).order_by(_I.id)
    if lines is None:
        return [_stored(row) for row in connection.execute(query.limit(MAX_OPEN))]
    found: list[StoredIncident] = []
    for part in in_batches(sorted({line.contract for line in lines})):
        found += [_stored(row) for row in connection.execute(query.where(_I.contract.in_(part)))]
    wanted = set(lines)
    return [one for one in found if one.incident.line in wanted]


def count_open(connection: Connection, visibility: Visibility, limit: int) -> list[tuple[Line, State, int]]:
    """Count the open incidents of each line by severity, the most severe first, then by name."""
    rank = case({State.FAILING.value: 0}, value=_I.severity, else_=1)
    query = select(_I.contract, _I.major, _I.severity, func.count().label("incidents"))
    query = query.where(_IS_OPEN, *visibility.conditions(_I.contract)).group_by(_I.contract, _I.major, _I.severity)
    rows = connection.execute(query.order_by(rank, _I.contract, _I.major).limit(limit))
    return [(Line(row.contract, row.major), State(row.severity), row.incidents) for row in rows]


def find(connection: Connection, identity: int) -> StoredIncident | None:
    """Return one incident."""
    row = connection.execute(select(incidents).where(_I.id == identity)).one_or_none()
    return None if row is None else _stored(row)


def page(
    connection: Connection,
    visibility: Visibility,
    contract: str | None,
    is_open: bool | None,
    owned: frozenset[str] | None,
    before: int | None,
    limit: int,
) -> list[StoredIncident]:
    """Return some incidents, the newest first."""
    query = select(incidents).where(*visibility.conditions(_I.contract))
    if contract is not None:
        query = query.where(_of(contract))
    if is_open is not None:
        query = query.where(_IS_OPEN if is_open else _I.closed_at.is_not(None))
    if owned is not None:
        query = query.where(_I.contract.in_(sorted(owned)))
    if before is not None:
        query = query.where(_I.id < before)
    return [_stored(row) for row in connection.execute(query.order_by(_I.id.desc()).limit(limit))]


def since(connection: Connection, line: Line, start: datetime) -> list[StoredIncident]:
    """Return the incidents of a line that were open after a time."""
    query = select(incidents).where(_I.contract == line.contract, _I.major == line.major)
    query = query.where(or_(_IS_OPEN, _I.closed_at >= start)).order_by(_I.id)
    return [_stored(row) for row in connection.execute(query)]


def add(transaction: Transaction, identity: int, incident: Incident, owners: Sequence[str]) -> None:
    """Store a new incident."""
    transaction.insert(
        incidents,
        {
            "id": identity,
            "contract": incident.line.contract,
            "major": incident.line.major,
            "measure": incident.measure,
            "severity": incident.severity.value,
            "opened_at": transaction.now,
            "first_seen": incident.first_seen,
            "owners": list(owners),
            "escalated_at": incident.escalated_at,
            "acknowledged_at": None,
            "acknowledged_by": None,
            "reason": None,
            "closed_at": incident.closed_at,
            "resolution": incident.resolution,
            "root": None,
            **_newest(incident),
        },
    )


def put_newest(transaction: Transaction, incident: Incident) -> None:
    """Store what the newest measure says about an incident."""
    transaction.update(incidents, {"id": incident.id}, _newest(incident))


def put_escalation(transaction: Transaction, incident: Incident) -> None:
    """Store that an incident is escalated."""
    values = {"severity": incident.severity.value, "escalated_at": incident.escalated_at}
    transaction.update(incidents, {"id": incident.id}, {**values, **_newest(incident)})


def put_acknowledgement(transaction: Transaction, identity: int, actor: str, reason: str) -> None:
    """Store that an incident is acknowledged."""
    values = {"acknowledged_at": transaction.now, "acknowledged_by": actor, "reason": reason}
    transaction.update(incidents, {"id": identity}, values)


def put_end(transaction: Transaction, incident: Incident, root: int | None) -> None:
    """Store that an incident is closed."""
    values = {"closed_at": incident.closed_at, "resolution": incident.resolution, "root": root}
    transaction.update(incidents, {"id": incident.id}, {**values, **_newest(incident)})


def _newest(incident: Incident) -> dict[str, Any]:
    return {
        "cause": incident.cause,
        "evidence": dict(incident.evidence),
        "last_seen": incident.last_seen,
        "blocked": [str(line) for line in incident.blocked],
    }


def readers_of(connection: Connection, lines: Iterable[Line]) -> dict[Line, list[tuple[str, str]]]:
    """Return the consumers of some lines with their classes."""
    wanted, found = set(lines), dict[Line, list[tuple[str, str]]]()
    columns = subscriptions.c
    for part in in_batches(sorted({line.contract for line in wanted})):
        query = select(columns.contract, columns.major, columns.consumer, columns.consumer_class)
        for row in connection.execute(query.where(columns.active, columns.contract.in_(part))):
            line = Line(row.contract, row.major)
            if line in wanted:
                found.setdefault(line, []).append((row.consumer, row.consumer_class))
    return found


def lines_in_use(connection: Connection, lines: Iterable[Line]) -> set[Line]:
    """Return those of some lines that have a version which is neither retired nor archived."""
    wanted, found = set(lines), set[Line]()
    columns = versions.c
    for part in in_batches(sorted({line.contract for line in wanted})):
        query = select(columns.contract, columns.major).distinct().where(columns.contract.in_(part))
        query = query.where(columns.status.not_in(("retired", "archived")))
        found |= {Line(row.contract, row.major) for row in connection.execute(query)}
    return wanted & found


def _of(contract: str) -> ColumnElement[bool]:
    line = try_parse_line(contract)
    of_contract: ColumnElement[bool] = _I.contract == contract
    if line is None:
        return of_contract
    return or_(of_contract, and_(_I.contract == line.contract, _I.major == line.major))


def _stored(row: Row[Any]) -> StoredIncident:
    incident = Incident(
        Line(row.contract, row.major),
        row.measure,
        State(row.severity),
        row.cause,
        row.first_seen,
        row.last_seen,
        row.evidence,
        row.id,
        row.opened_at,
        row.escalated_at,
        row.acknowledged_at,
        row.closed_at,
        row.resolution,
        None,
        tuple(map(parse_line, row.blocked)),
    )
    return StoredIncident(incident, row.id, row.opened_at, tuple(row.owners), row.acknowledged_by, row.reason, row.root)
