"""One write transaction: changes, audit entries and notices, all written together or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from functools import cache
from typing import Any, NamedTuple, TypeAlias, TypeVar

from sqlalchemy import Connection, Executable, Insert, Table, exists, func, insert, select, text, update
from sqlalchemy.engine import CursorResult

from treaty.registry.documents import digest_of_state
from treaty.registry.store import tables
from treaty.registry.store.actors import KnownActors, new_actor
from treaty.registry.store.audit_log import NAMED_IN_DETAILS, NOTHING_BEFORE, Entry, chained
from treaty.registry.store.lifecycle_status import ask_about
from treaty.registry.store.outbox import waiting
from treaty.registry.store.row_digests import ChangedRows, RowDigests
from treaty.registry.store.tables import actor_columns

T = TypeVar("T")
State: TypeAlias = str | Mapping[str, Any] | None
"""The state of a subject: its digest, or the values that are digested."""

_MAX_PARTIES_PER_QUERY = 1_000
_AUDIT, _NOTICES = tables.audit.c, tables.notices.c
WAITING_UPSTREAMS = "waiting upstreams"
CHANNELS = "channels"
NAMESPACES = "namespaces"
PRIVATE_CONTRACTS = "private contracts"
_WAITING = text("upstream_major = -1 AND active")
"""Written like the condition of the partial index: SQLite does not use the index otherwise."""

IS_PRIVATE = text("contracts.readers IS NOT NULL")
_HAS_PRIVATE_CONTRACTS = exists(select(tables.contracts.c.id).where(IS_PRIVATE))
_HAS_CHANNELS = exists(select(tables.channels.c.id))
_HAS_WAITING_UPSTREAMS = exists(select(tables.upstreams.c.contract).where(_WAITING))
_HAS_NAMESPACES = exists(select(tables.namespaces.c.prefix).where(tables.namespaces.c.released_at.is_(None)))
_INITIAL_STATE = select(
    select(func.max(_AUDIT.seq)).scalar_subquery(),
    select(_AUDIT.hash).order_by(_AUDIT.seq.desc()).limit(1).scalar_subquery(),
    select(func.max(_NOTICES.seq)).scalar_subquery(),
    _HAS_CHANNELS,
    _HAS_WAITING_UPSTREAMS,
    _HAS_PRIVATE_CONTRACTS,
    _HAS_NAMESPACES,
    select(func.count()).select_from(tables.actors).where(tables.actors.c.name.is_(None)).scalar_subquery(),
)


class Mark(NamedTuple):
    """The number of writes and audit entries at one point of a transaction."""

    writes: int
    entries: int


class Transaction:
    """Reads and writes under the write lock; audit entries and notices are collected and written by `flush`."""

    def __init__(self, connection: Connection, now: datetime, known_actors: KnownActors | None = None) -> None:
        self.connection = connection
        self.now = now
        ask_about(connection, now.date())
        self._writes = 0
        self._rows = ChangedRows()
        self._entries: list[Entry] = []
        self._notices: list[dict[str, Any]] = []
        self._deliveries: list[dict[str, Any]] = []
        initial = connection.execute(_INITIAL_STATE).one()
        seq, head, notice_seq, has_channels, waiting_upstreams, private, has_namespaces, erased = initial
        self._known_actors = known_actors or KnownActors()
        self._known_actors.keep_if(erased)
        self._actors: dict[str, str] = {}
        self._seq: int = seq or 0
        self._hash: str = head or NOTHING_BEFORE
        self._notice_seq: int = notice_seq or 0
        self._answers: dict[str, Any] = {
            CHANNELS: has_channels,
            WAITING_UPSTREAMS: waiting_upstreams,
            PRIVATE_CONTRACTS: private,
            NAMESPACES: has_namespaces,
        }

    @property
    def newest(self) -> int:
        """The number of the newest audit entry, those of this transaction included."""
        return self._seq

    def once(self, name: str, question: Callable[[], T]) -> T:
        """Return the answer to a question, which is asked once in a transaction; see `forget`."""
        if name not in self._answers:
            self._answers[name] = question()
        answer: T = self._answers[name]
        return answer

    def forget(self, name: str) -> None:
        """Drop the answer to a question, because this transaction changes what it depends on."""
        self._answers.pop(name, None)

    @property
    def has_waiting_upstreams(self) -> bool:
        """Whether any contract names an upstream that is not registered."""
        return bool(self.once(WAITING_UPSTREAMS, lambda: self.connection.scalar(select(_HAS_WAITING_UPSTREAMS))))

    @property
    def has_private_contracts(self) -> bool:
        """Whether any contract is not open to everyone."""
        return bool(self.once(PRIVATE_CONTRACTS, lambda: self.connection.scalar(select(_HAS_PRIVATE_CONTRACTS))))

    @property
    def has_namespaces(self) -> bool:
        """Whether any namespace belongs to a team."""
        return bool(self.once(NAMESPACES, lambda: self.connection.scalar(select(_HAS_NAMESPACES))))

    def actor_id(self, name: str) -> str:
        """Return the id of an actor, who is added if the name is new."""
        found = self._actors.get(name) or self._known_actors.ids.get(name)
        if found is None:
            query = select(tables.actors.c.id).where(tables.actors.c.name == name)
            found = self.connection.scalar(query)
            if found is None:
                row = new_actor(name)
                self.insert(tables.actors, row)
                found = str(row["id"])
            self._actors[name] = found
        return found

    def keep_actors(self) -> None:
        """Keep the ids of actors for later transactions, once this one is durable."""
        self._known_actors.ids.update(self._actors)

    def forget_actors(self, names: Iterable[str]) -> None:
        """Drop the ids of actors, because this transaction erases their names."""
        for name in names:
            self._actors.pop(name, None)
            self._known_actors.ids.pop(name, None)

    def _with_ids(self, table: Table, values: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the values of a row with the ids of actors instead of their names."""
        names = [column for column in actor_columns(table) if values.get(column) is not None]
        return {**values, **{column: self.actor_id(values[column]) for column in names}} if names else values

    def insert(self, table: Table, row: Mapping[str, Any]) -> None:
        """Add a row; actors are given by name."""
        row = self._with_ids(table, row)
        self.write(insert_into(table), row)
        self._rows.inserted(table, row)

    def update(self, table: Table, key: Mapping[str, Any], values: Mapping[str, Any]) -> bool:
        """Change the row with a primary key; return whether there is one. Actors are given by name."""
        values = self._with_ids(table, values)
        changed = self.write(update(table).where(*(table.c[name] == value for name, value in key.items())), values)
        if changed.rowcount:
            self._rows.updated(table, key, values)
        return bool(changed.rowcount)

    def read(self, statement: Executable, parameters: Mapping[str, Any] | None = None) -> CursorResult[Any]:
        """Run a query."""
        return self.connection.execute(statement, parameters)

    def write(
        self, statement: Executable, parameters: Mapping[str, Any] | list[dict[str, Any]] | None = None
    ) -> CursorResult[Any]:
        """Run a statement that changes something."""
        self._writes += 1
        return self.connection.execute(statement, parameters)

    def change(self, unit: Callable[[Connection], T]) -> T:
        """Run a function of a connection that changes something."""
        self._writes += 1
        return unit(self.connection)

    def record(
        self,
        actor: str,
        action: str,
        subject: str,
        *,
        before: State = None,
        after: State = None,
        details: Mapping[str, Any] | None = None,
    ) -> int:
        """Add an audit entry and return its number, which also numbers the change itself.

        The log keeps digests of the subject's state before and after; None where it did not exist.
        """
        self._seq += 1
        digests = _digest(before), _digest(after)
        identity = self.actor_id(actor)
        kept = dict(details or {})
        if (key := NAMED_IN_DETAILS.get(action)) is not None and key in kept:
            kept[key] = self.actor_id(kept[key])
        entry = chained(self._hash, self._seq, self.now, identity, action, subject, *digests, kept)
        self._hash = entry.hash
        self._entries.append(entry)
        return self._seq

    def notify(
        self,
        kind: str,
        contract: str,
        headline: str,
        *,
        version: str | None = None,
        details: Mapping[str, Any] | None = None,
        parties: Iterable[str] = (),
    ) -> str:
        """Add a notice, with a delivery for every channel of its parties, and return its id."""
        self._notice_seq += 1
        recipients = sorted(set(parties))
        identity = f"{self._hash[:22]}{self._notice_seq:010x}"  # unique in this registry and among others
        self._notices.append(
            {
                "seq": self._notice_seq,
                "id": identity,
                "at": self.now,
                "kind": kind,
                "contract": contract,
                "version": version,
                "headline": headline,
                "details": dict(details or {}),
                "parties": recipients,
            }
        )
        for channel in self._channels_of(recipients):
            self._deliveries.append(waiting(self._notice_seq, channel, contract, self.now))
        return identity

    def mark(self) -> Mark:
        """Return how much was written so far."""
        return Mark(self._writes, len(self._entries))

    def wrote_since(self, mark: Mark) -> bool:
        """Return whether anything was written or recorded since a mark."""
        return self.mark() != mark

    def flush(self) -> None:
        """Write the audit entries and notices that were collected."""
        if row_digests := self._rows.digests(self.connection):
            self._add_digests(row_digests)
        if self._entries:
            self.connection.execute(insert_into(tables.audit), [entry.as_row() for entry in self._entries])
        if self._notices:
            self.connection.execute(insert_into(tables.notices), self._notices)
        if self._deliveries:
            self.connection.execute(insert_into(tables.deliveries), self._deliveries)

    def _add_digests(self, row_digests: RowDigests) -> None:
        """Add the digests of the written rows to the newest entry, which covers the transaction."""
        if not self._entries and set(row_digests) == {tables.actors.name}:
            self._record_new_actors()
        if not self._entries:
            raise RuntimeError(f"a change of {', '.join(row_digests)} has no audit entry")
        self._entries[-1] = self._entries[-1].with_digests(row_digests)

    def _record_new_actors(self) -> None:
        """Record actors who did nothing that has an entry of its own, such as recording measures."""
        for name, identity in sorted(self._actors.items()):
            if name not in self._known_actors.ids:
                self.record(name, "actor.add", identity)

    @property
    def has_writes(self) -> bool:
        """Whether the transaction changed anything."""
        return self.wrote_since(Mark(0, 0))

    @property
    def has_entries(self) -> bool:
        """Whether the transaction recorded anything in the audit log."""
        return bool(self._entries)

    @property
    def has_notices(self) -> bool:
        """Whether the transaction left notices to deliver."""
        return bool(self._deliveries)

    def _channels_of(self, parties: list[str]) -> list[int]:
        has_channels = self.once(CHANNELS, lambda: self.connection.scalar(select(_HAS_CHANNELS)))
        if not parties or not has_channels:
            return []
        channels: set[int] = set()
        for start in range(0, len(parties), _MAX_PARTIES_PER_QUERY):
            some = tables.channels.c.party.in_([*parties[start : start + _MAX_PARTIES_PER_QUERY], "*"])
            query = select(tables.channels.c.id).where(some, tables.channels.c.removed_at.is_(None))
            channels.update(self.connection.execute(query).scalars())
        return sorted(channels)


@cache
def insert_into(table: Table) -> Insert:
    """Return the INSERT statement of a table; it is built once, because building one costs as much as running it."""
    return insert(table)


def _digest(state: State) -> str | None:
    return state if state is None or isinstance(state, str) else digest_of_state(state)
