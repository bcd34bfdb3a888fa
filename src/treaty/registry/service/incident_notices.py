"""Notices of incidents: one for each incident, to the owners and the consumers that it affects."""

from __future__ import annotations

from collections.abc import Iterable

from treaty.contracts.versions import Line
from treaty.observability.evidence import FIELDS
from treaty.observability.incidents import Incident
from treaty.registry.store import Connection, subscriptions, versions
from treaty.registry.store.subscriptions import Subscribed
from treaty.registry.store.transaction import Transaction
from treaty.registry.store.visibility import Sight, public_sight, split_visible

OPENED, ESCALATED, CLOSED = "incident.opened", "incident.escalated", "incident.closed"
_MAX_NAMES = 4


def notify_opened(transaction: Transaction, incident: Incident, owners: Iterable[str]) -> None:
    """Add the notice of a new incident."""
    headline = f"{incident.line}: {incident.cause}{_waiting(transaction, incident)}"
    _notify(transaction, OPENED, incident, owners, headline)


def notify_escalated(transaction: Transaction, incident: Incident, owners: Iterable[str]) -> None:
    """Add the notice of an incident that lasts, or that has become worse."""
    since = f"since {incident.first_seen:%Y-%m-%d %H:%M} UTC"
    headline = f"{incident.line} is {incident.severity} {since}: {incident.cause}{_waiting(transaction, incident)}"
    _notify(transaction, ESCALATED, incident, owners, headline)


def notify_closed(transaction: Transaction, incident: Incident, owners: Iterable[str]) -> None:
    """Add the notice of an incident that ended."""
    headline = f"{incident.line}: incident closed ({incident.measure}): {incident.resolution}"
    _notify(transaction, CLOSED, incident, owners, headline)


def affected_parties(transaction: Transaction, incident: Incident, owners: Iterable[str]) -> set[str]:
    """Return who is notified: owners, the consumers that read what is broken, and those behind the blocked lines.

    A party that may not read a private contract is not notified of it.
    """
    connection = transaction.connection
    parties = set(owners) | _parties(_readers(connection, incident))
    if not public_sight(transaction).sees(incident.line.contract):
        return parties
    for line in incident.blocked:
        parties |= versions.owners_of(connection, line)
        parties |= _parties(subscriptions.subscribers(connection, line))
    return parties


def _readers(connection: Connection, incident: Incident) -> list[Subscribed]:
    """Return the subscriptions to the line; if fields are broken, of those that read one of them."""
    readers = subscriptions.subscribers(connection, incident.line)
    details = incident.evidence.get("details")
    fields = details.get(FIELDS) if isinstance(details, dict) else None
    if not isinstance(fields, list) or not fields:
        return readers
    broken = {str(field) for field in fields}
    return [
        reader
        for reader in readers
        if not reader.subscription.fields or any(str(path) in broken for path in reader.subscription.fields)
    ]


def _parties(readers: Iterable[Subscribed]) -> set[str]:
    parties: set[str] = set()
    for reader in readers:
        parties |= {reader.subscription.consumer} | ({reader.team} if reader.team else set())
    return parties


def _waiting(transaction: Transaction, incident: Incident) -> str:
    """Return the lines that wait, as everyone may read them."""
    if not incident.blocked:
        return ""
    names = _public_names(public_sight(transaction), incident.blocked)
    more = len(names) - _MAX_NAMES
    return f"; blocked: {', '.join(names[:_MAX_NAMES])}" + (f" and {more} more" if more > 0 else "")


def _public_names(sight: Sight, lines: Iterable[Line]) -> list[str]:
    contracts, hidden = split_visible((line.contract for line in lines), sight)
    return [*contracts, *([f"{hidden} you may not see"] if hidden else [])]


def _notify(transaction: Transaction, kind: str, incident: Incident, owners: Iterable[str], headline: str) -> None:
    details = {
        "incident": incident.id,
        "line": str(incident.line),
        "measure": incident.measure,
        "severity": incident.severity.value,
        "first_seen": incident.first_seen.isoformat(),
        "last_seen": incident.last_seen.isoformat(),
        "value": incident.evidence.get("value"),
        "promise": incident.evidence.get("promise"),
        "blocked": _public_names(public_sight(transaction), incident.blocked),
    }
    transaction.notify(
        kind,
        incident.line.contract,
        headline,
        details={name: value for name, value in details.items() if value not in (None, [])},
        parties=affected_parties(transaction, incident, owners),
    )
