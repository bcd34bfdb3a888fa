"""Who may read which contract: the private contracts of a registry, and the conditions that leave them out of queries.

A contract is private if its highest version is. Its row names the readers: the owning teams, and the teams and
domains of the `visibility` block. Teams that subscribe to it may read it as well.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

from sqlalchemy import Boolean, ColumnElement, Connection, Text, bindparam, func, literal, select
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement

from treaty.contracts.versions import Line
from treaty.registry.not_found import ContractNotFound
from treaty.registry.store.tables import audit, contracts, in_batches, subscriptions, versions
from treaty.registry.store.transaction import IS_PRIVATE, Transaction

Readers = frozenset[str]
"""The names that private contracts know an actor by, such as `team growth` and `domain sales`."""

_C, _S, _V = contracts.c, subscriptions.c, versions.c
_TEAM = func.coalesce(_S.team, _S.consumer)
_NEWEST_ENTRY = select(func.max(audit.c.seq))
_READERS_OF = select(_C.readers).where(_C.id == bindparam("contract"))
_READS = (_S.active, _S.unconfirmed_since.is_(None))
"""Only a confirmed subscription lets its team read a private contract: another team may have declared the others."""
_TEAMS_OF = select(_TEAM).where(_S.contract == bindparam("contract"), *_READS)


class Sight(Protocol):
    """Decides which contracts an actor may read."""

    def sees(self, contract: str | None) -> bool:
        """Return whether the actor may read a contract, or see a consumer with its name."""
        ...


@dataclass(frozen=True)
class Visibility:
    """What an actor may read: every contract but the hidden ones."""

    hidden: frozenset[str] = frozenset()

    def sees(self, contract: str | None) -> bool:
        """Return whether the actor may read a contract, or see a consumer with its name."""
        return contract not in self.hidden

    def conditions(self, *columns: ColumnElement[Any]) -> tuple[ColumnElement[bool], ...]:
        """Return the conditions that no column names a hidden contract; none if nothing is hidden."""
        return tuple(not_among(column, self._names) for column in columns) if self.hidden else ()

    def subscription_conditions(self) -> tuple[ColumnElement[bool], ...]:
        """Return the conditions for subscriptions: neither of a hidden contract nor by one."""
        return self.conditions(_S.contract, _S.consumer)

    @cached_property
    def _names(self) -> ColumnElement[str]:
        return literal(json.dumps(sorted(self.hidden)), Text)


EVERYTHING_VISIBLE = Visibility()


def check_visible(sight: Sight, contract: str) -> None:
    """Raise the error for an unknown contract if the actor may not read a contract."""
    if not sight.sees(contract):
        raise ContractNotFound(contract)


def split_visible(names: Iterable[str], sight: Sight) -> tuple[list[str], int]:
    """Return the names that an actor may see, and the number of the others."""
    listed = list(names)
    visible = [name for name in listed if sight.sees(name)]
    return visible, len(listed) - len(visible)


def hidden_text(count: int, noun: str = "consumer") -> str:
    """Return the text that replaces names which an actor may not see."""
    return f"{count:,} {noun}{'' if count == 1 else 's'} you may not see"


def visible_names(names: Iterable[str], sight: Sight) -> list[str]:
    """Return the names of consumers that an actor may see, and the number of the others in place of their names."""
    visible, hidden = split_visible(names, sight)
    return [*visible, hidden_text(hidden)] if hidden else visible


class Behind(Protocol):
    """A consumer that a change reaches, directly or through another line."""

    @property
    def name(self) -> str:
        """The name of the consumer."""
        ...

    @property
    def via(self) -> Line | None:
        """The line through which the change reaches it; None if it reads the changed line."""
        ...


def sees_consumer(sight: Sight, consumer: Behind) -> bool:
    """Return whether an actor may see a consumer, and the line through which a change reaches it."""
    return sight.sees(consumer.name) and (consumer.via is None or sight.sees(consumer.via.contract))


def visible_consumers(consumers: Iterable[Behind], sight: Sight) -> list[str]:
    """Return what `visible_names` does, for consumers that a change reaches."""
    listed = list(consumers)
    visible = [consumer.name for consumer in listed if sees_consumer(sight, consumer)]
    hidden = len(listed) - len(visible)
    return [*visible, hidden_text(hidden)] if hidden else visible


class not_among(FunctionElement[bool]):  # noqa: N801 - reads as an SQL function
    """The condition that a column is none of the names in a JSON list; one parameter, however many names."""

    type = Boolean()
    inherit_cache = True


@compiles(not_among, "sqlite")
def _on_sqlite(element: not_among, compiler: Any, **options: Any) -> str:
    column, names = (compiler.process(part, **options) for part in element.clauses)
    return f"{column} NOT IN (SELECT value FROM json_each({names}))"  # noqa: S608 - rendered by SQLAlchemy


@compiles(not_among, "postgresql")
def _on_postgresql(element: not_among, compiler: Any, **options: Any) -> str:
    column, names = (compiler.process(part, **options) for part in element.clauses)
    return f"{column} NOT IN (SELECT jsonb_array_elements_text(CAST({names} AS jsonb)))"


class PrivateContracts:
    """Cached readers of the private contracts of one registry; each query first applies the changes since the last.

    Every change of a contract or subscription has an audit entry, so the newest entry tells whether there are any.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._revision = 0
        self._readers: dict[str, Readers] = {}
        self._visibilities: dict[Readers, Visibility] = {}

    def visibility(self, connection: Connection, readers: Readers) -> Visibility:
        """Return what an actor with some names may read."""
        with self._lock:
            self._catch_up(connection)
            if not self._readers:
                return EVERYTHING_VISIBLE
            if readers not in self._visibilities:
                hidden = frozenset(name for name, named in self._readers.items() if named.isdisjoint(readers))
                if len(self._visibilities) >= _MAX_CACHED:
                    self._visibilities.clear()
                self._visibilities[readers] = Visibility(hidden)
            return self._visibilities[readers]

    def is_private(self, connection: Connection, contract: str) -> bool:
        """Return whether a contract is private, so that no shared cache may contain it."""
        with self._lock:
            self._catch_up(connection)
            return contract in self._readers

    def _catch_up(self, connection: Connection) -> None:
        newest = connection.execute(_NEWEST_ENTRY).scalar_one() or 0
        if newest <= self._revision:
            return
        changed = _changed_since(connection, self._revision, self._readers)
        for names in in_batches(sorted(changed)):
            declared = _declared_readers(connection, names)
            teams = _subscribed_teams(connection, [name for name in names if name in declared])
            for name in names:
                self._readers.pop(name, None)
                if name in declared:
                    self._readers[name] = declared[name] | teams.get(name, frozenset())
        if changed:
            self._visibilities.clear()
        self._revision = newest


