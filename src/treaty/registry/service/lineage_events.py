"""Lineage events and the access log: what is sent to the registry, and who was seen reading what."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import replace
from typing import Any

from treaty.contracts.versions import try_parse_line
from treaty.errors import InvalidDocument
from treaty.observability.lineage_reader import LineageEvent, read_event
from treaty.registry.access.actors import local_actor
from treaty.registry.access.permissions import Action, Resource, authorize
from treaty.registry.api import LineageApi
from treaty.registry.model import AccessReport, DataAccessAnswer, LineageReceiptAnswer, Page, UsageAnswer
from treaty.registry.model.page import PAGE, after, check_limit, page_of
from treaty.registry.service.context import Context
from treaty.registry.service.data_accesses import ACCESS_REPORTER, access_events, check_reports, list_accesses
from treaty.registry.service.direct_reads import notify_of_read
from treaty.registry.service.event_inbox import Requests
from treaty.registry.service.event_recorder import EventRecorder
from treaty.registry.service.observed_usage import usage_answer, usage_of
from treaty.registry.service.retired_feeds import check_retired_feeds
from treaty.registry.service.seen_readers import Sighting
from treaty.registry.store import Connection, dependency_map, observed_usage
from treaty.registry.store.data_accesses import DataAccess, add_accesses
from treaty.registry.store.transaction import Transaction
from treaty.registry.store.visibility import Visibility

MAX_EVENTS = 1_000


class Lineage(LineageApi):
    """The lineage events of a registry."""

    def __init__(self, context: Context) -> None:
        self._context = context

    def record(self, events: Sequence[Mapping[str, Any]]) -> LineageReceiptAnswer:
        """Store up to 1,000 OpenLineage events; an event that was received before changes nothing."""
        if len(events) > MAX_EVENTS:
            raise InvalidDocument(f"{len(events):,} events at once; send {MAX_EVENTS:,} at most")
        several = len(events) > 1
        return self.record_parsed(
            [read_event(event, f"event {number}" if several else "the event") for number, event in enumerate(events)]
        )

    def record_parsed(self, events: Sequence[LineageEvent]) -> LineageReceiptAnswer:
        """Store events that were read already."""
        return self.submit(events).result()

    def submit(self, events: Sequence[LineageEvent]) -> Future[LineageReceiptAnswer]:
        """Queue events; the future is done once they are durable. Requests that wait at the same time are one batch."""
        context, actor = self._context, self._context.actor
        teams = frozenset(grant.team for grant in actor.grants if grant.team is not None)
        authorize(actor, Action.NOTIFY, Resource("registry", "lineage", teams))
        sightings: set[Sighting] = set()

        def record(transaction: Transaction, requests: Requests) -> list[LineageReceiptAnswer]:
            context.check_in_force(transaction)
            sightings.clear()  # the batch may run again
            recorder = EventRecorder(transaction, actor, context.sight(transaction), context.seen_readers, sightings)
            receipts = recorder.record(requests)
            for consumer, line, team in recorder.new_readers:
                if (known := dependency_map.class_of(transaction.connection, consumer)) is not None:
                    notify_of_read(transaction, context.rules, consumer, line, known, team)
            for line in recorder.retired_reads:
                check_retired_feeds(transaction, context.rules, line)
            return receipts

        def submit(
            unit: Callable[[Transaction], list[LineageReceiptAnswer]],
        ) -> Future[list[LineageReceiptAnswer]]:
            batch = context.submit(unit)
            batch.add_done_callback(lambda done: None if done.exception() else context.seen_readers.add(sightings))
            return batch

        return context.event_inbox.put(actor, events, record, submit)

    def usage(
        self,
        *,
        contract: str | None = None,
        consumer: str | None = None,
        cursor: str | None = None,
        limit: int = PAGE,
    ) -> Page[UsageAnswer]:
        """List who was seen reading which line and fields, by consumer and line."""
        check_limit(limit)
        name, of, major = after(cursor, "", "", -1)
        start = (str(name), str(of), int(major)) if cursor else None
        context = self._context
        window = context.rules.usage_window

        def read(connection: Connection, visibility: Visibility) -> list[UsageAnswer]:
            rows = observed_usage.page_of_readers(connection, visibility, contract, consumer, start, limit + 1)
            usages = usage_of(connection, [row.reader for row in rows], window)
            return [usage_answer(row, usages[row.reader]) for row in rows]

        return page_of(context.read(read), limit, _place)

    def accesses(
        self,
        *,
        contract: str | None = None,
        consumer: str | None = None,
        decision: str | None = None,
        cursor: str | None = None,
        limit: int = PAGE,
    ) -> Page[DataAccessAnswer]:
        """List who asked for published rows, the newest first; without a contract, only stewards may."""
        return list_accesses(self._context, contract, consumer, decision, cursor, limit)

    def report_accesses(self, reports: Sequence[AccessReport]) -> int:
        """Append up to 1,000 accesses that bypassed the read API to the log; return their number."""
        accesses = check_reports(self._context, reports)
        record_accesses(self._context, accesses)
        return len(accesses)


def record_accesses(context: Context, accesses: Sequence[DataAccess]) -> None:
    """Append accesses to the log in one transaction, and count what was read as observed usage."""
    if not accesses:
        return
    context.database.write(lambda transaction: add_accesses(transaction, accesses))
    reporter = replace(context, actor=local_actor(ACCESS_REPORTER), asked_at=None, limited_to=None)
    events = list(access_events(accesses))
    for start in range(0, len(events), MAX_EVENTS):
        Lineage(reporter).record_parsed(events[start : start + MAX_EVENTS])


def _place(usage: UsageAnswer) -> tuple[str, str, int]:
    line = try_parse_line(usage.line)
    assert line is not None  # noqa: S101 - it was written as a line
    return usage.consumer, line.contract, line.major
