"""Observed usage: what lineage events show of consumers, beside what they subscribed to."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta

from treaty.consumers.subscriptions import ConsumerClass, Subscription, parse_fields
from treaty.contracts.paths import FieldPath
from treaty.contracts.versions import Line
from treaty.registry.model import UsageAnswer
from treaty.registry.model.usage_answers import UsageState
from treaty.registry.store import Connection, observed_usage, subscriptions
from treaty.registry.store.lifecycle_status import day_of
from treaty.registry.store.observed_usage import ObservedReads, Reader
from treaty.registry.store.subscriptions import Subscribed


@dataclass(frozen=True, slots=True)
class Usage:
    """Whether a consumer reads what it subscribed to, and when it was last seen reading.

    The field lists are computed on request. Both are empty unless it is known which fields the consumer reads.
    """

    state: UsageState
    last_read: date | None = None
    declared: tuple[FieldPath, ...] = ()
    """The fields of its active subscription."""
    read_fields: tuple[str, ...] = ()
    """The fields that it was seen reading within the window."""
    is_watched: bool = False
    """Whether it subscribed before the window, so that a field not read by now counts as unread."""

    @property
    def undeclared_fields(self) -> list[str]:
        """The fields that the consumer was seen reading and that its subscription does not name."""
        if not self.declared:
            return []
        read = parse_fields(self.read_fields)
        return [str(path) for path in read if not any(declared.covers(path) for declared in self.declared)]

    @property
    def unread_fields(self) -> list[str]:
        """The declared fields that the consumer was not seen reading within the window, although it reads others."""
        if not self.is_watched or not self.read_fields:
            return []
        read = parse_fields(self.read_fields)
        return [str(declared) for declared in self.declared if not any(declared.touches(path) for path in read)]


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
    fields = reads.fields_since(since.date()) if reads is not None else ()
    if row is None:
        return Usage("unsubscribed" if reads is not None else "declared", last, read_fields=fields)
    state: UsageState = "declared"
    if reads is not None and reads.last_seen >= since:
        state = "read"
    elif reads is not None or (row.subscription.line in watched and row.since < since):
        state = "silent"
    return Usage(state, last, row.subscription.fields, fields, row.since.date() < since.date())


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


def usage_answer(reads: ObservedReads, usage: Usage) -> UsageAnswer:
    """Return the API model of an observed reader."""
    return UsageAnswer(
        consumer=reads.consumer,
        line=str(reads.line),
        usage=usage.state,
        fields=list(usage.read_fields),
        undeclared_fields=usage.undeclared_fields,
        unread_fields=usage.unread_fields,
        job=reads.job,
        team=reads.team,
        run=reads.run,
        first_seen=reads.first_seen,
        last_seen=reads.last_seen,
        reported_by=reads.reported_by,
    )
