"""One write transaction: what changes, who did it, and who is told, together or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar
from uuid import uuid4

from sqlalchemy import Connection, Executable, insert, select
from sqlalchemy import func as sql
from sqlalchemy.engine import CursorResult

from treaty.registry.store import tables
from treaty.registry.store.chain import NOTHING_BEFORE, Entry, chained

T = TypeVar("T")

_ADD_ENTRIES = insert(tables.audit)
_ADD_NOTICES = insert(tables.notices)
_ADD_DELIVERIES = insert(tables.deliveries)
_LAST_NOTICE = select(sql.max(tables.notices.c.seq)).scalar_subquery().label("last_notice")
_HEADS = select(tables.audit.c.seq, tables.audit.c.hash, _LAST_NOTICE).order_by(tables.audit.c.seq.desc()).limit(1)


@dataclass(frozen=True, slots=True)
class Mark:
    """How far a transaction had come when a unit of work began."""

    writes: int
    entries: int


class Transaction:
    """Reads and writes under the write lock; audit entries and notices are written with everything else."""

    def __init__(self, connection: Connection, now: datetime) -> None:
        self.connection = connection
        self.now = now
        self._writes = 0
        self._entries: list[Entry] = []
        self._notices: list[dict[str, Any]] = []
        self._deliveries: list[dict[str, Any]] = []
        self._has_channels: bool | None = None
        self._seq, self._hash, self._notice_seq = self._heads()

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
        before: str | None = None,
        after: str | None = None,
        details: Mapping[str, Any] | None = None,
    ) -> int:
        """Note in the audit log who did what; the number returned is that of the change itself, too."""
        self._seq += 1
        entry = chained(self._hash, self._seq, self.now, actor, action, subject, before, after, details or {})
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
        identity = str(uuid4())
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
            self._deliveries.append(
                {
                    "notice": self._notice_seq,
                    "channel": channel,
                    "contract": contract,
                    "state": "pending",
                    "attempts": 0,
                    "next_at": self.now,
                }
            )
        return identity

    def mark(self) -> Mark:
        """Remember how far this transaction has come."""
        return Mark(self._writes, len(self._entries))

    def wrote_since(self, mark: Mark) -> bool:
        """Tell whether anything was written, or noted to be written, since."""
        return self.mark() != mark

    def flush(self) -> None:
        """Write the audit entries and notices that were noted."""
        if self._entries:
            self.connection.execute(_ADD_ENTRIES, [entry.as_row() for entry in self._entries])
        if self._notices:
            self.connection.execute(_ADD_NOTICES, self._notices)
        if self._deliveries:
            self.connection.execute(_ADD_DELIVERIES, self._deliveries)

    @property
    def notices_queued(self) -> bool:
        """Whether somebody has to be told once this is durable."""
        return bool(self._deliveries)

    def _channels_of(self, parties: list[str]) -> list[int]:
        if self._has_channels is None:  # most registries begin without any: one question for all that waits
            self._has_channels = self.read(select(tables.channels.c.id).limit(1)).first() is not None
        if not parties or not self._has_channels:
            return []
        found = self.read(
            select(tables.channels.c.id).where(
                tables.channels.c.party.in_([*parties, "*"]), tables.channels.c.removed_at.is_(None)
            )
        )
        return sorted(found.scalars())

    def _heads(self) -> tuple[int, str, int]:
        head = self.read(_HEADS).one_or_none()
        return (0, NOTHING_BEFORE, 0) if head is None else (head.seq, head.hash, head.last_notice or 0)
