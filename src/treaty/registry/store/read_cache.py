"""Answers kept at hand while nothing is written: SQLite says for next to nothing whether anybody wrote since."""

from __future__ import annotations

import sqlite3
import threading
from pathlib import Path

_MOST = 32_000_000
"""Bytes that are kept at most; when they are full, it begins anew."""

_LARGEST = 64_000


class ReadCache:
    """Documents that were read since the last write to a SQLite file, by whichever process; none for other databases.

    `PRAGMA data_version` of a connection that never writes changes with every commit of any other. A text is kept with
    the mark that held before it was read, so one that was read while somebody wrote is never given out.
    """

    def __init__(self, database: str | None) -> None:
        self._path = database
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._mark: int | None = None
        self._kept: dict[str, bytes] = {}
        self._size = 0

    def mark(self) -> int | None:
        """Return what changes with every write; None where that cannot be told."""
        with self._lock:
            return self._look()

    def get(self, name: str, *needed: str) -> bytes | None:
        """Return what is at hand, if nobody wrote since it was read, and if all that is needed for it is there too."""
        with self._lock:
            if self._look() is None or not all(one in self._kept for one in needed):
                return None
            return self._kept.get(name)

    def put(self, name: str, content: bytes, mark: int | None) -> None:
        """Keep what was read after the mark was taken."""
        with self._lock:
            if mark is None or mark != self._look() or len(content) > _LARGEST:
                return
            if self._size + len(content) > _MOST:
                self._clear()
            self._size += len(content)
            self._kept[name] = memoryview(content).tobytes()  # a copy: what wrote it may have taken thrice the room

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            self._path = None
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _look(self) -> int | None:
        try:
            mark = self._ask()
        except sqlite3.Error:
            mark = None
        if mark != self._mark:
            self._clear()
            self._mark = mark
        return mark

    def _clear(self) -> None:
        self._kept.clear()
        self._size = 0

    def _ask(self) -> int | None:
        if self._path is None:
            return None
        if self._connection is None:
            where = f"{Path(self._path).absolute().as_uri()}?mode=ro"
            self._connection = sqlite3.connect(
                where, uri=True, check_same_thread=False, isolation_level=None, timeout=0
            )
        return int(self._connection.execute("PRAGMA data_version").fetchone()[0])
