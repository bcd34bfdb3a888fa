"""Observed usage: what lineage events tell of consumers, beside what they subscribed to."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta

from treaty.consumers.subscriptions import ConsumerClass, Subscription, parse_fields
from treaty.contracts.versions import Line
from treaty.registry.model import UsageAnswer
from treaty.registry.model.usage_answers import UsageState
from treaty.registry.store import Connection, observed_usage, subscriptions
from treaty.registry.store.lifecycle_status import day_of
from treaty.registry.store.observed_usage import ObservedReads, Reader
from treaty.registry.store.subscriptions import Subscribed


@dataclass(frozen=True, slots=True)
class Usage:
    """Whether a consumer reads what it subscribed to, and when it was last seen reading."""

    state: UsageState
    last_read: date | None = None


def first_moment(today: date, window: timedelta) -> datetime:
    """Return the start of the period whose reads count."""
    return datetime.combine(today - window, time(), UTC)


def readers_without_subscription(connection: Connection, line: Line, window: timedelta) -> list[ObservedReads]:
    """Return the consumers that were seen reading a line within the window, and have no subscription to it."""
    subscribed = {row.subscription.consumer for row in subscriptions.subscribers(connection, line)}
    since = first_moment(day_of(connection), window)
    return [reads for reads in observed_usage.readers_of(connection, line, since) if reads.consumer not in subscribed]


def usage_of(connection: Connection, readers: Collection[Reader], window: timedelta) -> dict[Reader, Usage]:
    """Return the usage of consumers by the lines that they read or subscribed to."""
    since = first_moment(day_of(connection), window)
    seen = observed_usage.find_readers(connection, readers)
    watched = observed_usage.observed_lines(connection, {line for _, line in readers}, since)
    subscribed = subscriptions.active_subscriptions(connection, readers)
    return {reader: judge_usage(subscribed.get(reader), seen.get(reader), watched, since) for reader in readers}


def judge_usage(
    row: Subscribed | None, reads: ObservedReads | None, watched: Collection[Line], since: datetime
) -> Usage:
    """Return the usage of one consumer.

    A subscriber is silent if it was last seen before the window, or if it subscribed before the window and events tell
    of other readers of the line, but never of this one.
    """
    last = reads.last_seen.date() if reads is not None else None
    if row is None:
        return Usage("unsubscribed" if reads is not None else "declared", last)
    if reads is not None and reads.last_seen >= since:
        return Usage("read", last)
    if reads is not None or (row.subscription.line in watched and row.since < since):
        return Usage("silent", last)
    return Usage("declared", last)


def with_observed_fields(subscription: Subscription, reads: ObservedReads | None, since: date) -> Subscription:
    """Return a subscription with the fields that its consumer was also seen reading.

    One that declares no fields stays as it is: all that can be said is that no change is safe for it.
    """
    if reads is None or not subscription.fields:
        return subscription
    fields = {str(path) for path in subscription.fields} | set(reads.fields_since(since))
    return replace(subscription, fields=parse_fields(sorted(fields)))


def as_subscription(reads: ObservedReads, since: date) -> Subscription:
    """Return the dependency of a consumer that reads without a subscription."""
    fields = parse_fields(reads.fields_since(since))
    return Subscription(
        reads.consumer, reads.line, ConsumerClass.EXPLORATORY_ANALYTICS, fields, contact=reads.team, is_observed=True
    )


def usage_answer(connection: Connection, reads: ObservedReads, usage: Usage, since: date) -> UsageAnswer:
    """Return the API model of an observed reader."""
    fields = reads.fields_since(since)
    row = subscriptions.find_subscription(connection, reads.consumer, reads.line)
    declared = row.subscription.fields if row is not None and row.active else ()
    undeclared = [
        str(path) for path in parse_fields(fields) if declared and not any(one.covers(path) for one in declared)
    ]
    return UsageAnswer(
        consumer=reads.consumer,
        line=str(reads.line),
        usage=usage.state,
        fields=list(fields),
        undeclared_fields=undeclared,
        unread_fields=_unread_fields(row, reads, since),
        job=reads.job,
        team=reads.team,
        run=reads.run,
        first_seen=reads.first_seen,
        last_seen=reads.last_seen,
        reported_by=reads.reported_by,
    )


def _unread_fields(row: Subscribed | None, reads: ObservedReads, since: date) -> list[str]:
    """Return the declared fields of a consumer that was not seen reading them, although it reads others.

    Nothing is said of a subscription that is newer than the window, or if no event named fields.
    """
    fields = parse_fields(reads.fields_since(since))
    if row is None or not row.active or row.since.date() >= since or not fields:
        return []
    return [
        str(declared)
        for declared in row.subscription.fields
        if not any(declared.covers(path) or path.covers(declared) for path in fields)
    ]
