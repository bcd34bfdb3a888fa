"""One run of a project at a time: a lock that the operating system frees when its holder ends, however it ends."""

from __future__ import annotations

import fcntl
import json
import os
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from treaty.errors import Conflict, Unavailable

LOCK = Path(".treaty") / "run.lock"
_ASK_AGAIN = 0.1
"""Seconds between two looks at a lock that is held."""


@dataclass(frozen=True)
class Holder:
    """Who runs: the process, its run, since when, and on which machine."""

    pid: int
    run: int
    since: str
    host: str

    def __str__(self) -> str:
        return f"run {self.run}, process {self.pid} on {self.host}, since {self.since}"


def here(run: int, now: datetime) -> Holder:
    """Return this process as the holder of a run."""
    return Holder(os.getpid(), run, f"{now.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC", socket.gethostname())


@contextmanager
def locked(
    project: Path, holder: Holder, wait: float = 0.0, tell: Callable[[Holder | None], None] | None = None
) -> Iterator[None]:
    """Hold a project's lock, waiting so many seconds for it; `tell` hears once whom is waited for."""
    path = project / LOCK
    opened = _opened(path)
    try:
        _take(opened, path, wait, tell)
        _write(opened, json.dumps(asdict(holder)))
        try:
            yield
        finally:
            _write(opened, "")
    finally:
        os.close(opened)  # frees the lock; the file stays, since removing it would free it for two


def _opened(path: Path) -> int:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # not passed on to the JVM, which could outlive this process
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise Unavailable(f"cannot open the lock {path}: {error.strerror}; a run needs to write there") from None


def _take(opened: int, path: Path, wait: float, tell: Callable[[Holder | None], None] | None) -> None:
    until, told = time.monotonic() + wait, False
    while not _taken(opened):
        if time.monotonic() >= until:
            raise _refusal(_read(path), wait)
        if tell is not None and not told:
            tell(_read(path))
            told = True
        time.sleep(max(0.0, min(_ASK_AGAIN, until - time.monotonic())))


def _taken(opened: int) -> bool:
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _refusal(holder: Holder | None, wait: float) -> Conflict:
    who = "another run" if holder is None else str(holder)
    waited = f" after {wait:g} s" if wait else ""
    return Conflict(
        f"this project is being run already{waited}: {who}; nothing was changed. "
        "Run again when it has ended, or let the next one wait: --wait SECONDS"
    )


def _write(opened: int, text: str) -> None:
    os.ftruncate(opened, 0)
    os.pwrite(opened, text.encode(), 0)


def _read(path: Path) -> Holder | None:
    """Read who holds a lock; somebody who has just taken it has not said so yet."""
    try:
        return Holder(**json.loads(path.read_bytes()))
    except (OSError, ValueError, TypeError):
        return None
