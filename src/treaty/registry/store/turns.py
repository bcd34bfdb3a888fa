"""Turns between processes that write to the same SQLite file, so that none of them starves."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from typing import TypeAlias

try:
    import fcntl
except ImportError:  # where there is none, SQLite's own waiting does
    fcntl = None  # type: ignore[assignment]

_PATIENCE = 10.0
_LOOK = 0.0002

Turn: TypeAlias = Callable[[Callable[[], bool]], AbstractContextManager[None]]
"""Waits for one's turn. What it is given does something useful meanwhile, and tells whether there was anything."""


def turns_at(database: str | None) -> Turn:
    """Return a way to wait for one's turn at a SQLite file; without one, everybody has it.

    SQLite itself keeps writers apart. It lets a waiting one sleep for ever longer, so that processes under load starve;
    a lock on a file beside the database is looked at every moment.
    """
    if fcntl is None or database is None:
        return lambda meanwhile: nullcontext()
    return _Turns(f"{database}-turn").turn


class _Turns:
    """A lock on a file beside the database, for the one thread that writes."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._handle: int | None = None

    @contextmanager
    def turn(self, meanwhile: Callable[[], bool]) -> Iterator[None]:
        """Wait for one's turn; a folder that cannot be written to has none, and SQLite will say so."""
        if self._handle is None:
            with suppress(OSError):
                self._handle = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        if self._handle is None:
            yield
            return
        mine = self._wait(self._handle, meanwhile)
        try:
            yield
        finally:
            if mine:
                fcntl.flock(self._handle, fcntl.LOCK_UN)

    def _wait(self, handle: int, meanwhile: Callable[[], bool]) -> bool:
        """Wait, but not for ever: if somebody hangs with the turn, SQLite decides who may write."""
        until = time.monotonic() + _PATIENCE
        while time.monotonic() < until:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if not meanwhile():
                    time.sleep(_LOOK)
            else:
                return True
        return False

    def __del__(self) -> None:
        if self._handle is not None:
            os.close(self._handle)
