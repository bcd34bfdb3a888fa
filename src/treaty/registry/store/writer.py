"""The one writer of a process: everything that waits becomes one transaction and shares one flush to disk."""

from __future__ import annotations

import logging
import math
import os
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from datetime import datetime
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple, TypeVar

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DataError, DBAPIError, SQLAlchemyError

from treaty.errors import InvalidDocument, TreatyError, Unavailable
from treaty.registry.store.actors import KnownActors
from treaty.registry.store.transaction import Transaction

T = TypeVar("T")
_LOG = logging.getLogger("treaty.registry")
_LOCK_WRITES = {
    "sqlite": "BEGIN IMMEDIATE",
    "postgresql": (
        "SELECT set_config('idle_in_transaction_session_timeout', '10s', true), pg_advisory_xact_lock(7237842391)"
    ),
}
"""The first statement of a write transaction: it lets one process at a time write to the database.

PostgreSQL ends the transaction of a process that holds the lock and no longer responds.
"""


DATABASE_ERRORS = (SQLAlchemyError, OverflowError, UnicodeEncodeError)
"""Exceptions of SQLAlchemy and the drivers."""


@contextmanager
def reachable(name: str) -> Iterator[None]:
    """Translate database errors raised in the context."""
    try:
        yield
    except DATABASE_ERRORS as error:
        raise describe_error(name, error) from None


def describe_error(name: str, error: Exception) -> TreatyError:
    """Return InvalidDocument for a value that cannot be stored, otherwise Unavailable with the reason."""
    if isinstance(error, (DataError, OverflowError, UnicodeEncodeError)):
        return InvalidDocument("a text has a character, or a number a size, that the database cannot store")
    reason = str(getattr(error, "orig", None) or error).strip().splitlines()
    return Unavailable(f"the database {name} cannot be used now: {reason[0] if reason else 'no reason given'}")


def _is_connection_lost(error: Exception) -> bool:
    """Return whether the connection broke or could not be made: every other unit would fail for the same reason."""
    return isinstance(error, DBAPIError) and (error.connection_invalidated or error.statement is None)


class _Outcome(NamedTuple):
    value: Any = None
    error: Exception | None = None

    def settle(self, future: Future[Any]) -> None:
        """Pass the result or the error to the caller."""
        if self.error is not None:
            future.set_exception(self.error)
        else:
            future.set_result(self.value)


class _PartlyWritten(Exception):
    """A unit failed after it had written something, so its batch is rolled back."""


class Writer:
    """Runs units of work from many threads, each completely or not at all.

    The units of a batch share a transaction. If one of them fails after it wrote, the batch is rolled back and every
    unit runs again in a transaction of its own. If the connection is lost, all of them fail, and the next batch
    connects again.
    """

    def __init__(self, engine: Engine, clock: Callable[[], datetime], lock: WriterLock) -> None:
        self._engine = engine
        self._clock = clock
        self._lock = lock
        self.on_notices: Callable[[], None] = _ignore
        self.on_changes: Callable[[], None] = _ignore
        self.last_commit_at = -math.inf  # on the monotonic clock; reset when a write fails
        self._actors = KnownActors()
        self._queue = WriteQueue("treaty-writer", self._write)

    def on_pending(self, listener: Callable[[int], None]) -> None:
        """Set the function that is called with the number of unfinished units whenever it changes."""
        self._queue.on_pending = listener

    def submit(self, unit: Callable[[Transaction], T]) -> Future[T]:
        """Queue a unit; its future is done once the unit is durable or has failed without a trace."""
        return self._queue.put(unit)

    def close(self) -> None:
        """Finish the units in the queue, then stop."""
        self._queue.close()
        self._lock.close()

    def _write(self, batch: list[Job]) -> None:
        try:
            outcomes = self._transact(batch)
        except _PartlyWritten:
            outcomes = [self._write_alone(job) for job in batch]
        except Exception as error:
            outcomes = [_Outcome(error=self._translate(error))] * len(batch)
        for job, outcome in zip(batch, outcomes, strict=True):
            outcome.settle(job.future)

    def _write_alone(self, job: Job) -> _Outcome:
        try:
            return self._transact([job])[0]
        except Exception as error:
            return _Outcome(error=self._translate(error))

    def _transact(self, batch: list[Job]) -> list[_Outcome]:
        """Run the units one after the other in one transaction; once this returns, they are durable."""
        with self._lock.hold(), self._begin() as connection:
            transaction = Transaction(connection, self._clock(), self._actors)
            if len(batch) == 1:
                outcomes = [_Outcome(batch[0].unit(transaction))]
            else:
                outcomes = [self._attempt(transaction, job) for job in batch]
            transaction.flush()
        transaction.keep_actors()
        if transaction.has_writes:
            self.last_commit_at = time.monotonic()
        if transaction.has_notices:
            _call(self.on_notices)
        if transaction.has_entries:
            _call(self.on_changes)
        return outcomes

    @contextmanager
    def _begin(self) -> Iterator[Connection]:
        """Begin a transaction as the only writer; it is committed at the end of the context."""
        with self._engine.begin() as connection:
            connection.exec_driver_sql(_LOCK_WRITES[connection.dialect.name])
            yield connection

    def _attempt(self, transaction: Transaction, job: Job) -> _Outcome:
        """Run one of several units; one that fails before it wrote anything does not affect the others."""
        mark = transaction.mark()
        try:
            return _Outcome(job.unit(transaction))
        except Exception as error:
            if _is_connection_lost(error):
                raise
            if isinstance(error, DATABASE_ERRORS) or transaction.wrote_since(mark):
                raise _PartlyWritten from error
            return _Outcome(error=error)

    def _translate(self, error: Exception) -> Exception:
        if not isinstance(error, DATABASE_ERRORS):
            return error
        self.last_commit_at = -math.inf
        _LOG.warning("a write failed: %s", type(error).__name__)
        return describe_error(self._engine.url.set(query={}).render_as_string(), error)


