"""The run lock: one run in a folder at a time. The operating system releases it when the process ends.

The lock file names its holder. If the next run finds a name there, that run has ended without releasing its lease,
which can therefore be taken over at once (`lease.py`).
"""

from __future__ import annotations

import fcntl
import json
import os
import socket
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from treaty.errors import Conflict, Unavailable

LOCK = Path(".treaty") / "run.lock"
POLL_INTERVAL_S = 0.1


@dataclass(frozen=True)
class LockHolder:
    """The process that holds the lock: its run, when it started, and on which machine."""

    pid: int
    run: int
    since: str
    host: str
    token: str = ""
    """Distinguishes this process from all others."""

    def __str__(self) -> str:
        return f"run {self.run}, process {self.pid} on {self.host}, since {self.since}"


def current_holder(run: int, now: datetime) -> LockHolder:
    """Return this process as the holder of a run."""
    return LockHolder(
        os.getpid(), run, f"{now.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC", socket.gethostname(), uuid.uuid4().hex
    )


@contextmanager
def hold_run_lock(
    project: Path, holder: LockHolder, wait: float = 0.0, on_wait: Callable[[LockHolder | None], None] | None = None
) -> Iterator[LockHolder | None]:
    """Hold the lock of a project, waiting up to `wait` seconds; `on_wait` is called once with the current holder.

    Yields the last holder if it ended without releasing the lock, for example because it was killed. Raises
    `Conflict` if the lock is still taken after that time.
    """
    path = project / LOCK
    descriptor = _open_lock_file(path)
    try:
        _acquire(descriptor, path, wait, on_wait)
        ended = _read_holder(path)
        _write(descriptor, json.dumps(asdict(holder)))
        try:
            yield ended
        finally:
            _write(descriptor, "")
    finally:
        os.close(descriptor)  # releases the lock; the file stays, since two runs could lock two files of one name


def _open_lock_file(path: Path) -> int:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # not inherited by the JVM, which could outlive this process
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise Unavailable(
            f"cannot open the lock file {path}: {error.strerror}; make sure that a run may write there"
        ) from None


def _acquire(descriptor: int, path: Path, wait: float, on_wait: Callable[[LockHolder | None], None] | None) -> None:
    deadline, is_notified = time.monotonic() + wait, False
    while not _try_acquire(descriptor):
        if time.monotonic() >= deadline:
            raise already_running(_read_holder(path), wait)
        if on_wait is not None and not is_notified:
            on_wait(_read_holder(path))
            is_notified = True
        time.sleep(max(0.0, min(POLL_INTERVAL_S, deadline - time.monotonic())))


def _try_acquire(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def already_running(holder: LockHolder | None, wait: float, hint: str = "") -> Conflict:
    """Return the error of a run that would have to wait for another one."""
    other = "another run" if holder is None else str(holder)
    state = f"still running after {wait:g} s" if wait else "already running"
    return Conflict(
        f"this project is {state}: {other}; nothing was changed. "
        f"Try again when that run has ended, or wait for it with --wait SECONDS{hint}"
    )


def _write(descriptor: int, text: str) -> None:
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, text.encode(), 0)


def _read_holder(path: Path) -> LockHolder | None:
    """Read the holder of a lock; None if it has not written its name yet."""
    try:
        return parse_holder(path.read_text())
    except (OSError, ValueError):
        return None


def parse_holder(text: str) -> LockHolder | None:
    """Return a holder from its JSON text; None if the text is not of a holder."""
    try:
        return LockHolder(**json.loads(text))
    except (ValueError, TypeError):
        return None
