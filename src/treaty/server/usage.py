"""When tokens and sessions were last used: noted in memory by requests, written by a background thread."""

from __future__ import annotations

import threading
from datetime import datetime, timedelta

from treaty.registry.store import Connection, sessions, tokens
from treaty.registry.store.database import Database
from treaty.registry.store.sessions import SessionRecord

TOKEN_PRECISION = timedelta(minutes=5)
SESSION_PRECISION = timedelta(minutes=1)
MAX_NOTED = 10_000


class UsageRecorder:
    """Collects the times of use, at most one per token in five minutes and per session in one."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._tokens = _Times(TOKEN_PRECISION)
        self._sessions = _Times(SESSION_PRECISION)

    def note_token(self, identity: str, now: datetime) -> None:
        """Note that a token is used."""
        self._tokens.note(identity, now)

    def note_session(self, digest: str, now: datetime) -> None:
        """Note that a session is used."""
        self._sessions.note(digest, now)

    def last_seen(self, record: SessionRecord) -> datetime:
        """Return when a session was last used, including uses that are not written yet."""
        return max(record.seen_at, self._sessions.last.get(record.digest, record.seen_at))

    def flush(self) -> None:
        """Write what was noted since the last time, in one transaction; if that fails, the next flush does it."""
        used, seen = self._tokens.take(), self._sessions.take()
        if not used and not seen:
            return

        def write(connection: Connection) -> None:
            if used:
                tokens.mark_used(connection, used)
            if seen:
                sessions.mark_seen(connection, seen)

        try:
            self._database.change(write)
        except BaseException:
            self._tokens.put_back(used)
            self._sessions.put_back(seen)
            raise


class _Times:
    """Times by key: those that were noted, and those of them that are not written yet."""

    def __init__(self, precision: timedelta) -> None:
        self._precision = precision
        self._lock = threading.Lock()
        self._waiting: dict[str, datetime] = {}
        self.last: dict[str, datetime] = {}

    def note(self, key: str, now: datetime) -> None:
        last = self.last.get(key)
        if last is not None and now - last < self._precision:
            return
        with self._lock:
            if len(self.last) >= MAX_NOTED:
                self.last.clear()
            self.last[key] = self._waiting[key] = now

    def take(self) -> dict[str, datetime]:
        with self._lock:
            waiting, self._waiting = self._waiting, {}
            return waiting

    def put_back(self, times: dict[str, datetime]) -> None:
        with self._lock:
            self._waiting = {**times, **self._waiting}
