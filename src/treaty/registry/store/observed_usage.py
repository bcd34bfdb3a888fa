"""Observed usage in the database: the lineage events that were received, and who was seen reading what."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from sqlalchemy import Connection, Row, func, insert, or_, select, tuple_

from treaty.contracts.versions import Line
from treaty.observability.lineage_reader import LineageEvent
from treaty.registry.store.tables import in_batches, lineage_events, observed_usage
from treaty.registry.store.transaction import Transaction
from treaty.registry.store.visibility import Visibility

_U = observed_usage.c
_E = lineage_events.c
Reader = tuple[str, Line]
"""A consumer and the line that it reads."""


@dataclass(frozen=True, slots=True)
class ObservedReads:
    """What is known of a consumer that was seen reading a line."""

    consumer: str
    line: Line
    job: str
    team: str | None
    fields: Mapping[str, str]
    """The day on which each field was last read, in ISO notation; empty if no event named fields."""
    first_seen: datetime
    last_seen: datetime
    run: str | None
    reported_by: str
    revision: int = 0

    @property
    def reader(self) -> Reader:
        """The consumer and the line."""
        return self.consumer, self.line

    def fields_since(self, day: date) -> tuple[str, ...]:
        """Return the fields that were read on a day or later, sorted."""
        since = day.isoformat()
        return tuple(sorted(name for name, last in self.fields.items() if last >= since))


def add_events(transaction: Transaction, events: Sequence[LineageEvent]) -> list[LineageEvent]:
    """Store events that were not received before, and return them."""
    distinct = {event.id: event for event in events}
    known: set[str] = set()
    for some in in_batches(list(distinct)):
        known.update(transaction.read(select(_E.id).where(_E.id.in_(some))).scalars())
    new = [event for event in distinct.values() if event.id not in known]
    if new:
        transaction.write(insert(lineage_events), [_event_row(event, transaction.now) for event in new])
    return new


def find_readers(connection: Connection, readers: Collection[Reader]) -> dict[Reader, ObservedReads]:
    """Return what is known of some readers."""
    found: dict[Reader, ObservedReads] = {}
    keys = sorted((consumer, line.contract, line.major) for consumer, line in readers)
    for some in in_batches(keys):
        query = select(observed_usage).where(tuple_(_U.consumer, _U.contract, _U.major).in_(some))
        found |= {reads.reader: reads for reads in map(_reads, connection.execute(query))}
    return found


def count_readers(connection: Connection, line: Line) -> int:
    """Count the consumers that were ever seen reading a line."""
    query = select(func.count()).select_from(observed_usage)
    return connection.execute(query.where(_U.contract == line.contract, _U.major == line.major)).scalar_one()


def put_reader(transaction: Transaction, reads: ObservedReads, *, is_new: bool) -> None:
    """Insert or update what is known of a reader."""
    key = {"consumer": reads.consumer, "contract": reads.line.contract, "major": reads.line.major}
    values = {
        "job": reads.job,
        "team": reads.team,
        "fields": dict(reads.fields),
        "first_seen": reads.first_seen,
        "last_seen": reads.last_seen,
        "run": reads.run,
        "reported_by": reads.reported_by,
        "revision": reads.revision,
    }
    if is_new:
        transaction.insert(observed_usage, {**key, **values})
    else:
        transaction.update(observed_usage, key, values)


def readers_of(connection: Connection, line: Line, since: datetime) -> list[ObservedReads]:
    """Return the consumers that were seen reading a line since a time, by name."""
    query = select(observed_usage).where(_U.contract == line.contract, _U.major == line.major, _U.last_seen >= since)
    return list(map(_reads, connection.execute(query.order_by(_U.consumer))))


def recent(connection: Connection, since: datetime) -> list[ObservedReads]:
    """Return all readers that were seen since a time."""
    return list(map(_reads, connection.execute(select(observed_usage).where(_U.last_seen >= since))))


def has_changed(connection: Connection, revision: int, newest: int) -> bool:
    """Return whether a reader or field was seen for the first time after a revision, up to another one."""
    query = select(_U.consumer).where(_U.revision > revision, _U.revision <= newest).limit(1)
    return connection.execute(query).first() is not None


def observed_lines(connection: Connection, lines: Iterable[Line], since: datetime) -> set[Line]:
    """Return those of some lines that anyone was seen reading since a time."""
    found: set[Line] = set()
    for some in in_batches(sorted({line.contract for line in lines})):
        query = select(_U.contract, _U.major).distinct().where(_U.contract.in_(some), _U.last_seen >= since)
        found |= {Line(row.contract, row.major) for row in connection.execute(query)}
    return found


def page_of_readers(
    connection: Connection,
    visibility: Visibility,
    contract: str | None,
    consumer: str | None,
    after: tuple[str, str, int] | None,
    limit: int,
) -> list[ObservedReads]:
    """Return a page of observed readers, by consumer and line."""
    query = select(observed_usage).where(*visibility.conditions(_U.contract, _U.consumer))
    if contract is not None:
        query = query.where(_U.contract == contract)
    if consumer is not None:
        query = query.where(_U.consumer == consumer)
    if after is not None:
        name, of, major = after
        query = query.where(
            or_(
                _U.consumer > name,
                (_U.consumer == name) & (_U.contract > of),
                (_U.consumer == name) & (_U.contract == of) & (_U.major > major),
            )
        )
    query = query.order_by(_U.consumer, _U.contract, _U.major).limit(limit)
    return list(map(_reads, connection.execute(query)))


def _event_row(event: LineageEvent, now: datetime) -> dict[str, Any]:
    return {
        "id": event.id,
        "at": event.at,
        "received_at": now,
        "type": event.type,
        "run": event.run,
        "job": str(event.job) if event.job else None,
    }


def _reads(row: Row[Any]) -> ObservedReads:
    return ObservedReads(
        row.consumer,
        Line(row.contract, row.major),
        row.job,
        row.team,
        row.fields,
        row.first_seen,
        row.last_seen,
        row.run,
        row.reported_by,
        row.revision,
    )
