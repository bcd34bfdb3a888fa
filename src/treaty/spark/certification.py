"""Certify a publisher on Spark: its records are parsed once, checked one by one, and folded by key."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import reduce
from typing import Any

from pyspark.sql import Column, Row
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from treaty.contracts.model import Contract
from treaty.events.certification import (
    Certification,
    CertifiedContract,
    Coverage,
    CoverageKind,
    Evidence,
    Violations,
    check_results,
)
from treaty.events.checks import SINGLE_DELIVERY, CheckId, CheckTarget, applicable_checks, identity_of
from treaty.events.event_times import event_time_field, promised_percentile
from treaty.events.state_machine import broken_invariant, refused_move
from treaty.events.streams import streams_of
from treaty.spark.checked_events import AT, EVENT, KEY, ROW_CHECKS, SALT, WARNING_BIT, CheckedEvents, check_bit
from treaty.spark.event_records import Records, TypeSurvey, refuse_without_events, survey, typed_records
from treaty.spark.readers.read_errors import explain_errors
from treaty.spark.schema import spark_type
from treaty.spark.stream_rules import StreamFlag, StreamRules, stream_rules

_STREAM_CHECKS = {
    StreamFlag.CONFLICT: CheckId.CONFLICT,
    StreamFlag.SEQUENCE: CheckId.SEQUENCE,
    StreamFlag.GAP: CheckId.GAPS,
    StreamFlag.PARTITION: CheckId.PARTITION,
    StreamFlag.DUPLICATE: CheckId.DUPLICATES,
    StreamFlag.MOVE: CheckId.MOVE,
}
_EVENTS, _FOLD = "_events", "_fold"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def _micros(name: str) -> Column:
    return F.unix_micros(F.col(name))


@dataclass(frozen=True)
class KeyGroup:
    """The contracts that share keys: those of one stream, or a single one."""

    types: tuple[CheckedEvents, ...]
    rules: StreamRules

    def by_type(self, number: int) -> CheckedEvents:
        """Return a type by its number in the rules."""
        return next(one for one in self.types if one.name == self.rules.types[number])

    def totals(self) -> list[Row]:
        """Fold the events of each key, and return the totals and what was found, by type and flags, in one job."""
        masks = [name for one in self.types for name in one.mask_names]
        parts = [one.with_events(self.rules) for one in self.types]
        rows = reduce(lambda left, right: left.unionByName(right, allowMissingColumns=True), parts)
        event = rows.schema[EVENT].dataType
        assert isinstance(event, spark.StructType)  # noqa: S101  built above
        keys = rows.groupBy(KEY, SALT).agg(
            F.collect_list(EVENT).alias(_EVENTS),
            F.min(_micros(AT)).alias("first_at"),
            F.max(_micros(AT)).alias("last_at"),
            *[F.bit_or(name).alias(name) for name in masks],
        )
        folded = keys.withColumn(_FOLD, F.when(F.col(KEY).isNotNull(), self.rules.fold(_EVENTS, event)))
        alone = F.transform(
            F.filter(F.col(_EVENTS), lambda one: one["flags"] != F.lit(0)),
            lambda one: F.struct(
                one["o"]["type"].alias("type"),
                one["flags"].alias("flags"),
                one["o"]["arrival"].alias("arrival"),
                one["o"]["sequence"].cast("string").alias("sequence"),
                F.lit(None).cast("int").alias("state"),
                F.lit(None).cast("string").alias("last"),
            ),
        )
        found = F.concat(alone, F.coalesce(F.col(f"{_FOLD}.found"), F.slice(alone, 1, 0)))
        flat = folded.select(
            KEY,
            F.size(_EVENTS).alias("events"),
            F.col(f"{_FOLD}.duplicates").alias("duplicates"),
            F.col(f"{_FOLD}.states").alias("states"),
            "first_at",
            "last_at",
            *masks,
            F.explode(F.concat(F.array(F.lit(None)), found)).alias("found"),
        )
        return (
            flat.groupBy(F.col("found.type").alias("type"), F.col("found.flags").alias("flags"))
            .agg(
                F.count(F.lit(1)).alias("rows"),
                F.min(
                    F.struct(
                        F.col("found.arrival").alias("arrival"),
                        F.col(KEY).alias("key"),
                        F.col("found.sequence").alias("sequence"),
                        F.col("found.state").alias("state"),
                        F.col("found.last").alias("last"),
                    )
                ).alias("first"),
                F.count(KEY).alias("keys"),
                F.sum("duplicates").alias("duplicates"),
                F.bit_or("states").alias("states"),
                F.min("first_at").alias("first_at"),
                F.max("last_at").alias("last_at"),
                *[F.bit_or(name).alias(name) for name in masks],
            )
            .collect()
        )

    def violations(self, rows: Sequence[Row]) -> Iterator[tuple[CheckId, Violations]]:
        """Yield what the fold found, and the late share; rules on single events are described apart."""
        late: dict[str, list[Row]] = defaultdict(list)
        failed: dict[str, set[CheckId]] = defaultdict(set)
        for row in rows:
            if row["type"] is None:
                continue
            checked = self.by_type(row["type"])
            flags, first = row["flags"], row["first"]
            failed[checked.name] |= {check for check in ROW_CHECKS if flags & check_bit(check)}
            if flags & WARNING_BIT:
                failed[checked.name].add(CheckId.RULES)
            if flags & check_bit(CheckId.LATENCY):
                late[checked.name].append(row)
            if flags & check_bit(CheckId.CLOCK):
                yield CheckId.CLOCK, self._clock(checked, row)
            if flags & check_bit(CheckId.IDENTITY):
                text = f"must have its identity: {', '.join(identity_of(checked.target))}"
                yield CheckId.IDENTITY, Violations(checked.name, row["rows"], text)
            for flag, check in _STREAM_CHECKS.items():
                if flags & flag:
                    message = self._message(flag, checked, first)
                    key = checked.show_key(first["key"])
                    sequence = first["sequence"] if checked.target.ordering else None
                    yield check, Violations(checked.name, row["rows"], message, key=key, sequence=sequence)
            for rule in self.rules.broken(flags):
                invariant = rule.invariant
                key = checked.show_key(first["key"])
                yield (
                    CheckId.INVARIANT,
                    Violations(
                        checked.name,
                        row["rows"],
                        broken_invariant(invariant),
                        invariant.severity,
                        f"{CheckId.INVARIANT}.{invariant.name}",
                        key=key,
                        sequence=first["sequence"],
                    ),
                )
        for checked in self.types:
            yield from self._late(checked, late[checked.name])
            yield from checked.details(failed[checked.name] - {CheckId.IDENTITY})

    def _clock(self, checked: CheckedEvents, row: Row) -> Violations:
        field = event_time_field(checked.contract)
        return Violations(
            checked.name,
            row["rows"],
            "must not be later than the arrival; the clock of the publisher is ahead, or it sends local time as UTC",
            field=field.name if field else None,
            key=checked.show_key(row["first"]["key"]),
            sequence=row["first"]["sequence"],
        )

    def _late(self, checked: CheckedEvents, rows: Sequence[Row]) -> Iterator[tuple[CheckId, Violations]]:
        """Yield the late events if they are more than the promised percentile allows."""
        count = sum(row["rows"] for row in rows)
        total = checked.found.records if checked.found else 0
        percentile = promised_percentile(checked.contract)
        latency = checked.contract.treaty.latency
        if not rows or latency is None or count * 100 <= total * (100 - percentile):
            return
        first = min(rows, key=lambda row: row["first"]["arrival"])["first"]
        share = 100 * (total - count) / total
        message = f"{percentile:g} % must arrive within {latency.within}; {share:.1f} % did"
        key = checked.show_key(first["key"])
        yield CheckId.LATENCY, Violations(checked.name, count, message, key=key, sequence=first["sequence"])

    def _message(self, flag: StreamFlag, checked: CheckedEvents, first: Row) -> str:
        last = first["last"]
        if flag is StreamFlag.MOVE:
            machine = self.rules.machine
            event_type = machine.find_type(checked.name) if machine else None
            state = self.rules.states[first["state"]] if first["state"] >= 0 else None
            return refused_move(event_type, state) if event_type else ""
        return {
            StreamFlag.CONFLICT: "has the identity of another event and other content",
            StreamFlag.SEQUENCE: f"arrived before the event with the sequence {last}",
            StreamFlag.GAP: f"comes directly after the sequence {last}",
            StreamFlag.PARTITION: "is in another partition than the first event of its key",
            StreamFlag.DUPLICATE: f"was delivered again under {_guarantee(checked.contract)}",
        }[flag]


def _guarantee(contract: Contract) -> str:
    return contract.treaty.delivery.guarantee if contract.treaty.delivery else "no guarantee"


@dataclass(frozen=True)
class PublishedEvents:
    """The events of a publisher, by the contracts that share keys."""

    records: Records
    found: tuple[TypeSurvey, ...]
    groups: tuple[KeyGroup, ...]

    @property
    def types(self) -> list[CheckedEvents]:
        """The event types in the order of their contracts."""
        return sorted((one for group in self.groups for one in group.types), key=lambda one: one.code)

    def certify(self, publisher: str, certified_at: datetime) -> Certification:
        """Run all checks."""
        with explain_errors(self.records.transport.source):
            totals = [(group, group.totals()) for group in self.groups]
            violations: dict[CheckId, list[Violations]] = defaultdict(list)
            for check, one in _unknown_types(self.found):
                violations[check].append(one)
            for group, rows in totals:
                for check, one in group.violations(rows):
                    violations[check].append(one)
        merged = {check: _merge(listed) for check, listed in violations.items()}
        return Certification(
            publisher,
            tuple(
                CertifiedContract(
                    one.contract.id, one.contract.version, one.name, one.found.records if one.found else 0
                )
                for one in self.types
            ),
            _evidence(self.records, self.found, totals),
            check_results(merged, [applicable_checks(one.target) for one in self.types]),
            tuple(_coverage(totals)),
            certified_at,
            tuple(dict.fromkeys(_unchecked(self.types))),
        )


def published_events(records: Records, contracts: Sequence[Contract], now: datetime) -> PublishedEvents:
    """Return the events of a publisher under its contracts; refuse one without events of their types."""
    typed = typed_records(records, contracts)
    with explain_errors(records.transport.source):
        found = survey(typed)
        refuse_without_events(found, records, contracts)
        types = _checked_types(records, contracts, found, now)
        return PublishedEvents(records, found, tuple(_key_groups(types)))


def certify(records: Records, contracts: Sequence[Contract], publisher: str, certified_at: datetime) -> Certification:
    """Check the records of a publisher against the contracts of its event types."""
    return published_events(records, contracts, certified_at).certify(publisher, certified_at)


def _checked_types(
    records: Records, contracts: Sequence[Contract], found: Sequence[TypeSurvey], now: datetime
) -> list[CheckedEvents]:
    streams = {contract.id: stream for stream in streams_of(contracts).values() for contract in stream.contracts}
    by_code = {one.code: one for one in found if one.code is not None}
    transport = records.transport
    targets = (
        CheckTarget(contract, streams.get(contract.id), transport.has_arrival_times, transport.has_partitions)
        for contract in contracts
    )
    return [
        CheckedEvents(target, code, by_code.get(code), typed_records(records, contracts, target.contract), records, now)
        for code, target in enumerate(targets)
    ]


def _key_groups(types: Sequence[CheckedEvents]) -> Iterator[KeyGroup]:
    """Yield the types that share keys; a contract without a stream has keys of its own."""
    grouped: dict[str, list[CheckedEvents]] = defaultdict(list)
    for one in types:
        stream = one.target.stream
        grouped[f"stream {stream.name}" if stream and one.target.ordering else f"contract {one.contract.id}"].append(
            one
        )
    for members in grouped.values():
        first = members[0].target
        stream = first.stream if first.ordering else None
        single = frozenset(
            one.name
            for one in members
            if one.contract.treaty.delivery and one.contract.treaty.delivery.guarantee in SINGLE_DELIVERY
        )
        rules = stream_rules(
            [one.contract for one in members],
            stream,
            is_counted=all(_is_counted(one) for one in members),
            single=single,
            has_partitions=members[0].records.transport.has_partitions,
        )
        yield KeyGroup(tuple(members), rules)


def _is_counted(checked: CheckedEvents) -> bool:
    if checked.target.ordering is None:
        return False
    name = checked.target.ordering[1]
    field = next(field for field in checked.schema.fields if field.name == name)
    return isinstance(spark_type(field), spark.IntegralType)


def _unknown_types(found: Sequence[TypeSurvey]) -> Iterator[tuple[CheckId, Violations]]:
    for one in found:
        if one.code is not None:
            continue
        unreadable = one.records - one.readable
        if unreadable:
            yield CheckId.READABLE, Violations(one.name or "", unreadable, "must be a readable record")
        if one.readable:
            text = f"{one.name} is not an event type of the contracts" if one.name else "names no event type"
            yield CheckId.EVENT_TYPE, Violations(one.name or "", one.readable, text)


def _merge(listed: Sequence[Violations]) -> tuple[Violations, ...]:
    """Return one entry for the violations of a type that are alike, most frequent first."""
    merged: dict[tuple[Any, ...], Violations] = {}
    counts: dict[tuple[Any, ...], int] = defaultdict(int)
    for one in listed:
        alike = (one.event_type, one.rule, one.severity, one.field, one.rule or one.message)
        merged.setdefault(alike, one)
        counts[alike] += one.count
    return tuple(
        sorted((replace(one, count=counts[alike]) for alike, one in merged.items()), key=lambda one: -one.count)
    )


def _evidence(
    records: Records, found: Sequence[TypeSurvey], totals: Sequence[tuple[KeyGroup, Sequence[Row]]]
) -> Evidence:
    sums = [row for _, rows in totals for row in rows if row["type"] is None]
    first = [row["first_at"] for row in sums if row["first_at"] is not None]
    last = [row["last_at"] for row in sums if row["last_at"] is not None]
    return Evidence(
        records.transport.source,
        sum(one.records for one in found),
        sum(row["keys"] for row in sums),
        sum(row["duplicates"] or 0 for row in sums),
        _EPOCH + timedelta(microseconds=min(first)) if first else None,
        _EPOCH + timedelta(microseconds=max(last)) if last else None,
        records.transport.bounded_by,
    )


def _coverage(totals: Sequence[tuple[KeyGroup, Sequence[Row]]]) -> Iterator[Coverage]:
    for group, rows in totals:
        summary = next((row for row in rows if row["type"] is None), None)
        for one in group.types:
            yield from one.coverage(summary)
        reached = (summary["states"] or 0) if summary is not None else 0
        for number, state in enumerate(group.rules.states):
            yield Coverage(CoverageKind.STATE, None, state, bool(reached >> number & 1))


def _unchecked(types: Sequence[CheckedEvents]) -> Iterator[str]:
    for one in types:
        yield from (f"{one.contract.id}: {term.what}: {term.why}" for term in one.enforcement.unchecked)
        for rule in one.enforcement.masks.rules:
            if not rule.threshold.tolerates_none:
                yield f"{one.contract.id}: {rule.id}: it tolerates some rows; check it with treaty test"
