"""Turns between processes that write to the same SQLite file: whoever waits is woken, instead of looking again."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path

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
    path = Path(f"{database}-turn")

    @contextmanager
    def turn() -> Iterator[None]:
        try:
            handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError:  # a folder that cannot be written to: SQLite will say so
            yield
            return
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)

    return turn
