"""Rows that are older than they have to be kept: notices, measures, lineage events, uses of schemas, accesses."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    Text,
    and_,
    cast,
    delete,
    exists,
    func,
    or_,
    select,
    tuple_,
    update,
)

from treaty.registry.store.outbox import State
from treaty.registry.store.tables import (
    channels,
    data_accesses,
    deliveries,
    in_batches,
    incidents,
    lineage_events,
    measures,
    notices,
    schema_usage,
)

_N, _D, _M, _E, _I, _U = notices.c, deliveries.c, measures.c, lineage_events.c, incidents.c, schema_usage.c
_A = data_accesses.c
KEPT_ACCESSES = timedelta(days=30)


def _is_expired(before: datetime) -> ColumnElement[bool]:
    """Match notices before a time that wait for nothing: each delivery was made, or its channel was removed.

    A delivery that was given up can be retried as long as its channel exists. The newest notice numbers the next one.
    """
    unfinished = (
        select(_D.notice)
        .join(channels, channels.c.id == _D.channel)
        .where(_D.notice == _N.seq)
        .where(
            or_(_D.state == State.PENDING.value, and_(_D.state == State.DEAD.value, channels.c.removed_at.is_(None)))
        )
    )
    return and_(_N.at < before, ~exists(unfinished), _N.seq < select(func.max(_N.seq)).scalar_subquery())


def count_notices(connection: Connection, before: datetime) -> tuple[int, int]:
    """Count the notices that can be deleted, and their deliveries."""
    expired = select(_N.seq).where(_is_expired(before))
    made = select(func.count()).select_from(deliveries).where(_D.notice.in_(expired))
    return _count(connection, expired), connection.execute(made).scalar_one()


def delete_notices(connection: Connection, before: datetime, limit: int) -> tuple[int, int]:
    """Delete the oldest notices that can be deleted with their deliveries; return the number of both."""
    query = select(_N.seq).where(_is_expired(before)).order_by(_N.seq).limit(limit)
    seqs = connection.execute(query).scalars().all()
    made = 0
    for some in in_batches(seqs):
        made += connection.execute(delete(deliveries).where(_D.notice.in_(some))).rowcount
        connection.execute(delete(notices).where(_N.seq.in_(some)))
    return len(seqs), made


def count_measures(connection: Connection, before: datetime) -> int:
    """Count the measures before a time."""
    return _count(connection, select(_M.at).where(_M.at < before))


def delete_measures(connection: Connection, before: datetime, limit: int) -> int:
    """Delete measures before a time, and return how many; the newest of each kind is stored apart and stays."""
    key = tuple(measures.primary_key)
    rows = connection.execute(select(*key).where(_M.at < before).limit(limit))
    keys: Sequence[tuple[Any, ...]] = [tuple(row) for row in rows]
    for some in in_batches(keys):
        connection.execute(delete(measures).where(tuple_(*key).in_(some)))
    return len(keys)


def count_lineage_events(connection: Connection, before: datetime) -> int:
    """Count the lineage events that were received before a time."""
    return _count(connection, select(_E.id).where(_E.received_at < before))


def delete_lineage_events(connection: Connection, before: datetime, limit: int) -> int:
    """Delete the lineage events that were received before a time, and return how many."""
    ids = connection.execute(select(_E.id).where(_E.received_at < before).limit(limit)).scalars().all()
    for some in in_batches(ids):
        connection.execute(delete(lineage_events).where(_E.id.in_(some)))
    return len(ids)


def count_accesses(connection: Connection, before: datetime) -> int:
    """Count the accesses to published rows before a time, without those that the database keeps."""
    return _count(connection, select(_A.seq).where(_A.at < _deletable_before(connection, before)))


def delete_accesses(connection: Connection, before: datetime, limit: int) -> int:
    """Delete the oldest accesses before a time, and return how many."""
    expired = select(_A.seq).where(_A.at < _deletable_before(connection, before)).order_by(_A.seq).limit(limit)
    seqs = connection.execute(expired).scalars().all()
    for some in in_batches(seqs):
        connection.execute(delete(data_accesses).where(_A.seq.in_(some)))
    return len(seqs)


def _deletable_before(connection: Connection, before: datetime) -> datetime:
    """Return a time, or an earlier one: the database keeps the accesses of the 30 days up to the newest one."""
    newest = connection.execute(select(_A.at).order_by(_A.seq.desc()).limit(1)).scalar_one_or_none()
    return before if newest is None else min(before, newest - KEPT_ACCESSES)


def count_schema_usage(connection: Connection, before: datetime) -> int:
    """Count the uses of schemas on days before a time."""
    return _count(connection, select(_U.day).where(_U.day < before.date()))


def delete_schema_usage(connection: Connection, before: datetime, limit: int) -> int:
    """Delete the uses of schemas on days before a time, and return how many."""
    key = tuple(schema_usage.primary_key)
    rows = connection.execute(select(*key).where(_U.day < before.date()).limit(limit))
    keys: Sequence[tuple[Any, ...]] = [tuple(row) for row in rows]
    for some in in_batches(keys):
        connection.execute(delete(schema_usage).where(tuple_(*key).in_(some)))
    return len(keys)


def count_evidence(connection: Connection, before: datetime) -> int:
    """Count the incidents that were closed before a time and still have their evidence."""
    return _count(connection, select(_I.id).where(_has_old_evidence(before)))


def delete_evidence(connection: Connection, before: datetime, limit: int) -> int:
    """Delete the evidence of incidents that were closed before a time, and return of how many; they stay themselves."""
    ids = connection.execute(select(_I.id).where(_has_old_evidence(before)).limit(limit)).scalars().all()
    for some in in_batches(ids):
        connection.execute(update(incidents).where(_I.id.in_(some)).values(evidence={}))
    return len(ids)


def _has_old_evidence(before: datetime) -> ColumnElement[bool]:
    return and_(_I.closed_at < before, cast(_I.evidence, Text) != "{}")


def _count(connection: Connection, query: Select[Any]) -> int:
    return connection.execute(select(func.count()).select_from(query.subquery())).scalar_one()
