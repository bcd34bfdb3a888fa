"""The audit log as a chain: each entry carries the hash of the one before it, so that no change goes unseen."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from treaty.registry.digesting import digest_of

NOTHING_BEFORE = "0" * 64


class Entry(NamedTuple):
    """Who did what to which subject, when, and the digests before and after."""

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

    def as_row(self) -> dict[str, Any]:
        """Return the entry as the row it is kept in."""
        return self._asdict()


@dataclass(frozen=True, slots=True)
class Broken:
    """Where the chain does not hold, and how."""

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
) -> Entry:
    """Return the entry that follows the one with the hash `previous`."""
    said = [previous, seq, at.isoformat(), actor, action, subject, before, after, details]
    return Entry(seq, at, actor, action, subject, before, after, details, previous, digest_of(said))


def breaks_in(entries: Iterable[Entry], seq: int = 0, head: str = NOTHING_BEFORE) -> Iterator[Broken]:
    """Yield every place where an entry is missing, was changed, or does not follow the one before it."""
    for entry in entries:
        if entry.seq != seq + 1:
            yield Broken(entry.seq, f"entry {seq + 1} is missing")
        elif entry.previous != head:
            yield Broken(entry.seq, "it does not follow the entry before it")
        expected = chained(
            entry.previous,
            entry.seq,
            entry.at,
            entry.actor,
            entry.action,
            entry.subject,
            entry.before,
            entry.after,
            entry.details,
        )
        if expected.hash != entry.hash:
            yield Broken(entry.seq, "it was changed after it was written")
        seq, head = entry.seq, entry.hash
