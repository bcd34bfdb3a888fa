"""The one writer of a process: everything that waits becomes one transaction, and shares one flush to disk."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import datetime
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

from sqlalchemy import Engine, text
from sqlalchemy.exc import SQLAlchemyError

from treaty.errors import Unavailable
from treaty.registry.store.transaction import Transaction

T = TypeVar("T")
_LOG = logging.getLogger("treaty.registry")
_LARGEST_BATCH = 64
_LOCK = 7_237_842_391
"""The advisory lock on PostgreSQL: one writer at a time, as SQLite has it by nature."""


@dataclass(frozen=True, slots=True)
class _Job:
    unit: Callable[[Transaction], Any]
    future: Future[Any]


@dataclass(frozen=True, slots=True)
class _Outcome:
    value: Any = None
    error: BaseException | None = None


class _Dirty(Exception):
    """A unit failed after it had written; the batch is taken apart."""


class Writer:
    """Takes units of work from many threads; each is whole or not there at all."""

    def __init__(self, engine: Engine, clock: Callable[[], datetime]) -> None:
        self._engine = engine
        self._clock = clock
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()
        self._closed = False

    def submit(self, unit: Callable[[Transaction], T]) -> Future[T]:
        """Hand in a unit; its future is done once the unit is durable, or nothing of it is there."""
        future: Future[T] = Future()
        with self._lock:
            if self._closed:
                raise Unavailable("the registry is closed")
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="treaty-writer", daemon=True)
                self._thread.start()
            self._jobs.put(_Job(unit, future))
        return future

    def close(self) -> None:
        """Finish what was handed in, and stop."""
        with self._lock:
            self._closed = True
            thread = self._thread
            self._jobs.put(None)
        if thread is not None:
            thread.join()

    def _run(self) -> None:
        while (job := self._jobs.get()) is not None:
            batch = [job]
            while len(batch) < _LARGEST_BATCH:
                try:
                    following = self._jobs.get_nowait()
                except Empty:
                    break
                if following is None:
                    self._jobs.put(None)
                    break
                batch.append(following)
            self._write(batch)

    def _write(self, batch: list[_Job]) -> None:
        try:
            outcomes = self._transact(batch)
        except _Dirty:
            for job in batch:
                self._write_alone(job)
            return
        except Exception as error:
            outcomes = [_Outcome(error=self._in_words(error))] * len(batch)
        for job, outcome in zip(batch, outcomes, strict=True):
            _settle(job, outcome)

    def _write_alone(self, job: _Job) -> None:
        try:
            (outcome,) = self._transact([job])
        except Exception as error:
            outcome = _Outcome(error=self._in_words(error))
        _settle(job, outcome)

    def _transact(self, batch: list[_Job]) -> list[_Outcome]:
        """Run the units one after the other in one transaction; what is returned is durable."""
        with self._engine.connect().execution_options(writes=True) as connection, connection.begin():
            if connection.dialect.name == "postgresql":
                connection.execute(text(f"SELECT pg_advisory_xact_lock({_LOCK})"))
            transaction = Transaction(connection, self._clock())
            outcomes = [self._attempt(transaction, job, alone=len(batch) == 1) for job in batch]
            transaction.flush()
        return outcomes

    def _attempt(self, transaction: Transaction, job: _Job, alone: bool) -> _Outcome:
        mark = transaction.mark()
        try:
            return _Outcome(job.unit(transaction))
        except Exception as error:
            if alone:
                raise
            if isinstance(error, SQLAlchemyError) or transaction.wrote_since(mark):
                raise _Dirty from error
            return _Outcome(error=error)

    def _in_words(self, error: Exception) -> Exception:
        if not isinstance(error, SQLAlchemyError):
            return error
        from treaty.registry.store.database import unavailable

        _LOG.warning("a write failed: %s", type(error).__name__)
        return unavailable(self._engine.url.render_as_string(), error)


def _settle(job: _Job, outcome: _Outcome) -> None:
    if outcome.error is not None:
        job.future.set_exception(outcome.error)
    else:
        job.future.set_result(outcome.value)
