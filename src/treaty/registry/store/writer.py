"""The one writer of a process: everything that waits becomes one transaction, and shares one flush to disk."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine

from treaty.registry.store.batches import LARGEST_BATCH, Batches, Job
from treaty.registry.store.quick import Driver
from treaty.registry.store.transaction import Transaction
from treaty.registry.store.trouble import TROUBLE, in_words
from treaty.registry.store.turns import Turn

T = TypeVar("T")
_LOG = logging.getLogger("treaty.registry")
_OF_A_FILE = (
    "PRAGMA cache_size=-32000",  # kilobytes: the pages that writes touch stay at hand
    "PRAGMA wal_autocheckpoint=4000",  # pages: those that change often are moved into the file once, not many times
)
_BEGIN = {
    "sqlite": "BEGIN IMMEDIATE",
    "postgresql": "SELECT pg_advisory_xact_lock(7237842391)",  # one writer at a time, as SQLite has it by nature
}
BEGUN = "begun"
"""Says of a connection that its transactions are begun by hand."""


@dataclass(frozen=True, slots=True)
class _Outcome:
    value: Any = None
    error: Exception | None = None

    def tell(self, job: Job) -> None:
        """Let the caller have it."""
        if self.error is not None:
            job.fail(self.error)
        else:
            job.succeed(self.value)


class _Dirty(Exception):
    """A unit failed after it had written; the batch is taken apart."""


class Writer:
    """Takes units of work from many threads; each is whole or not there at all.

    A unit is called with the transaction. One that has a method `prepare` can make itself ready before that, while
    nobody waits for the database; `about` then names the contract it is about.
    """

    def __init__(self, engine: Engine, clock: Callable[[], datetime], turn: Turn) -> None:
        self._engine = engine
        self._clock = clock
        self._turn = turn
        self._connection: Connection | None = None
        self.on_notices: Callable[[], None] = _nobody_to_wake
        self.on_changes: Callable[[], None] = _nobody_to_wake
        self._batches = Batches("treaty-writer", self._write)

    def submit(self, unit: Callable[[Transaction], T]) -> Future[T]:
        """Hand in a unit; its future is done once the unit is durable, or nothing of it is there."""
        return self._batches.put(unit)

    def close(self) -> None:
        """Finish what was handed in, and stop."""
        self._batches.close()
        self._let_go()

    def _write(self, batch: list[Job]) -> None:
        ready = [job for job in batch if _prepared(job)]
        if not ready:
            return

        def take_more() -> bool:
            more = self._batches.more(LARGEST_BATCH - len(batch))
            batch.extend(more)
            ready.extend(job for job in more if _prepared(job))
            return bool(more)

        try:
            outcomes = self._transact(ready, take_more)
        except _Dirty:
            for job in ready:
                self._write_alone(job)
            return
        except Exception as error:
            outcomes = [_Outcome(error=self._in_words(error))] * len(ready)
        for job, outcome in zip(ready, outcomes, strict=True):
            outcome.tell(job)

    def _write_alone(self, job: Job) -> None:
        try:
            (outcome,) = self._transact([job], _nothing_to_do)
        except Exception as error:
            outcome = _Outcome(error=self._in_words(error))
        outcome.tell(job)

    def _transact(self, batch: list[Job], meanwhile: Callable[[], bool]) -> list[_Outcome]:
        """Run the units one after the other in one transaction; what is returned is durable."""
        with self._turn(meanwhile), self._begun() as (connection, driver):
            about = [job.unit.about for job in batch if hasattr(job.unit, "about")]
            transaction = Transaction(connection, driver, self._clock(), about)
            outcomes = [self._attempt(transaction, job, alone=len(batch) == 1) for job in batch]
            transaction.flush()
        if transaction.has_notices:
            with suppress(Exception):  # what is written is written
                self.on_notices()
        if transaction.has_entries:
            with suppress(Exception):
                self.on_changes()
        return outcomes

    @contextmanager
    def _begun(self) -> Iterator[tuple[Connection, Driver]]:
        """Give a connection in a transaction, which is durable in the end or was never there.

        It is begun and ended at the driver, which costs a fraction of what the layers above it ask for.
        """
        connection = self._connection or self._connect()
        try:
            driver = Driver(connection)
            driver.run(_BEGIN[driver.dialect.name])
            yield connection, driver
            driver.commit()
            if connection.in_transaction():  # as the layers above see it, where a unit used them
                connection.commit()
        except BaseException as error:
            with suppress(*TROUBLE):
                connection.rollback()
                connection.connection.rollback()
            if isinstance(error, TROUBLE):
                self._let_go()
            raise
        finally:
            if self._connection is None:
                connection.close()

    def _connect(self) -> Connection:
        """Connect: on a file once, since nothing can break that; else by the pool, which sees to what is broken."""
        connection = self._engine.connect().execution_options(**{BEGUN: True})
        if self._engine.dialect.name == "sqlite":
            self._connection = connection
            for pragma in _OF_A_FILE:
                Driver(connection).run(pragma)
        return connection

    def _let_go(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _attempt(self, transaction: Transaction, job: Job, alone: bool) -> _Outcome:
        mark = transaction.mark()
        try:
            return _Outcome(job.unit(transaction))
        except Exception as error:
            if alone:
                raise
            if isinstance(error, TROUBLE) or transaction.wrote_since(mark):
                raise _Dirty from error
            return _Outcome(error=error)

    def _in_words(self, error: Exception) -> Exception:
        if not isinstance(error, TROUBLE):
            return error
        _LOG.warning("a write failed: %s", type(error).__name__)
        return in_words(self._engine.url.set(query={}).render_as_string(), error)


def _nobody_to_wake() -> None:
    """Do nothing: what was written waits for whoever looks for it."""


def _nothing_to_do() -> bool:
    return False


def _prepared(job: Job) -> bool:
    """Let a unit make itself ready; one that fails at that is out."""
    prepare = getattr(job.unit, "prepare", None)
    try:
        if prepare is not None:
            prepare()
    except Exception as error:
        job.fail(error)
        return False
    return True
