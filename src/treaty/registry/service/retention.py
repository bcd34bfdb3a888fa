"""Retention: deletes notices, measures, events, accesses, uses of schemas and replaced secrets after their time.

The audit log, versions and everything else in the history are never deleted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, time

from treaty.registry.access.actors import CALENDAR
from treaty.registry.access.permissions import Action, authorize
from treaty.registry.model import RetentionAnswer
from treaty.registry.service.channel_secrets import count_ended_rotations, end_rotations
from treaty.registry.service.context import EVERYTHING, Context
from treaty.registry.store import Connection, expired_rows
from treaty.registry.store.transaction import Transaction

BATCH = 1_000
"""Rows that one transaction deletes, so that other writers do not wait for long."""


def count_expired(context: Context) -> RetentionAnswer:
    """Count what `delete_expired` would delete now."""
    authorize(context.actor, Action.TICK, EVERYTHING)
    limits = _limits(context)
    with context.database.read() as connection:
        notices, deliveries = expired_rows.count_notices(connection, limits.notices)
        return RetentionAnswer(
            dry_run=True,
            notices=notices,
            deliveries=deliveries,
            measures=expired_rows.count_measures(connection, limits.measures),
            secrets=count_ended_rotations(connection, context.now),
            lineage_events=expired_rows.count_lineage_events(connection, limits.events),
            evidence=expired_rows.count_evidence(connection, limits.measures),
            schema_uses=expired_rows.count_schema_usage(connection, limits.measures),
            accesses=expired_rows.count_accesses(connection, limits.accesses),
        )


def delete_expired(context: Context, batch: int = BATCH) -> RetentionAnswer:
    """Delete what has expired, in transactions of a limited size; deleted notices are recorded in the audit log."""
    context = replace(context, asked_at=None)  # by the clock, whatever time is shown
    expected = count_expired(context)
    limits = _limits(context)
    notices = deliveries = secrets = 0
    while notices < expected.notices:
        some = context.database.write(lambda transaction: _delete_notices(transaction, limits.notices, batch))
        if not some[0]:
            break
        notices, deliveries = notices + some[0], deliveries + some[1]
    measures = _delete_in_batches(context, expected.measures, expired_rows.delete_measures, limits.measures, batch)
    events = _delete_in_batches(
        context, expected.lineage_events, expired_rows.delete_lineage_events, limits.events, batch
    )
    evidence = _delete_in_batches(context, expected.evidence, expired_rows.delete_evidence, limits.measures, batch)
    uses = _delete_in_batches(context, expected.schema_uses, expired_rows.delete_schema_usage, limits.measures, batch)
    accesses = 0
    while accesses < expected.accesses:
        count = context.database.write(lambda transaction: _delete_accesses(transaction, limits.accesses, batch))
        if not count:
            break
        accesses += count
    if expected.secrets:
        secrets = context.database.write(end_rotations)
    return RetentionAnswer(
        dry_run=False,
        notices=notices,
        deliveries=deliveries,
        measures=measures,
        secrets=secrets,
        lineage_events=events,
        evidence=evidence,
        schema_uses=uses,
        accesses=accesses,
    )


def _delete_in_batches(
    context: Context,
    expected: int,
    delete: Callable[[Connection, datetime, int], int],
    before: datetime,
    batch: int,
) -> int:
    """Delete the rows that were expected before a time, in transactions of a limited size; return how many."""
    deleted = 0
    while deleted < expected:
        count = context.database.change(lambda connection: delete(connection, before, batch))
        if not count:
            break
        deleted += count
    return deleted


@dataclass(frozen=True)
class _Limits:
    """The times before which rows are deleted: midnights, so that it happens once a day."""

    notices: datetime
    measures: datetime
    events: datetime
    accesses: datetime


def _limits(context: Context) -> _Limits:
    midnight = datetime.combine(context.today, time(), UTC)
    rules = context.rules.retention
    return _Limits(
        midnight - rules.notices, midnight - rules.measures, midnight - rules.lineage_events, midnight - rules.accesses
    )


def _delete_accesses(transaction: Transaction, before: datetime, batch: int) -> int:
    accesses = transaction.change(lambda connection: expired_rows.delete_accesses(connection, before, batch))
    if accesses:
        details = {"accesses": accesses, "before": before.isoformat()}
        transaction.record(CALENDAR, "accesses.delete", "accesses", details=details)
    return accesses


def _delete_notices(transaction: Transaction, before: datetime, batch: int) -> tuple[int, int]:
    notices, deliveries = transaction.change(lambda connection: expired_rows.delete_notices(connection, before, batch))
    if notices:
        details = {"notices": notices, "deliveries": deliveries, "before": before.isoformat()}
        transaction.record(CALENDAR, "notices.delete", "notices", details=details)
    return notices, deliveries
