"""The one writer of a process: everything that waits becomes one transaction and shares one flush to disk."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from datetime import datetime
from typing import Any, NamedTuple, TypeVar

from sqlalchemy import Connection, Engine, text

from treaty.registry.store.batches import Job, WriteQueue
from treaty.registry.store.transaction import Transaction
from treaty.registry.store.trouble import TROUBLE, in_words
from treaty.registry.store.turns import WriterLock

T = TypeVar("T")
_LOG = logging.getLogger("treaty.registry")
_ONE_WRITER = text("SELECT pg_advisory_xact_lock(7237842391)")
"""Lets one process at a time write to PostgreSQL; SQLite does so by itself (BEGIN IMMEDIATE)."""


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
    unit runs again in a transaction of its own.
    """

    def __init__(self, engine: Engine, clock: Callable[[], datetime], lock: WriterLock) -> None:
        self._engine = engine
        self._clock = clock
        self._lock = lock
        self.on_notices: Callable[[], None] = _ignore
        self.on_changes: Callable[[], None] = _ignore
        self._queue = WriteQueue("treaty-writer", self._write)

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
            transaction = Transaction(connection, self._clock())
            if len(batch) == 1:
                outcomes = [_Outcome(batch[0].unit(transaction))]
            else:
                outcomes = [self._attempt(transaction, job) for job in batch]
            transaction.flush()
        if transaction.has_notices:
            _call(self.on_notices)
        if transaction.has_entries:
            _call(self.on_changes)
        return outcomes

    @contextmanager
    def _begin(self) -> Iterator[Connection]:
        """Begin a transaction as the only writer; it is committed at the end of the context."""
        with self._engine.connect().execution_options(writes=True) as connection, connection.begin():
            if connection.dialect.name == "postgresql":
                connection.execute(_ONE_WRITER)
            yield connection

    def _attempt(self, transaction: Transaction, job: Job) -> _Outcome:
        """Run one of several units; one that fails before it wrote anything does not affect the others."""
        mark = transaction.mark()
        try:
            return _Outcome(job.unit(transaction))
        except Exception as error:
            if isinstance(error, TROUBLE) or transaction.wrote_since(mark):
                raise _PartlyWritten from error
            return _Outcome(error=error)

    def _translate(self, error: Exception) -> Exception:
        if not isinstance(error, TROUBLE):
            return error
        _LOG.warning("a write failed: %s", type(error).__name__)
        return in_words(self._engine.url.set(query={}).render_as_string(), error)


def _call(listener: Callable[[], None]) -> None:
    try:
        listener()
    except Exception as error:  # the write itself is durable
        _LOG.warning("a listener failed after a write: %s", type(error).__name__)


def _ignore() -> None:
    """Do nothing: no listener is registered."""
