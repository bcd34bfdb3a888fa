"""Lock between processes that write to the same SQLite file."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

try:
    import fcntl
except ImportError:  # Windows: SQLite's own lock has to do
    fcntl = None  # type: ignore[assignment]

_TIMEOUT_S = 10.0
_POLL_INTERVAL_S = 0.0002


class WriterLock:
    """An exclusive `flock` on a file beside the database; without a file every caller gets the lock at once.

    SQLite separates writers itself, but a waiting writer sleeps for ever longer intervals, so that under load a process
    starves. This lock is polled at a short, constant interval. If it cannot be had within the timeout, the caller goes
    on, and SQLite decides.
    """

    def __init__(self, database: str | None) -> None:
        self._path = None if fcntl is None or database is None else f"{database}-turn"
        self._handle: int | None = None

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Wait for the lock and hold it during the context."""
        deadline = time.monotonic() + _TIMEOUT_S
        acquired = self._acquire()
        while not acquired and time.monotonic() < deadline:
            time.sleep(_POLL_INTERVAL_S)
            acquired = self._acquire()
        try:
            yield
        finally:
            if acquired and self._handle is not None:
                fcntl.flock(self._handle, fcntl.LOCK_UN)

    def close(self) -> None:
        """Close the lock file."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    def _acquire(self) -> bool:
        handle = self._open() if self._handle is None else self._handle
        if handle is None:
            return True
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _open(self) -> int | None:
        """Open the lock file; None in a folder that cannot be written to, where SQLite raises the error."""
        if self._path is not None:
            with suppress(OSError):
                self._handle = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        return self._handle

    def __del__(self) -> None:
        self.close()
