"""The audit log: a hash chain in which every entry contains the hash of the one before it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, func, select

from treaty.registry.documents import digest_of
from treaty.registry.model import AuditAnswer, HeadAnswer
from treaty.registry.store.row_digests import RowDigests
from treaty.registry.store.tables import ERASED, actors, audit, id_of_actor, in_batches, name_of_actor, stored

NOTHING_BEFORE = "0" * 64

NAMED_IN_DETAILS = {
    "token.create": "name",
    "token.revoke": "name",
    "session.end": "name",
    "proposal.approve": "proposed_by",
    "proposal.override": "proposed_by",
    "proposal.decline": "proposed_by",
}
"""The key of the details that refers to an actor, by action."""


class Entry(NamedTuple):
    """An audit entry: actor, action, subject, time, and digests of the state before and after."""

    seq: int
    at: datetime
    actor: str
    action: str
    subject: str
    before: str | None
    after: str | None
    details: Mapping[str, Any]
    previous: str
    hash: str
    row_digests: RowDigests | None = None
    converted_from: str | None = None
    """The hash that the entry had when it contained the name of its actor and not the id."""

    def as_row(self) -> dict[str, Any]:
        """Return the entry as a row of the table."""
        return self._asdict()

    def with_digests(self, row_digests: RowDigests | None) -> Entry:
        """Return the entry with digests of rows, and with the hash that it has with them."""
        return chained(
            self.previous,
            self.seq,
            self.at,
            self.actor,
            self.action,
            self.subject,
            self.before,
            self.after,
            self.details,
            row_digests,
            self.converted_from,
        )


@dataclass(frozen=True, slots=True)
class Broken:
    """A broken place of the chain, and the reason."""

    seq: int
    reason: str


def chained(
    previous: str,
    seq: int,
    at: datetime,
    actor: str,
    action: str,
    subject: str,
    before: str | None,
    after: str | None,
    details: Mapping[str, Any],
    row_digests: RowDigests | None = None,
    converted_from: str | None = None,
) -> Entry:
    """Return the entry that follows the one with the hash `previous`."""
    content = [previous, seq, at.isoformat(), actor, action, subject, before, after, details]
    if row_digests is not None or converted_from is not None:
        content.append(row_digests)
    if converted_from is not None:
        content.append(converted_from)
    digest = digest_of(content)
    return Entry(seq, at, actor, action, subject, before, after, details, previous, digest, row_digests, converted_from)


def breaks_in(entries: Iterable[Entry], seq: int = 0, head: str = NOTHING_BEFORE) -> Iterator[Broken]:
    """Yield every place where an entry is missing, was changed, or does not follow the one before it."""
    for entry in entries:
        if entry.seq != seq + 1:
            yield Broken(entry.seq, f"entry {seq + 1} is missing")
        elif entry.previous != head:
            yield Broken(entry.seq, "it does not follow the entry before it")
        if entry.with_digests(entry.row_digests).hash != entry.hash:
            yield Broken(entry.seq, "it was changed after it was written")
        seq, head = entry.seq, entry.hash


_A = audit.c
_AT_ONCE = 1_000
_STORED = select(*map(stored, audit.columns))


def page(connection: Connection, subject: str | None, actor: str | None, after: int, limit: int) -> list[AuditAnswer]:
    """Return entries after a number, in order; `subject` is a prefix."""
    statement = select(*(_A[name] for name in AuditAnswer.model_fields)).where(_A.seq > after)
    if subject is not None:
        statement = statement.where(_A.subject.startswith(subject, autoescape=True))
    if actor is not None:
        identity = actor.removeprefix(ERASED)
        statement = statement.where((_A.actor == id_of_actor(actor)) | (_A.actor == identity))
    rows = connection.execute(statement.order_by(_A.seq).limit(limit)).all()
    details = details_with_names(connection, rows)
    return [AuditAnswer(**{**row._mapping, "details": shown}) for row, shown in zip(rows, details, strict=True)]


def details_with_names(connection: Connection, rows: Sequence[Row[Any]]) -> list[dict[str, Any]]:
    """Return the details of entries with the names of actors instead of their ids."""
    keys = [NAMED_IN_DETAILS.get(row.action, "") for row in rows]
    ids = {row.details[key] for row, key in zip(rows, keys, strict=True) if key in row.details}
    names: dict[str, str] = {}
    for some in in_batches(sorted(ids)):
        query = select(actors.c.id, name_of_actor).where(actors.c.id.in_(some))
        names.update((row[0], row[1]) for row in connection.execute(query))
    return [
        {**row.details, key: names.get(row.details[key], row.details[key])} if key in row.details else row.details
        for row, key in zip(rows, keys, strict=True)
    ]


def has_entry(connection: Connection, after: int, actor: str, action: str, subject: str, state: str) -> bool:
    """Return whether an entry after a number has this actor, action, subject and digest of the state after it."""
    same = (_A.action == action) & (_A.subject == subject) & (_A.actor == id_of_actor(actor)) & (_A.after == state)
    return connection.execute(select(_A.seq).where(_A.seq > after, same).limit(1)).first() is not None


def newest_number(connection: Connection) -> int:
    """Return the number of the newest entry. Writes come one after the other: everything up to it can be read."""
    return connection.execute(select(func.max(audit.c.seq))).scalar_one() or 0


def newest_entry(connection: Connection) -> HeadAnswer | None:
    """Return the newest entry; None if the log is empty."""
    row = connection.execute(select(_A.seq, _A.hash, _A.at).order_by(_A.seq.desc()).limit(1)).one_or_none()
    return None if row is None else HeadAnswer(seq=row.seq, hash=row.hash, at=row.at)


def read_entries(connection: Connection) -> Iterator[Entry]:
    """Yield every entry, in order."""
    after = 0
    while rows := connection.execute(_STORED.where(_A.seq > after).order_by(_A.seq).limit(_AT_ONCE)).all():
        for row in rows:
            yield Entry(**row._mapping)
        after = rows[-1].seq
