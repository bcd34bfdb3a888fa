"""What scans found and people said of consumers, in the database, with what else the dependency map shows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, delete, func, insert, select

from treaty.consumers.dependencies import DataLayer
from treaty.consumers.subscriptions import ConsumerClass
from treaty.contracts.blocks import EDGE
from treaty.contracts.versions import Line
from treaty.legacy.consumer_guess import ClassGuess
from treaty.legacy.dependency_map import ConsumerProfile, DeclaredRead, FoundRead, MapInputs, ObservedRead
from treaty.legacy.hidden_dependencies import RefusedRead
from treaty.legacy.scanned_reads import ScannedRead
from treaty.legacy.serving_lines import ReplacedFeed, derivations_of
from treaty.registry.store import legacy_feeds, lineage
from treaty.registry.store import observed_usage as usage
from treaty.registry.store.tables import (
    consumer_profiles,
    contracts,
    data_accesses,
    datasets,
    line_layers,
    observed_usage,
    scanned_reads,
    subscriptions,
    versions,
)
from treaty.registry.store.transaction import Transaction
from treaty.registry.store.visibility import Visibility

_R, _P, _S, _D, _A = scanned_reads.c, consumer_profiles.c, subscriptions.c, datasets.c, data_accesses.c
REFUSED_FIELD = "field"
"""What the access log says of a request for a field that the subscription does not have."""
_MAX_REFUSALS = 10_000


def count_reads(connection: Connection, scan: str) -> int:
    """Count what the last scan of a name found."""
    return connection.execute(select(func.count()).select_from(scanned_reads).where(_R.scan == scan)).scalar_one()


def scanned_pairs(connection: Connection) -> set[tuple[str, str]]:
    """Return the consumers and tables that scans found."""
    return {(row.consumer, row.source) for row in connection.execute(select(_R.consumer, _R.source))}


def lines_of_tables(connection: Connection, tables: Iterable[str]) -> dict[str, Line]:
    """Return the line of each table that belongs to a contract."""
    names = _TableNames(connection)
    return {table: line for table in tables if (line := names.find_line(table)) is not None}


def replace_reads(transaction: Transaction, scan: str, reads: Sequence[ScannedRead], actor: str) -> None:
    """Store what a scan found in place of what the last scan of that name did."""
    transaction.write(delete(scanned_reads).where(_R.scan == scan))
    identity = transaction.actor_id(actor)
    rows = [
        {
            "scan": scan,
            "consumer": read.consumer,
            "source": read.source,
            "columns": sorted(read.columns),
            "kind": read.kind,
            "consumer_class": read.guess.consumer_class.value,
            "confidence": round(read.guess.confidence * 100),
            "reason": read.guess.reason,
            "team": read.team,
            "latency": read.latency,
            "decision": read.decision,
            "places": list(read.places),
            "parsed": sorted(read.parsed),
            "scanned_at": transaction.now,
            "scanned_by": identity,
        }
        for read in reads
    ]
    if rows:
        transaction.write(insert(scanned_reads), rows)


def find_profile(connection: Connection, consumer: str) -> ConsumerProfile | None:
    """Return what people said of a consumer."""
    row = connection.execute(select(consumer_profiles).where(_P.consumer == consumer)).one_or_none()
    return None if row is None else _profile(row)


def put_profile(transaction: Transaction, profile: ConsumerProfile, actor: str, *, is_new: bool) -> None:
    """Insert or update what people said of a consumer."""
    values = {
        "consumer_class": profile.consumer_class.value if profile.consumer_class else None,
        "latency": profile.latency,
        "decision": profile.decision,
        "team": profile.team,
        "changed_at": transaction.now,
        "changed_by": actor,
    }
    if is_new:
        transaction.insert(consumer_profiles, {"consumer": profile.consumer, **values})
    else:
        transaction.update(consumer_profiles, {"consumer": profile.consumer}, values)


def teams_of_consumer(connection: Connection, consumer: str) -> frozenset[str]:
    """Return the teams that a consumer is known to belong to, by its profile, subscriptions or scans."""
    queries = (
        select(_P.team).where(_P.consumer == consumer),
        select(_S.team).where(_S.consumer == consumer, _S.active),
        select(_R.team).where(_R.consumer == consumer),
    )
    for query in queries:  # what people said counts most
        teams = frozenset(team for team in connection.execute(query).scalars() if team)
        if teams:
            return teams
    return frozenset()


def class_of(connection: Connection, consumer: str) -> ConsumerClass | None:
    """Return the class that people set, else that of a subscription, else the surest guess of a scan."""
    said = connection.scalar(select(_P.consumer_class).where(_P.consumer == consumer))
    if said is not None:
        return ConsumerClass(said)
    declared = connection.execute(select(_S.consumer_class).where(_S.consumer == consumer, _S.active)).scalars().all()
    if declared:
        return max(map(ConsumerClass, declared), key=list(ConsumerClass).index)
    guesses = select(_R.consumer_class).where(_R.consumer == consumer).order_by(_R.confidence.desc()).limit(1)
    guess = connection.scalar(guesses)
    return None if guess is None else ConsumerClass(guess)


def is_known(connection: Connection, consumer: str) -> bool:
    """Return whether a consumer has a subscription, was found by a scan, or was seen reading."""
    queries = (
        select(_R.consumer).where(_R.consumer == consumer),
        select(_S.consumer).where(_S.consumer == consumer, _S.active),
        select(observed_usage.c.consumer).where(observed_usage.c.consumer == consumer),
    )
    return any(connection.execute(query.limit(1)).first() is not None for query in queries)


def published_lines(connection: Connection) -> list[Line]:
    """Return the lines that runs publish, and the highest line of each contract for single consumers, by name."""
    in_layer = select(line_layers.c.contract, line_layers.c.major).where(
        line_layers.c.layer == DataLayer.PUBLICATION.value
    )
    edge = (
        select(versions.c.contract, func.max(versions.c.major))
        .join(contracts, contracts.c.id == versions.c.contract)
        .where(contracts.c.tier == EDGE)
        .group_by(versions.c.contract)
    )
    rows = [*connection.execute(in_layer), *connection.execute(edge)]
    return sorted({Line(contract, major) for contract, major in rows})


def map_inputs(connection: Connection, visibility: Visibility, since: datetime) -> MapInputs:
    """Return all that the map shows, without contracts that the actor may not read."""
    tables = _TableNames(connection)
    layers = {Line(row.contract, row.major): DataLayer(row.layer) for row in connection.execute(select(line_layers))}
    return MapInputs(
        declared=tuple(_declared(connection, visibility)),
        observed=tuple(
            ObservedRead(
                reads.consumer,
                reads.line,
                frozenset(reads.fields_since(since.date())),
                reads.last_seen.date(),
                reads.team,
            )
            for reads in usage.recent(connection, since)
            if visibility.sees(reads.line.contract) and visibility.sees(reads.consumer)
        ),
        found=tuple(_found(connection, visibility, tables)),
        profiles={row.consumer: _profile(row) for row in connection.execute(select(consumer_profiles))},
        layers=layers,
        feeds=tuple(ReplacedFeed(feed.feed, feed.names, feed.line) for feed in legacy_feeds.all_feeds(connection)),
        derivations=derivations_of(
            lineage.all_edges(connection),
            {
                line
                for line, layer in layers.items()
                if layer is DataLayer.PUBLICATION and visibility.sees(line.contract)
            },
        ),
    )


def refused_reads(connection: Connection, visibility: Visibility, since: datetime) -> list[RefusedRead]:
    """Return the fields that the read API refused to consumers, because their subscriptions do not have them."""
    query = (
        select(_A.consumer, _A.contract, _A.major, _A.fields)
        .where(_A.decision == REFUSED_FIELD, _A.at >= since, _A.consumer.is_not(None))
        .where(*visibility.conditions(_A.contract))
        .order_by(_A.seq.desc())
        .limit(_MAX_REFUSALS)
    )
    found: dict[tuple[str, Line], set[str]] = {}
    for row in connection.execute(query):
        if visibility.sees(row.consumer):
            found.setdefault((row.consumer, Line(row.contract, row.major)), set()).update(row.fields)
    return [RefusedRead(consumer, line, frozenset(columns)) for (consumer, line), columns in found.items()]


def _declared(connection: Connection, visibility: Visibility) -> Iterable[DeclaredRead]:
    query = select(subscriptions).where(_S.active, *visibility.subscription_conditions())
    for row in connection.execute(query):
        yield DeclaredRead(
            row.consumer,
            Line(row.contract, row.major),
            ConsumerClass(row.consumer_class),
            frozenset(row.fields),
            row.latency,
            row.purpose,
            row.team,
        )


def _found(connection: Connection, visibility: Visibility, tables: _TableNames) -> Iterable[FoundRead]:
    for row in connection.execute(select(scanned_reads).order_by(_R.scan, _R.consumer, _R.source)):
        line = tables.find_line(row.source)
        if visibility.sees(row.consumer) and (line is None or visibility.sees(line.contract)):
            yield FoundRead(
                row.consumer,
                row.source,
                frozenset(row.columns),
                ClassGuess(ConsumerClass(row.consumer_class), row.confidence / 100, row.reason),
                line,
                row.latency,
                row.decision,
                row.team,
                tuple(row.places),
                row.kind,
                frozenset(row.parsed),
            )


class _TableNames:
    """Finds the line of a table by its name: the dataset of a contract, with or without catalog, or the id itself."""

    def __init__(self, connection: Connection) -> None:
        self._lines: dict[str, set[str]] = {}
        self._majors: dict[tuple[str, str], int] = {}
        for row in connection.execute(select(_D.name, _D.contract, _D.major)):
            parts = row.name.lower().split(".")
            for start in range(max(1, len(parts) - 1)):
                self._add(".".join(parts[start:]), row.contract, row.major)
        query = select(versions.c.contract, func.max(versions.c.major)).group_by(versions.c.contract)
        for contract, major in connection.execute(query):
            self._add(contract.lower(), contract, major)

    def find_line(self, table: str) -> Line | None:
        """Return the line of a table; None if its name is that of no dataset, or of several contracts."""
        contracts = self._lines.get(table, set())
        if len(contracts) != 1:
            return None
        contract = next(iter(contracts))
        return Line(contract, self._majors[table, contract])

    def _add(self, name: str, contract: str, major: int) -> None:
        self._lines.setdefault(name, set()).add(contract)
        self._majors[name, contract] = max(major, self._majors.get((name, contract), 0))


def _profile(row: Row[Any]) -> ConsumerProfile:
    consumer_class = ConsumerClass(row.consumer_class) if row.consumer_class else None
    return ConsumerProfile(row.consumer, consumer_class, row.latency, row.decision, row.team)
