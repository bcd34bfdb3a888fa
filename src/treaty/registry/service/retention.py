"""Retention: deletes delivered notices, measures, events, uses of schemas and replaced secrets after their time.

The audit log, versions and everything else in the history are never deleted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
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
    notices_before, measures_before, events_before = _limits(context)
    with context.database.read() as connection:
        notices, deliveries = expired_rows.count_notices(connection, notices_before)
        return RetentionAnswer(
            dry_run=True,
            notices=notices,
            deliveries=deliveries,
            measures=expired_rows.count_measures(connection, measures_before),
            secrets=count_ended_rotations(connection, context.now),
            lineage_events=expired_rows.count_lineage_events(connection, events_before),
            evidence=expired_rows.count_evidence(connection, measures_before),
            schema_uses=expired_rows.count_schema_usage(connection, measures_before),
        )


def delete_expired(context: Context, batch: int = BATCH) -> RetentionAnswer:
    """Delete what has expired, in transactions of a limited size; deleted notices are recorded in the audit log."""
    context = replace(context, asked_at=None)  # by the clock, whatever time is shown
    expected = count_expired(context)
    notices_before, measures_before, events_before = _limits(context)
    notices = deliveries = secrets = 0
    while notices < expected.notices:
        some = context.database.write(lambda transaction: _delete_notices(transaction, notices_before, batch))
        if not some[0]:
            break
        notices, deliveries = notices + some[0], deliveries + some[1]
    measures = _delete_in_batches(context, expected.measures, expired_rows.delete_measures, measures_before, batch)
    events = _delete_in_batches(
        context, expected.lineage_events, expired_rows.delete_lineage_events, events_before, batch
    )
    evidence = _delete_in_batches(context, expected.evidence, expired_rows.delete_evidence, measures_before, batch)
    uses = _delete_in_batches(context, expected.schema_uses, expired_rows.delete_schema_usage, measures_before, batch)
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


def _limits(context: Context) -> tuple[datetime, datetime, datetime]:
    """Return the times before which notices, measures and lineage events are deleted: midnights, so once a day."""
    midnight = datetime.combine(context.today, time(), UTC)
    rules = context.rules.retention
    return midnight - rules.notices, midnight - rules.measures, midnight - rules.lineage_events


def _delete_notices(transaction: Transaction, before: datetime, batch: int) -> tuple[int, int]:
    notices, deliveries = transaction.change(lambda connection: expired_rows.delete_notices(connection, before, batch))
    if notices:
        details = {"notices": notices, "deliveries": deliveries, "before": before.isoformat()}
        transaction.record(CALENDAR, "notices.delete", "notices", details=details)
    return notices, deliveries
