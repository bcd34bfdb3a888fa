"""One write transaction: what changes, who did it, and who is told, together or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias, TypeVar

from sqlalchemy import Connection, Executable, select, text
from sqlalchemy.engine import CursorResult

from treaty.registry.digesting import digest_of_state
from treaty.registry.notices.outbox import waiting
from treaty.registry.store import tables
from treaty.registry.store.chain import NOTHING_BEFORE, Entry, chained
from treaty.registry.store.quick import Driver, QuickInsert

T = TypeVar("T")
State: TypeAlias = str | Mapping[str, Any] | None
"""How something stands: its digest, or what is said of it."""


_PARENTS_FIRST = {table.name: place for place, table in enumerate(tables.METADATA.sorted_tables)}
_ADD_ENTRIES = QuickInsert(tables.audit)
_ADD_NOTICES = QuickInsert(tables.notices)
_ADD_DELIVERIES = QuickInsert(tables.deliveries)
_AT_ONCE = 1_000
CHANNELS = "whether anybody wants notices"
WAITING_UPSTREAMS = "whether anybody named an upstream that is not registered"
_ASKED_BY_MOST = {
    CHANNELS: "EXISTS (SELECT 1 FROM channels)",
    WAITING_UPSTREAMS: "EXISTS (SELECT 1 FROM upstreams WHERE upstream_major = -1 AND active)",
}
"""What most units ask: answered with the heads, since a question of its own costs far more."""

_HEADS = (
    "(SELECT max(seq) FROM audit)",
    "(SELECT hash FROM audit ORDER BY seq DESC LIMIT 1)",
    "(SELECT max(seq) FROM notices)",
)
_IS_REGISTERED = "EXISTS (SELECT 1 FROM contracts WHERE id = {})"


@lru_cache(200)
def _beginning(contracts: int) -> str:
    """Return the question that a transaction about so many contracts begins with; `{}` stands for each of them."""
    return f"SELECT {', '.join([*_HEADS, *_ASKED_BY_MOST.values(), *[_IS_REGISTERED] * contracts])}"


def _digest(state: State) -> str | None:
    return state if state is None or isinstance(state, str) else digest_of_state(state)


class Mark(NamedTuple):
    """How far a transaction had come when a unit of work began."""

    writes: int
    entries: int


class Transaction:
    """Reads and writes under the write lock; audit entries and notices are written with everything else."""

    def __init__(self, connection: Connection, driver: Driver, now: datetime, about: Sequence[str] = ()) -> None:
        self._connection = connection
        self._driver = driver
        self.now = now
        self._added: set[str] = set()
        self._writes = 0
        self._waiting: dict[QuickInsert, list[dict[str, Any]]] = {}
        self._waiting_for: set[str] = set()
        self._entries: list[Entry] = []
        self._notices: list[dict[str, Any]] = []
        self._deliveries: list[dict[str, Any]] = []
        seq, head, notice_seq, *known = driver.row(_beginning(len(about)), *about) or ()
        self._seq: int = seq or 0
        self._hash: str = head or NOTHING_BEFORE
        self._notice_seq: int = notice_seq or 0
        self._known: dict[str, Any] = dict(zip(_ASKED_BY_MOST, known, strict=False))
        self._registered = dict(zip(about, known[len(_ASKED_BY_MOST) :], strict=True))

    @property
    def connection(self) -> Connection:
        """The connection; rows that wait are written first, so that it sees them."""
        self._write_waiting()
        return self._connection

    @property
    def newest(self) -> int:
        """The number of the newest entry of the audit log, this transaction's included."""
        return self._seq

    def beside(self, contract: str) -> Connection:
        """Return the connection for what concerns this contract alone: rows of others may go on waiting."""
        return self.connection if contract in self._waiting_for else self._connection

    def is_new(self, contract: str) -> bool:
        """Tell whether nothing of a contract is registered; that of those it is about is known from the beginning."""
        if contract in self._added:
            return False
        if contract not in self._registered:
            (self._registered[contract],) = self._driver.row(f"SELECT {_IS_REGISTERED}", contract) or (False,)
        return not self._registered[contract]

    def once(self, name: str, question: Callable[[], T]) -> T:
        """Ask something whose answer holds for the whole transaction."""
        if name not in self._known:
            self._known[name] = question()
        answer: T = self._known[name]
        return answer

    @property
    def has_channels(self) -> bool:
        """Whether anybody wants notices."""
        return self._is_so(CHANNELS)

    @property
    def has_waiting_upstreams(self) -> bool:
        """Whether anybody named an upstream that is not registered."""
        return self._is_so(WAITING_UPSTREAMS)

    @property
    def driver(self) -> Driver:
        """The driver, for questions that the rows which wait have no part in."""
        return self._driver

    def forget(self, name: str) -> None:
        """Ask again next time: this transaction changed what the answer rests on."""
        self._known.pop(name, None)

    def _is_so(self, name: str) -> bool:
        return bool(self.once(name, lambda: self.connection.scalar(text(f"SELECT {_ASKED_BY_MOST[name]}"))))

    def add(self, contract: str, statement: QuickInsert, row: dict[str, Any]) -> None:
        """Add a row of a contract; rows of one kind are written together, which costs a fraction."""
        self._writes += 1
        self._waiting.setdefault(statement, []).append(row)
        self._waiting_for.add(contract)
        self._added.add(contract)

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
        """Let a part that knows only connections change something."""
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
        """Note in the audit log who did what; the number returned is that of the change itself, too.

        Of how the subject stood before and stands after, the log keeps a digest; None where there was nothing.
        """
        self._seq += 1
        noted = dict(details or {})
        digests = _digest(before), _digest(after)
        entry = chained(self._hash, self._seq, self.now, actor, action, subject, *digests, noted)
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
        """Put a notice into the outbox, for every channel of the parties it is for."""
        self._notice_seq += 1
        told = sorted(set(parties))
        identity = f"{self._hash[:22]}{self._notice_seq:010x}"  # its number, and what no other registry has
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
                "parties": told,
            }
        )
        for channel in self._channels_of(told):
            self._deliveries.append(waiting(self._notice_seq, channel, contract, self.now))
        return identity

    def mark(self) -> Mark:
        """Remember how far this transaction has come."""
        return Mark(self._writes, len(self._entries))

    def wrote_since(self, mark: Mark) -> bool:
        """Tell whether anything was written, or noted to be written, since."""
        return self.mark() != mark

    def flush(self) -> None:
        """Write what waits: rows, audit entries and notices."""
        self._write_waiting()
        if self._entries:
            _ADD_ENTRIES.run(self._driver, [entry.as_row() for entry in self._entries])
        if self._notices:
            _ADD_NOTICES.run(self._driver, self._notices)
        if self._deliveries:
            _ADD_DELIVERIES.run(self._driver, self._deliveries)

    @property
    def has_entries(self) -> bool:
        """Whether anything was done that the audit log tells of."""
        return bool(self._entries)

    @property
    def has_notices(self) -> bool:
        """Whether somebody has to be told once this is durable."""
        return bool(self._deliveries)

    def _channels_of(self, parties: list[str]) -> list[int]:
        if not parties or not self.has_channels:
            return []
        found: set[int] = set()
        for start in range(0, len(parties), _AT_ONCE):
            named = tables.channels.c.party.in_([*parties[start : start + _AT_ONCE], "*"])
            asked = select(tables.channels.c.id).where(named, tables.channels.c.removed_at.is_(None))
            found.update(self._connection.execute(asked).scalars())
        return sorted(found)

    def _write_waiting(self) -> None:
        if self._waiting:
            waiting, self._waiting = self._waiting, {}
            self._waiting_for.clear()
            for statement in sorted(waiting, key=lambda one: _PARENTS_FIRST[one.table.name]):
                statement.run(self._driver, waiting[statement])
