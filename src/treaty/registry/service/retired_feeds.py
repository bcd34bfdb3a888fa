"""Reads of legacy feeds that are retired: a measure of the publication that replaces the feed, and so an incident."""

from __future__ import annotations

from treaty.contracts.versions import Line
from treaty.observability.evidence import LEGACY_READERS
from treaty.observability.measures import LEGACY_READS, Measure, State
from treaty.registry.access.actors import CALENDAR
from treaty.registry.rules import RegistryRules
from treaty.registry.service.confirmations import shown_consumer
from treaty.registry.service.incident_evaluation import evaluate_measures
from treaty.registry.store import Connection, incidents, legacy_feeds, measure_records
from treaty.registry.store.legacy_feeds import StoredFeed
from treaty.registry.store.transaction import Transaction

MAX_READERS = 20


def check_retired_feeds(transaction: Transaction, rules: RegistryRules, line: Line | None = None) -> None:
    """Measure who reads feeds that are retired, of one publication or of all.

    Nothing is recorded as long as nobody does, unless an incident is open that ends thereby.
    """
    retired: dict[Line, list[StoredFeed]] = {}
    for feed in legacy_feeds.all_feeds(transaction.connection):
        if feed.retired_at is not None and line in (None, feed.line):
            retired.setdefault(feed.line, []).append(feed)
    for replaced_by, feeds in retired.items():
        _measure(transaction, rules, replaced_by, feeds)


def readers_since_retirement(connection: Connection, feed: StoredFeed) -> tuple[str, ...]:
    """Return the consumers that were found reading a feed after it was retired, or were declared since."""
    if feed.retired_at is None:
        return ()
    left = legacy_feeds.steps_of(connection, feed.feed).keys()
    found = {read.consumer for read in legacy_feeds.reads_of(connection, feed) if read.at > feed.retired_at}
    return tuple(sorted(found | (set(feed.consumers) - left)))


def _measure(transaction: Transaction, rules: RegistryRules, line: Line, feeds: list[StoredFeed]) -> None:
    connection = transaction.connection
    readers = [
        {
            "consumer": shown_consumer(transaction, consumer),
            "feed": feed.feed,
            "retired": feed.retired_at.date().isoformat() if feed.retired_at else "",
        }
        for feed in feeds
        for consumer in readers_since_retirement(connection, feed)
    ]
    if not readers and not any(
        one.incident.measure == LEGACY_READS for one in incidents.open_incidents(connection, [line])
    ):
        return
    measure = Measure(
        line.contract,
        LEGACY_READS,
        transaction.now,
        len(readers),
        promise=0,
        state=State.FAILING if readers else State.HEALTHY,
        details={LEGACY_READERS: readers[:MAX_READERS]},
        major=line.major,
    )
    fresh = measure_records.unknown_among(connection, [measure])
    if not fresh:
        return
    before = measure_records.current_times(connection, [measure_records.key_of(measure)])
    measure_records.add(transaction, fresh, before, CALENDAR, transaction.now - rules.retention.measures)
    evaluate_measures(transaction, fresh, before, {})
