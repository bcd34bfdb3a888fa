"""Acquaintances: tokens that signed in before, so that whoever comes back with one is known without the database."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from treaty.registry.access.actors import Actor
from treaty.registry.access.tokens import TokenRecord, check_unknown, in_force, matches, parse_token
from treaty.registry.store.at_hand import AtHand

MAX_CACHED_TOKENS = 1_000


class _Met(NamedTuple):
    record: TokenRecord
    actor: Actor


class TokenCache:
    """Remembers records of tokens, never a secret.

    Only one thing about a token ever changes: it may be taken back, by whichever process. Whether it was is known for
    sure while nobody wrote; else whoever acts for it asks, in the same transaction or in the same reading.
    """

    def __init__(self, at_hand: AtHand) -> None:
        self._at_hand = at_hand
        self._met: dict[str, _Met] = {}

    def meet(self, record: TokenRecord, actor: Actor, mark: int | None) -> None:
        """Remember a token that was in force when it was read, after the mark was taken."""
        if len(self._met) >= MAX_CACHED_TOKENS:
            self._met.clear()
        self._met[record.id] = _Met(record, actor)
        self._at_hand.put(in_force(record.id), b"", mark)

    def recognized(self, text: str, now: datetime) -> Actor | None:
        """Return who comes with a token and its secret, unless it expired; it may have been taken back."""
        parts = parse_token(text)
        if parts is None:
            return None
        identity, secret = parts
        met = self._met.get(identity)
        if met is None:
            check_unknown(secret)
            return None
        return met.actor if matches(met.record, secret) and now < met.record.expires_at else None

    def are_sure_of(self, actor: Actor) -> bool:
        """Tell whether nobody can have taken the actor's token back."""
        return actor.token is None or self._at_hand.get(in_force(actor.token)) is not None
