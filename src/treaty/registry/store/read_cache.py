"""In-process cache of answers from a SQLite file, valid until any process changes the content of the registry."""

from __future__ import annotations

import sqlite3
import threading
from pathlib import Path

MAX_CACHED_BYTES = 32_000_000
"""The cache is emptied when it would hold more."""

MAX_ENTRY_BYTES = 64_000


class ReadCache:
    """Caches byte strings by name until the registry changes; caches nothing for databases other than SQLite.

    The stamp is the number of the newest audit entry, since every change of contracts and tokens has one. It is read
    again when `PRAGMA data_version` of a connection that never writes shows a commit of any other connection, so that
    commits without an entry, such as those of readiness probes, empty nothing. A value is stored only if the stamp
    taken before it was read still holds.
    """

    def __init__(self, database: str | None) -> None:
        self._path = database
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._data_version: int | None = None
        self._stamp: int | None = None
        self._values: dict[str, bytes] = {}
        self._size = 0

    def stamp(self) -> int | None:
        """Return the version stamp to take before reading; None if the database has none."""
        with self._lock:
            return self._refresh()

    def get(self, name: str) -> bytes | None:
        """Return a cached value, or None if there is none or the database changed since."""
        with self._lock:
            return None if self._refresh() is None else self._values.get(name)

    def put(self, name: str, value: bytes, stamp: int | None) -> None:
        """Cache a value that was read after the stamp was taken."""
        with self._lock:
            if stamp is None or stamp != self._refresh() or len(value) > MAX_ENTRY_BYTES:
                return
            if self._size + len(value) > MAX_CACHED_BYTES:
                self._clear()
            self._size += len(value)
            self._values[name] = value

    def close(self) -> None:
        """Close the connection and stop caching."""
        with self._lock:
            self._path = None
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _refresh(self) -> int | None:
        """Return the current stamp; drop all values if it changed."""
        try:
            stamp = self._read_stamp()
        except sqlite3.Error:
            self._data_version = stamp = None
        if stamp != self._stamp:
            self._clear()
            self._stamp = stamp
        return stamp

    def _clear(self) -> None:
        self._values.clear()
        self._size = 0

    def _read_stamp(self) -> int | None:
        if self._path is None:
            return None
        if self._connection is None:
            uri = f"{Path(self._path).absolute().as_uri()}?mode=ro"
            self._connection = sqlite3.connect(uri, uri=True, check_same_thread=False, isolation_level=None, timeout=0)
        data_version = self._connection.execute("PRAGMA data_version").fetchone()[0]
        if data_version == self._data_version:
            return self._stamp
        newest: int = self._connection.execute("SELECT coalesce(max(seq), 0) FROM audit").fetchone()[0]
        self._data_version = data_version
        return newest
