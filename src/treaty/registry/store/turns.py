"""Turns between processes that write to the same SQLite file: whoever waits is woken, instead of looking again."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress

try:
    import fcntl
except ImportError:  # where there is none, SQLite's own waiting does
    fcntl = None  # type: ignore[assignment]


def turns_at(database: str | None) -> Callable[[], AbstractContextManager[None]]:
    """Return a way to wait for one's turn at a SQLite file; without one, everybody has it.

    SQLite itself keeps writers apart. It lets a waiting one sleep for ever longer, so that processes under load starve;
    a lock on a file beside the database wakes the next at once.
    """
    if fcntl is None or database is None:
        return nullcontext
    return _Turns(f"{database}-turn").turn


class _Turns:
    """A lock on a file beside the database, for the one thread that writes."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._handle: int | None = None

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Wait for one's turn; a folder that cannot be written to has none, and SQLite will say so."""
        if self._handle is None:
            with suppress(OSError):
                self._handle = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        if self._handle is None:
            yield
            return
        fcntl.flock(self._handle, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.flock(self._handle, fcntl.LOCK_UN)

    def __del__(self) -> None:
        if self._handle is not None:
            os.close(self._handle)
