"""Legacy feeds, who reads them, and the cut-over of their consumers, in the database."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Column, ColumnElement, Connection, Row, false, func, or_, select

from treaty.contracts.versions import Line
from treaty.legacy.cutover import Gate, Step, StepTaken, reads_feed
from treaty.registry.store.tables import contracts as contract_table
from treaty.registry.store.tables import (
    cutover_steps,
    in_batches,
    legacy_feeds,
    legacy_reads,
    observed_usage,
    scanned_reads,
    subscriptions,
)
from treaty.registry.store.transaction import Transaction
from treaty.registry.store.visibility import Visibility

_F, _S, _L, _R = legacy_feeds.c, cutover_steps.c, legacy_reads.c, scanned_reads.c
MAX_FEEDS = 10_000


@dataclass(frozen=True, slots=True)
class StoredFeed:
    """A row of a feed."""

    feed: str
    line: Line
    """Of the publication that replaces it."""
    owner: str
    names: tuple[str, ...]
    consumers: tuple[str, ...]
    gate: Gate
    produced: str | None
    declared_at: datetime
    declared_by: str
    retired_at: datetime | None = None
    retired_by: str | None = None


@dataclass(frozen=True, slots=True)
class LegacyRead:
    """A consumer that was found reading a feed."""

    consumer: str
    evidence: str
    """`declared`, `scanned` or `observed`."""
    at: datetime
    """When it was last seen."""
    team: str | None = None
    places: tuple[str, ...] = ()


def find_feed(connection: Connection, visibility: Visibility, feed: str) -> StoredFeed | None:
    """Return a feed, unless the publication is hidden."""
    query = select(legacy_feeds).where(_F.feed == feed, *visibility.conditions(_F.contract))
    row = connection.execute(query).one_or_none()
    return None if row is None else _feed(row)


def page_of_feeds(connection: Connection, visibility: Visibility, after: str | None, limit: int) -> list[StoredFeed]:
    """Return a page of feeds by name."""
    query = select(legacy_feeds).where(*visibility.conditions(_F.contract))
    if after is not None:
        query = query.where(_F.feed > after)
    return list(map(_feed, connection.execute(query.order_by(_F.feed).limit(limit))))


def all_feeds(connection: Connection) -> list[StoredFeed]:
    """Return every feed."""
    return list(map(_feed, connection.execute(select(legacy_feeds).order_by(_F.feed).limit(MAX_FEEDS))))


def put_feed(transaction: Transaction, feed: StoredFeed, *, is_new: bool) -> None:
    """Insert or update what a project declares; whether the feed is retired stays."""
    values = {
        "contract": feed.line.contract,
        "major": feed.line.major,
        "owner": feed.owner,
        "names": list(feed.names),
        "consumers": list(feed.consumers),
        "gate": {
            "clean_runs": feed.gate.clean_runs,
            "absolute": feed.gate.absolute,
            "relative": feed.gate.relative,
        },
        "produced": feed.produced,
        "declared_at": feed.declared_at,
        "declared_by": feed.declared_by,
    }
    if is_new:
        transaction.insert(legacy_feeds, {"feed": feed.feed, **values})
    else:
        transaction.update(legacy_feeds, {"feed": feed.feed}, values)


def put_retirement(transaction: Transaction, feed: str, actor: str) -> None:
    """Store that a feed is retired from now on."""
    transaction.update(legacy_feeds, {"feed": feed}, {"retired_at": transaction.now, "retired_by": actor})


def steps_of(connection: Connection, feed: str) -> dict[str, tuple[StepTaken, ...]]:
    """Return the steps of the consumers of a feed, in the order in which they were taken."""
    steps: dict[str, tuple[StepTaken, ...]] = {}
    for row in connection.execute(select(cutover_steps).where(_S.feed == feed).order_by(_S.seq)):
        taken = StepTaken(Step(row.step), row.taken_at, row.taken_by, row.reason)
        steps[row.consumer] = (*steps.get(row.consumer, ()), taken)
    return steps


def add_step(transaction: Transaction, seq: int, feed: str, consumer: str, taken: StepTaken) -> None:
    """Add a step; its number is that of its audit entry."""
    transaction.insert(
        cutover_steps,
        {
            "seq": seq,
            "feed": feed,
            "consumer": consumer,
            "step": taken.step.value,
            "reason": taken.reason,
            "taken_at": taken.at,
            "taken_by": taken.by,
        },
    )


def put_observed_read(
    transaction: Transaction, feed: str, consumer: str, *, job: str, team: str | None, at: datetime, reporter: str
) -> bool:
    """Store that a lineage event showed a read of a feed; return whether it is later than what was known."""
    key = {"feed": feed, "consumer": consumer}
    before = transaction.read(select(_L.last_seen).where(_L.feed == feed, _L.consumer == consumer)).scalar_one_or_none()
    if before is None:
        row = {"job": job, "team": team, "first_seen": at, "last_seen": at, "reported_by": reporter}
        transaction.insert(legacy_reads, {**key, **row})
        return True
    if at > before:
        transaction.update(legacy_reads, key, {"last_seen": at, "job": job})
    return bool(at > before)


def reads_of(connection: Connection, feed: StoredFeed) -> list[LegacyRead]:
    """Return who was found reading a feed, by scans and lineage events."""
    observed = [
        LegacyRead(row.consumer, "observed", row.last_seen, row.team)
        for row in connection.execute(select(legacy_reads).where(_L.feed == feed.feed).order_by(_L.consumer))
    ]
    return [*_scanned_reads(connection, feed.names), *observed, *_contract_reads(connection, feed)]


def _scanned_reads(connection: Connection, names: Sequence[str]) -> Iterable[LegacyRead]:
    query = select(scanned_reads).where(_ends_like(_R.source, names))
    for row in connection.execute(query.order_by(_R.consumer, _R.scan)):
        if reads_feed(row.source, names):
            yield LegacyRead(row.consumer, "scanned", row.scanned_at, row.team, tuple(row.places))


def _contract_reads(connection: Connection, feed: StoredFeed) -> Iterable[LegacyRead]:
    """Yield the readers of contracts with the name of the feed, such as a draft that was inferred from it."""
    contracts = [
        name
        for name in connection.execute(
            select(contract_table.c.id).where(_ends_like(contract_table.c.id, feed.names))
        ).scalars()
        if name != feed.line.contract and reads_feed(name, feed.names)
    ]
    for some in in_batches(contracts):
        subscribed = select(subscriptions).where(subscriptions.c.contract.in_(some), subscriptions.c.active)
        for row in connection.execute(subscribed.order_by(subscriptions.c.consumer)):
            yield LegacyRead(row.consumer, "declared", row.since, row.team)
        observed = select(observed_usage).where(observed_usage.c.contract.in_(some))
        for row in connection.execute(observed.order_by(observed_usage.c.consumer)):
            yield LegacyRead(row.consumer, "observed", row.last_seen, row.team)


def _ends_like(column: Column[Any], names: Sequence[str]) -> ColumnElement[bool]:
    """Return the condition that a name ends with the last part of one of several names."""
    last_parts = sorted({name.lower().split(".")[-1] for name in names})
    return or_(false(), *(func.lower(column).endswith(part, autoescape=True) for part in last_parts))


def _feed(row: Row[Any]) -> StoredFeed:
    return StoredFeed(
        row.feed,
        Line(row.contract, row.major),
        row.owner,
        tuple(row.names),
        tuple(row.consumers),
        Gate(**row.gate),
        row.produced,
        row.declared_at,
        row.declared_by,
        row.retired_at,
        row.retired_by,
    )
