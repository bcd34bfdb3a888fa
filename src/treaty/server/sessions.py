"""Sessions of browsers: begun by a sign-in, verified by any worker, ended by sign-out, time or revocation."""

from __future__ import annotations

import hashlib
import math
from datetime import datetime
from secrets import token_urlsafe
from typing import NamedTuple

from treaty.registry.access.actors import Actor, NotAuthenticated
from treaty.registry.store import sessions
from treaty.registry.store.database import Database
from treaty.registry.store.sessions import SessionRecord
from treaty.registry.store.transaction import Transaction
from treaty.server.settings import SessionLimits
from treaty.server.usage import UsageRecorder

_ID_BYTES = 32


class NewSession(NamedTuple):
    """The secret id of a session, for the cookie, and how many seconds it is good for."""

    id: str
    seconds: int


class Sessions:
    """The sessions of a server. The database has the digests of their ids, so a copy of it signs no user in."""

    def __init__(self, database: Database, limits: SessionLimits, usage: UsageRecorder) -> None:
        self._database = database
        self._limits = limits
        self._usage = usage

    def begin(
        self, actor: Actor, *, until: datetime | None = None, replaces: str | None = None, login: str | None = None
    ) -> NewSession:
        """Begin a session with a new id and end the one that it replaces."""
        identity, now = token_urlsafe(_ID_BYTES), self._database.clock()
        longest = now + self._limits.lifetime
        expires_at = longest if until is None else min(longest, until)
        record = SessionRecord(_digest(identity), actor, now, expires_at, now, login and _digest(login))
        ended = _digest(replaces) if replaces else None

        def unit(transaction: Transaction) -> None:
            if ended is not None:
                sessions.end(transaction, ended)
            sessions.add(transaction, record)

        self._database.write(unit)
        return NewSession(identity, max(1, math.floor((expires_at - now).total_seconds())))

    def actor(self, identity: str) -> Actor | None:
        """Return who signed in; None if the session has ended, was idle for too long, or its token is not valid."""
        digest, now = _digest(identity), self._database.clock()
        try:
            with self._database.read() as connection:
                record = sessions.find(connection, digest, now)
        except NotAuthenticated:
            return None
        if record is None or now - self._usage.last_seen(record) >= self._limits.idle:
            return None
        self._usage.note_session(digest, now)
        return record.actor

    def end(self, identity: str) -> None:
        """End a session."""
        digest = _digest(identity)
        self._database.write(lambda transaction: sessions.end(transaction, digest))

    def delete_ended(self) -> None:
        """Delete sessions that ended a while ago."""
        now = self._database.clock()
        with self._database.read() as connection:
            is_due = sessions.any_over(connection, now, self._limits.idle)
        if is_due:
            self._database.change(lambda connection: sessions.delete_ended(connection, now, self._limits.idle))


def _digest(identity: str) -> str:
    return hashlib.sha256(identity.encode()).hexdigest()
