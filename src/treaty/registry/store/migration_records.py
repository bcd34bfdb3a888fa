"""Migrations in the database, with the state of each consumer."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, exists, func, or_, select

from treaty.consumers.subscriptions import ConsumerClass
from treaty.contracts.versions import Line
from treaty.errors import NotFound
from treaty.registry.store.tables import migration_consumers, migrations, subscriptions
from treaty.registry.store.transaction import Transaction
from treaty.registry.store.visibility import EVERYTHING_VISIBLE, Sight, Visibility

_M = migrations.c
_C = migration_consumers.c
_S = subscriptions.c


class MigrationState(StrEnum):
    """The state of a migration: waiting for acknowledgements, open, closed, or withdrawn."""

    PROPOSED = "proposed"
    OPEN = "open"
    CLOSED = "closed"
    WITHDRAWN = "withdrawn"


class ConsumerState(StrEnum):
    """The state of a consumer in a migration."""

    WAITING = "waiting"
    ACKNOWLEDGED = "acknowledged"
    MOVED = "moved"
    WAIVED = "waived"


@dataclass(frozen=True, slots=True)
class StoredMigration:
    """A row of a migration."""

    id: int
    contract: str
    major: int
    version: str
    to_major: int
    to_version: str
    guide: str | None
    window: str | None
    owner: str | None
    state: MigrationState
    proposal: int | None
    opened_at: datetime
    ends_on: date | None
    remind_on: date | None
    closed_at: datetime | None
    proof: dict[str, Any] | None

    @property
    def line(self) -> Line:
        """The line that consumers leave."""
        return Line(self.contract, self.major)

    @property
    def to_line(self) -> Line:
        """The line they move to."""
        return Line(self.contract, self.to_major)

    @property
    def is_live(self) -> bool:
        """Whether the migration is proposed or open."""
        return self.state in (MigrationState.PROPOSED, MigrationState.OPEN)


@dataclass(frozen=True, slots=True)
class StoredConsumer:
    """A row of a consumer in a migration."""

    consumer: str
    state: ConsumerState
    effect: str
    consumer_class: ConsumerClass
    team: str | None
    reason: str | None
    until: date | None
    changed_at: datetime
    changed_by: str
    via: str | None


def find(connection: Connection, identity: int, sight: Sight = EVERYTHING_VISIBLE) -> StoredMigration:
    """Return a migration, or raise NotFound."""
    row = connection.execute(select(migrations).where(_M.id == identity)).one_or_none()
    if row is None or not sight.sees(row.contract):
        raise NotFound(f"no migration {identity}; see: treaty migrate status")
    return _migration_from_row(row)


def page(
    connection: Connection,
    visibility: Visibility,
    contract: str | None,
    state: MigrationState | None,
    team: str | None,
    after: int,
    limit: int,
) -> list[StoredMigration]:
    """Return some migrations, in the order they were opened."""
    statement = select(migrations).where(_M.id > after, *visibility.conditions(_M.contract))
    if team is not None:
        statement = statement.where(_concerns(team))
    if contract is not None:
        statement = statement.where(_M.contract == contract)
    if state is not None:
        statement = statement.where(_M.state == state.value)
    return [_migration_from_row(row) for row in connection.execute(statement.order_by(_M.id).limit(limit))]


def _concerns(team: str) -> ColumnElement[bool]:
    """Return the condition that a team has consumers in a migration, from its start or since."""
    here = exists().where(_C.migration == _M.id, func.coalesce(_C.team, _C.consumer) == team)
    reads = exists().where(_S.contract == _M.contract, _S.major == _M.major, _S.active)
    return or_(here, reads.where(func.coalesce(_S.team, _S.consumer) == team))


def ending(connection: Connection, until: date, limit: int) -> list[StoredMigration]:
    """Return the migrations under way whose window ends by a day."""
    statement = select(migrations).where(_M.ends_on <= until, _M.state == MigrationState.OPEN.value)
    return [_migration_from_row(row) for row in connection.execute(statement.order_by(_M.ends_on, _M.id).limit(limit))]


def live_from(connection: Connection, line: Line) -> list[StoredMigration]:
    """Return the migrations under way from a line, the latest first."""
    states = (MigrationState.PROPOSED.value, MigrationState.OPEN.value)
    statement = select(migrations).where(_M.contract == line.contract, _M.major == line.major, _M.state.in_(states))
    return [_migration_from_row(row) for row in connection.execute(statement.order_by(_M.id.desc()))]


def proposed_as(connection: Connection, proposal: int) -> StoredMigration | None:
    """Return the migration that waits with a proposal."""
    statement = select(migrations).where(_M.proposal == proposal, _M.state == MigrationState.PROPOSED.value)
    row = connection.execute(statement).one_or_none()
    return None if row is None else _migration_from_row(row)


def waiting_for(connection: Connection, contract: str, version: str) -> StoredMigration | None:
    """Return the migration that waits for a version to be registered."""
    statement = select(migrations).where(
        _M.contract == contract, _M.to_version == version, _M.state == MigrationState.PROPOSED.value
    )
    row = connection.execute(statement.order_by(_M.id.desc()).limit(1)).one_or_none()
    return None if row is None else _migration_from_row(row)


def between(connection: Connection, contract: str, version: str, to_version: str) -> StoredMigration | None:
    """Return the latest migration between the lines of two versions."""
    major, to_major = (int(text.partition(".")[0]) for text in (version, to_version))
    statement = select(migrations).where(_M.contract == contract, _M.major == major, _M.to_major == to_major)
    row = connection.execute(statement.order_by(_M.id.desc()).limit(1)).one_or_none()
    return None if row is None else _migration_from_row(row)


def due(connection: Connection, today: date, limit: int) -> list[StoredMigration]:
    """Return the migrations whose consumers are to be reminded."""
    statement = select(migrations).where(_M.remind_on <= today, _M.state == MigrationState.OPEN.value)
    return [_migration_from_row(row) for row in connection.execute(statement.order_by(_M.id).limit(limit))]


def consumers_of(connection: Connection, migration: int) -> dict[str, StoredConsumer]:
    """Return the stored consumers of a migration by name."""
    rows = connection.execute(select(migration_consumers).where(_C.migration == migration).order_by(_C.consumer))
    return {row.consumer: _consumer_from_row(row) for row in rows}


def add(transaction: Transaction, values: dict[str, Any]) -> None:
    """Store a new migration."""
    transaction.insert(migrations, values)


def change(transaction: Transaction, identity: int, **values: Any) -> None:
    """Update a migration."""
    transaction.update(migrations, {"id": identity}, values)


def put_consumer(transaction: Transaction, migration: int, consumer: str, values: dict[str, Any]) -> None:
    """Insert or update the state of a consumer."""
    key = {"migration": migration, "consumer": consumer}
    if not transaction.update(migration_consumers, key, values):
        transaction.insert(migration_consumers, {**key, **values})


def _migration_from_row(row: Row[Any]) -> StoredMigration:
    values = dict(row._mapping)
    values["state"] = MigrationState(row.state)
    return StoredMigration(**values)


def _consumer_from_row(row: Row[Any]) -> StoredConsumer:
    values = dict(row._mapping)
    del values["migration"]
    values |= {"state": ConsumerState(row.state), "consumer_class": ConsumerClass(row.consumer_class)}
    return StoredConsumer(**values)
