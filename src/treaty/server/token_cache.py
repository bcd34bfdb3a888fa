"""In-process cache of verified access tokens. Stores records, never secrets."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from treaty.registry.access.actors import Actor
from treaty.registry.access.tokens import TokenRecord, check_unknown, in_force, matches, parse_token
from treaty.registry.store.read_cache import ReadCache

MAX_CACHED_TOKENS = 1_000


class _Entry(NamedTuple):
    record: TokenRecord
    actor: Actor


class TokenCache:
    """Remembers the records of tokens that were verified against the database.

    A token record changes in one way only: it can be revoked, by any process. `is_current` returns whether nothing was
    written since the token was verified; if it returns False, the caller has to check for revocation itself, in the
    transaction or read that it acts in.
    """

    def __init__(self, read_cache: ReadCache) -> None:
        self._read_cache = read_cache
        self._entries: dict[str, _Entry] = {}

    def add(self, record: TokenRecord, actor: Actor, stamp: int | None) -> None:
        """Cache a token that was in force in a read made after the stamp was taken."""
        if len(self._entries) >= MAX_CACHED_TOKENS:
            self._entries.clear()
        self._entries[record.id] = _Entry(record, actor)
        self._read_cache.put(in_force(record.id), b"", stamp)

    def find(self, text: str, now: datetime) -> Actor | None:
        """Return the actor of a cached token, if its secret matches and it has not expired; it may be revoked."""
        parts = parse_token(text)
        if parts is None:
            return None
        identity, secret = parts
        entry = self._entries.get(identity)
        if entry is None:
            check_unknown(secret)
            return None
        return entry.actor if matches(entry.record, secret) and now < entry.record.expires_at else None

    def is_current(self, actor: Actor) -> bool:
        """Return whether the actor's token cannot have been revoked since it was verified."""
        return actor.token is None or self._read_cache.get(in_force(actor.token)) is not None