_MAX_CACHED = 1_000
"""Sets of teams whose visibility is cached."""


def _changed_since(connection: Connection, revision: int, known: Iterable[str]) -> set[str]:
    """Return the private contracts that changed after a revision, with those that are no longer private."""
    if revision == 0:
        return set(connection.execute(select(_C.id).where(IS_PRIVATE)).scalars())
    changed = select(_V.contract).where(_V.seq > revision)
    still = connection.execute(select(_C.id).where(IS_PRIVATE, _C.id.in_(changed))).scalars()
    earlier = set(known)
    opened = earlier.intersection(connection.execute(changed).scalars()) if earlier else set()
    subscribed = select(_S.contract).where(_S.revision > revision)
    return {*still, *opened, *earlier.intersection(connection.execute(subscribed).scalars() if earlier else ())}


def _declared_readers(connection: Connection, names: Iterable[str]) -> dict[str, Readers]:
    rows = connection.execute(select(_C.id, _C.readers).where(IS_PRIVATE, _C.id.in_(names)))
    return {row.id: frozenset(row.readers) for row in rows}


def _subscribed_teams(connection: Connection, names: list[str]) -> dict[str, Readers]:
    teams: dict[str, Readers] = {}
    query = select(_S.contract, _TEAM.label("team")).where(_S.contract.in_(names), *_READS).distinct()
    for row in connection.execute(query) if names else ():
        teams[row.contract] = teams.get(row.contract, frozenset()) | {team_reader(row.team)}
    return teams


def team_reader(team: str) -> str:
    """Return the name that private contracts know the members of a team by."""
    return f"team {team}"


class _TransactionSight:
    """What an actor may read inside a write transaction, which the cache must not learn about before it is durable."""

    def __init__(self, connection: Connection, readers: Readers) -> None:
        self._connection = connection
        self._readers = readers
        self._answers: dict[str, bool] = {}

    def sees(self, contract: str | None) -> bool:
        """Return whether the actor may read a contract, or see a consumer with its name."""
        if contract is None:
            return True
        if contract not in self._answers:
            self._answers[contract] = self._may_read(contract)
        return self._answers[contract]

    def _may_read(self, contract: str) -> bool:
        named = self._connection.execute(_READERS_OF, {"contract": contract}).scalar_one_or_none()
        if named is None or not self._readers.isdisjoint(named):
            return True
        teams = self._connection.execute(_TEAMS_OF, {"contract": contract}).scalars()
        return not self._readers.isdisjoint(map(team_reader, teams))


def sight_in(transaction: Transaction, readers: Readers | None) -> Sight:
    """Return what an actor may read inside a write transaction; without names it may read everything."""
    if readers is None or not transaction.has_private_contracts:
        return EVERYTHING_VISIBLE
    return _TransactionSight(transaction.connection, readers)


class _PublicSight(_TransactionSight):
    """What everyone may read."""

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection, frozenset())

    def _may_read(self, contract: str) -> bool:
        return self._connection.execute(_READERS_OF, {"contract": contract}).scalar_one_or_none() is None


def public_sight(transaction: Transaction) -> Sight:
    """Return what everyone may read: what a notice to several parties may name."""
    return _PublicSight(transaction.connection) if transaction.has_private_contracts else EVERYTHING_VISIBLE
