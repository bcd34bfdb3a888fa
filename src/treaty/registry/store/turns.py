"""Turns between those who write to the same SQLite file, so that none of them starves."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress

try:
    import fcntl
except ImportError:  # where there is none, SQLite's own waiting does
    fcntl = None  # type: ignore[assignment]

_PATIENCE = 10.0
_LOOK = 0.0002


class Turns:
    """A lock on a file beside the database, for one who writes; without a file, everybody has the turn.

    SQLite itself keeps writers apart. It lets a waiting one sleep for ever longer, so that processes under load starve;
    this lock is looked at every moment.
    """

    def __init__(self, database: str | None) -> None:
        self._path = None if fcntl is None or database is None else f"{database}-turn"
        self._handle: int | None = None
        self._mine = False

    def wait(self, meanwhile: Callable[[], bool]) -> None:
        """Wait, but not for ever: if somebody hangs with the turn, SQLite decides who may write.

        What is given does something useful meanwhile, and tells whether there was anything.
        """
        until = time.monotonic() + _PATIENCE
        while not self.take() and time.monotonic() < until:
            if not meanwhile():
                time.sleep(_LOOK)

    def take(self) -> bool:
        """Take the turn if nobody has it."""
        handle = self._open() if self._handle is None else self._handle
        if handle is None:
            return True
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        self._mine = True
        return True

    def give(self) -> None:
        """Let others have the turn."""
        if self._mine and self._handle is not None:
            self._mine = False
            fcntl.flock(self._handle, fcntl.LOCK_UN)

    def close(self) -> None:
        """Let go of the file."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle, self._mine = None, False

    def _open(self) -> int | None:
        """Open the file; in a folder that cannot be written to there is none, and SQLite will say so."""
        if self._path is not None:
            with suppress(OSError):
                self._handle = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        return self._handle

    def __del__(self) -> None:
        self.close()
