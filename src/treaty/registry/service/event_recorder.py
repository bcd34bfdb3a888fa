"""Records what lineage events tell: datasets resolved to lines, jobs to consumers or producers.

A job that writes a line of which the sender may report measures is a producer: the line is derived from what the job
reads. Every other job is a consumer of what it reads. An event counts once, however often it is sent.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from treaty.contracts.model import locate_fields
from treaty.contracts.paths import FieldPath, parse_path
from treaty.contracts.versions import Line, try_parse_line
from treaty.errors import InvalidDocument
from treaty.legacy.cutover import reads_feed
from treaty.observability.dataset_names import TREATY_NAMESPACE, DatasetName
from treaty.observability.lineage_reader import EventOutput, LineageEvent
from treaty.registry.access.actors import Actor
from treaty.registry.access.permissions import Action, Resource, may
from treaty.registry.documents import MAX_NAME_LENGTH
from treaty.registry.model import LineageReceiptAnswer
from treaty.registry.service.event_inbox import Requests
from treaty.registry.service.line_lineage import declared_upstreams
from treaty.registry.service.seen_readers import SeenReaders, Sighting
from treaty.registry.store import datasets, legacy_feeds, lineage, observed_usage, subscriptions, versions
from treaty.registry.store.datasets import LineObject
from treaty.registry.store.legacy_feeds import StoredFeed
from treaty.registry.store.lineage import UsedFields
from treaty.registry.store.observed_usage import ObservedReads
from treaty.registry.store.transaction import Transaction
from treaty.registry.store.visibility import Sight

MAX_READERS = 2_000
"""Consumers of a line that are told apart; jobs beyond them count under the name of their namespace."""

_MAX_UNRESOLVED = 20
_FINISHED = frozenset({"COMPLETE", "OTHER", "RUNNING", "JOB"})
"""Types of events whose outputs have been written, or are described as they are."""


class EventRecorder:
    """Records the events of some requests of an actor in a transaction."""

    def __init__(
        self, transaction: Transaction, actor: Actor, sight: Sight, seen: SeenReaders, sightings: set[Sighting]
    ) -> None:
        self._transaction = transaction
        self._connection = transaction.connection
        self._actor = actor
        self._sight = sight
        self._seen = seen
        self._sightings = sightings
        self._answers = seen.answers(transaction)
        self.new_readers: list[tuple[str, Line, str | None]] = []
        """Consumers that events show reading a line for the first time, with their team."""
        self.retired_reads: set[Line] = set()
        """The publications that replace retired legacy feeds of which events told reads."""

    def record(self, requests: Requests) -> list[LineageReceiptAnswer]:
        """Store the events and what they tell; return what became of each request."""
        events = [event for request in requests for event in request]
        new = observed_usage.add_events(self._transaction, events)
        named: dict[Line, list[DatasetName]] = {}
        for event in new:
            for output in event.outputs:
                if (line := self._named_line(output)) is not None:
                    named.setdefault(line, []).extend(output.names)
        for line, names in named.items():
            self._name_datasets(line, names)
        lines = self._resolve({name for event in events for name in event.names})
        for event in new:
            self._observe(event, lines)
        hidden = {name for name in lines if not any(self._sight.sees(one.line.contract) for one in lines[name])}
        unseen = {event.id for event in new}
        receipts = []
        for request in requests:
            recorded = {event.id for event in request} & unseen
            unseen -= recorded  # an event that two requests send is new in the first one
            receipts.append(_receipt(request, len(recorded), hidden))
        return receipts

    def _named_line(self, output: EventOutput) -> Line | None:
        """Return the line that an output names itself, if the sender may report about it."""
        line = try_parse_line(output.line) if output.line else None
        return line if line is not None and self._may_report(line) else None

    def _name_datasets(self, line: Line, names: Sequence[DatasetName]) -> None:
        own = [name for name in names if name.namespace != TREATY_NAMESPACE]
        if not own or self._answers.get(("named", line)) == own:
            return
        if new := datasets.add_named_by_run(self._transaction, line, own):
            details = {"datasets": [f"{name.namespace} {name.name}" for name in new]}
            self._transaction.record(self._actor.name, "dataset.name", str(line), details=details)
            self._answers = {}
        self._answers["named", line] = own

    def _resolve(self, names: set[DatasetName]) -> dict[DatasetName, list[LineObject]]:
        unknown = [name for name in names if ("dataset", name) not in self._answers]
        if unknown:
            found = datasets.find_lines(self._connection, unknown)
            for name in unknown:
                self._answers["dataset", name] = self._treaty_line(name) or found.get(name, [])
        return {name: self._answers["dataset", name] for name in names}

    def _treaty_line(self, name: DatasetName) -> list[LineObject]:
        """Return the line of a dataset that is named by its line or contract."""
        if name.namespace != TREATY_NAMESPACE:
            return []
        line = try_parse_line(name.name)
        if line is not None and versions.versions_in_line(self._connection, line):
            return [LineObject(line)]
        highest = versions.highest(self._connection, name.name)
        return [] if highest is None else [LineObject(highest.line)]

    def _may_report(self, line: Line) -> bool:
        key = "teams", line
        if key not in self._answers:
            members = versions.versions_in_line(self._connection, line)
            self._answers[key] = members[0].teams if members else None
        teams = self._answers[key]
        return (
            teams is not None
            and self._sight.sees(line.contract)
            and may(self._actor, Action.NOTIFY, Resource("contract", line.contract, teams))
        )

    def _observe(self, event: LineageEvent, lines: Mapping[DatasetName, list[LineObject]]) -> None:
        if event.job is None or event.is_test:
            return
        self._observe_legacy_reads(event)
        inputs = _distinct(one for source in event.inputs for name in source.names for one in lines[name])
        used = [
            (one, name) for output in event.outputs for dataset, name in output.used_fields for one in lines[dataset]
        ]
        inputs = _distinct((*inputs, *(one for one, _ in used)))
        outputs = {
            one.line: output
            for output in event.outputs
            for name in output.names
            for one in lines[name]
            if self._may_report(one.line)
        }
        if not inputs:
            return
        if outputs and event.type in _FINISHED:
            for line, output in outputs.items():
                self._observe_upstreams(line, output, inputs, lines)
        consumer, is_subscribed = self._consumer(event)
        if outputs and not is_subscribed:
            return
        fields: dict[Line, set[str]] = {one.line: set() for one in inputs if one.line not in outputs}
        for one, name in used:
            if one.line in fields and (path := self._field(one, name)) is not None:
                fields[one.line].add(path)
        for line, paths in fields.items():
            self._see_reader(consumer, line, paths, event)

    def _observe_legacy_reads(self, event: LineageEvent) -> None:
        """Store that a job read legacy feeds, by the names of tables that they declare, once for each day."""
        assert event.job is not None  # noqa: S101 - events without a job observe nothing
        written = {feed.feed for output in event.outputs for name in output.names for feed in self._feeds(name)}
        read = {feed.feed: feed for source in event.inputs for name in source.names for feed in self._feeds(name)}
        for name, feed in read.items():
            if name in written:
                continue
            consumer, _ = self._consumer(event)
            key = "legacy read", name, consumer, event.at.date()
            if key in self._answers:
                continue
            at = min(event.at, self._transaction.now)
            legacy_feeds.put_observed_read(
                self._transaction,
                name,
                consumer,
                job=str(event.job),
                team=event.team,
                at=at,
                reporter=self._actor.name,
            )
            self._answers[key] = True
            if feed.retired_at is not None and at > feed.retired_at:
                self.retired_reads.add(feed.line)

    def _feeds(self, name: DatasetName) -> list[StoredFeed]:
        """Return the legacy feeds that a dataset is."""
        if "legacy feeds" not in self._answers:
            self._answers["legacy feeds"] = legacy_feeds.all_feeds(self._connection)
        feeds: list[StoredFeed] = self._answers["legacy feeds"]
        return [feed for feed in feeds if reads_feed(name.name, feed.names)]

    def _consumer(self, event: LineageEvent) -> tuple[str, bool]:
        """Return the consumer that a job belongs to, and whether a consumer of that name is known.

        It is the job, or the job that started it, if one of them has the name of a consumer. Otherwise it is the
        first of the jobs, such as the DAG of a task or the application of a query.
        """
        assert event.job is not None  # noqa: S101 - events without a job observe nothing
        key = "consumer", event.job, event.ancestors
        if key not in self._answers:
            jobs = (event.job, *event.ancestors)
            names = dict.fromkeys(name for job in jobs for name in (job.name, str(job)))
            known = subscriptions.known_consumers(self._connection, list(names))
            match = next((name for name in names if name in known), None)
            self._answers[key] = (match, True) if match is not None else (_valid_name(jobs[-1].name), False)
        answer: tuple[str, bool] = self._answers[key]
        return answer

    def _field(self, place: LineObject, name: str) -> str | None:
        """Return the path of a field by its name in an event, whatever its case; None if the line has no such field."""
        key = "fields", place.line
        if key not in self._answers:
            members = versions.versions_in_line(self._connection, place.line)
            contract = versions.contract_of(self._connection, members[0]) if members else None
            paths = [str(path) for path, _, _ in locate_fields(contract)] if contract else []
            self._answers[key] = {path.lower(): path for path in paths}
        by_name: dict[str, str] = self._answers[key]
        path = by_name.get(name.lower()) if place.object is None else None  # most names are paths as they are
        return path or by_name.get(_field_name(place.object, name).lower())

    def _see_reader(self, consumer: str, line: Line, fields: set[str], event: LineageEvent) -> None:
        """Store that a consumer read fields of a line, unless it is stored for that day already."""
        names: Sequence[str | None] = sorted(fields) or [None]
        seen = [Sighting(consumer, line, event.at.date(), name) for name in names]
        if all(sighting in self._sightings or self._seen.has(sighting) for sighting in seen):
            return
        now = self._transaction.now
        before = observed_usage.find_readers(self._connection, [(consumer, line)]).get((consumer, line))
        if before is None and observed_usage.count_readers(self._connection, line) >= MAX_READERS:
            consumer = _valid_name(event.job.namespace if event.job else consumer)
            before = observed_usage.find_readers(self._connection, [(consumer, line)]).get((consumer, line))
        at = min(event.at, now)
        after_ = _merged(before, consumer, line, fields, event, at, self._actor.name)
        if before is None or not fields <= before.fields.keys():
            new = sorted(fields - (before.fields.keys() if before else set()))
            details = {"consumer": consumer, "fields": new, "job": after_.job}
            revision = self._transaction.record(self._actor.name, "usage.observe", str(line), details=details)
            after_ = replace(after_, revision=revision)
        observed_usage.put_reader(self._transaction, after_, is_new=before is None)
        if before is None and subscriptions.find_subscription(self._connection, consumer, line) is None:
            self.new_readers.append((consumer, line, event.team))
        self._sightings.update(seen)

    def _observe_upstreams(
        self,
        line: Line,
        output: EventOutput,
        inputs: Sequence[LineObject],
        lines: Mapping[DatasetName, list[LineObject]],
    ) -> None:
        """Complete what runs observed of the lineage of a line; what they observed before stays."""
        used = {one.line: UsedFields() for one in inputs if one.line != line}
        for upstream in used:
            used[upstream] = self._used_fields(line, upstream, output, lines)
        key = "upstreams", line
        data = {upstream: fields.as_data for upstream, fields in used.items()}
        if self._answers.get(key) == data:
            return
        before = lineage.observed_upstreams(self._connection, line)
        changes: dict[tuple[str, int], Any] = {}
        for upstream, fields in used.items():
            known = before.get(upstream)
            after_ = fields if known is None or not known.are_known else known | fields if fields.are_known else known
            if known is None or known != after_:
                changes[upstream.contract, upstream.major] = after_.as_data
        if changes:
            self._record_upstreams(line, changes)
        self._answers[key] = data

    def _record_upstreams(self, line: Line, changes: Mapping[tuple[str, int], Any]) -> None:
        members = versions.versions_in_line(self._connection, line)
        names = sorted(str(Line(*key)) for key in changes)
        revision = self._transaction.record(
            self._actor.name, "lineage.observe", str(line), details={"upstreams": names, "by": "event"}
        )
        lineage.put_observed(self._transaction, line, changes, revision)
        declared = declared_upstreams(self._connection, versions.contract_of(self._connection, members[0]), line)
        lineage.replace_upstreams(self._transaction, line, declared, revision)
        self._answers = {}

    def _used_fields(
        self, line: Line, upstream: Line, output: EventOutput, lines: Mapping[DatasetName, list[LineObject]]
    ) -> UsedFields:
        """Return the fields of an upstream that an output is computed from."""

        def paths(sources: Iterable[tuple[DatasetName, str]]) -> frozenset[str]:
            found = (
                self._field(one, name) for dataset, name in sources for one in lines[dataset] if one.line == upstream
            )
            return frozenset(path for path in found if path is not None)

        mappings: dict[str, frozenset[str]] = {}
        others = paths(output.filters)
        for column in sorted(output.columns):
            sources = paths(output.columns[column])
            target = self._field(LineObject(line), column)
            if not sources:
                continue
            if target is None:
                others |= sources
            else:
                mappings[target] = mappings.get(target, frozenset()) | sources
        return UsedFields(others, mappings)


def _receipt(events: Sequence[LineageEvent], recorded: int, hidden: Collection[DatasetName]) -> LineageReceiptAnswer:
    unresolved = sorted({name for event in events for name in event.names if name in hidden})[:_MAX_UNRESOLVED]
    return LineageReceiptAnswer(
        recorded=recorded,
        known=len(events) - recorded,
        unresolved=[f"{name.namespace} {name.name}" for name in unresolved],
    )


def _distinct(places: Iterable[LineObject]) -> tuple[LineObject, ...]:
    return tuple(dict.fromkeys(places))


def _merged(
    before: ObservedReads | None,
    consumer: str,
    line: Line,
    fields: Iterable[str],
    event: LineageEvent,
    at: datetime,
    reporter: str,
) -> ObservedReads:
    """Return what is known of a reader after an event; events may arrive in any order."""
    assert event.job is not None  # noqa: S101 - events without a job observe nothing
    days = dict(before.fields) if before is not None else {}
    for name in fields:
        days[name] = max(days.get(name, ""), at.date().isoformat())
    newest = before is None or at >= before.last_seen
    return ObservedReads(
        consumer,
        line,
        str(event.job) if newest or before is None else before.job,
        event.team if event.team or before is None else before.team,
        days,
        at if before is None else min(at, before.first_seen),
        at if before is None else max(at, before.last_seen),
        event.run if newest or before is None else before.run,
        reporter,
        before.revision if before is not None else 0,
    )


def _field_name(owner: str | None, name: str) -> str:
    """Return the path of a field by the name that an event gives it: a path, or a name with any character."""
    try:
        path = parse_path(name)
    except InvalidDocument:
        path = FieldPath().field(name)
    return str(replace(path, object=owner))


def _valid_name(text: str) -> str:
    """Return a name of a consumer for any name of a job: printable, and with a digest in place of what is too long."""
    name = "".join(character if character.isprintable() else " " for character in text).strip() or "unnamed job"
    if len(name) <= MAX_NAME_LENGTH:
        return name
    return f"{name[: MAX_NAME_LENGTH - 13].rstrip()} {hashlib.sha256(name.encode()).hexdigest()[:12]}"