def _call(listener: Callable[[], None]) -> None:
    try:
        listener()
    except Exception as error:  # the write itself is durable
        _LOG.warning("a listener failed after a write: %s", type(error).__name__)


def _ignore(_count: int = 0) -> None:
    """Do nothing: no listener is registered."""


MAX_BATCH_SIZE = 64


class Job(NamedTuple):
    """A unit of work and the future that its caller waits for."""

    unit: Callable[..., Any]
    future: Future[Any]


class WriteQueue:
    """Hands jobs to one daemon thread in the order they arrive; everything that waits becomes one batch."""

    def __init__(self, name: str, work: Callable[[list[Job]], None]) -> None:
        self._name = name
        self._work = work
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()
        self._closed = False
        self._pending = 0
        self.on_pending: Callable[[int], None] = _ignore

    def put(self, unit: Callable[..., Any]) -> Future[Any]:
        """Add a job; the first one starts the thread. Raises Unavailable once the queue is closed."""
        future: Future[Any] = Future()
        with self._lock:
            if self._closed:
                raise Unavailable("the registry is closed")
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
                self._thread.start()
            self._jobs.put(Job(unit, future))
            self._count(1)
        return future

    def close(self) -> None:
        """Finish the jobs in the queue, then stop the thread."""
        with self._lock:
            self._closed = True
            thread = self._thread
            self._jobs.put(None)
        if thread is not None:
            thread.join()

    def _run(self) -> None:
        while (job := self._jobs.get()) is not None:
            batch = [job, *self._waiting(MAX_BATCH_SIZE - 1)]
            self._process(batch)
            with self._lock:
                self._count(-len(batch))

    def _count(self, change: int) -> None:
        self._pending += change
        with suppress(Exception):  # the jobs are done whatever counts them
            self.on_pending(self._pending)

    def _waiting(self, limit: int) -> list[Job]:
        jobs: list[Job] = []
        while len(jobs) < limit:
            try:
                job = self._jobs.get_nowait()
            except Empty:
                break
            if job is None:
                self._jobs.put(None)
                break
            jobs.append(job)
        return jobs

    def _process(self, batch: list[Job]) -> None:
        """Run a batch without the jobs that were cancelled; from here on a job can no longer be cancelled."""
        wanted = [job for job in batch if job.future.set_running_or_notify_cancel()]
        if not wanted:
            return
        try:
            self._work(wanted)
        except BaseException as error:  # the thread must survive for later jobs
            for job in wanted:
                if not job.future.done():
                    job.future.set_exception(error)


try:
    import fcntl
except ImportError:  # Windows: SQLite's own lock has to do
    fcntl = None  # type: ignore[assignment]

_TIMEOUT_S = 10.0
_POLL_INTERVAL_S = 0.0002


class WriterLock:
    """An exclusive `flock` on a file beside the database; without a file every caller acquires the lock at once.

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
