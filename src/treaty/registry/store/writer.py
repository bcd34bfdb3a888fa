"""The one writer of a process: everything that waits becomes one transaction, and shares one flush to disk."""

from __future__ import annotations

import logging
from collections.abc import Callable
from concurrent.futures import Future
from datetime import datetime
from typing import Any, NamedTuple, TypeVar

from sqlalchemy import Engine

from treaty.registry.store.batches import LARGEST_BATCH, Batches, Job
from treaty.registry.store.seat import Seat
from treaty.registry.store.transaction import Transaction
from treaty.registry.store.trouble import TROUBLE, in_words
from treaty.registry.store.turns import Turns

T = TypeVar("T")
_LOG = logging.getLogger("treaty.registry")


class _Outcome(NamedTuple):
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

    def __init__(self, engine: Engine, clock: Callable[[], datetime], turns: Turns) -> None:
        self._engine = engine
        self._clock = clock
        self._turns = turns
        self._seat = Seat(engine)
        self.on_notices: Callable[[], None] = _nobody_to_wake
        self.on_changes: Callable[[], None] = _nobody_to_wake
        self._batches = Batches("treaty-writer", self._write)

    def submit(self, unit: Callable[[Transaction], T]) -> Future[T]:
        """Hand in a unit; its future is done once the unit is durable, or nothing of it is there."""
        return self._batches.put(unit)

    def close(self) -> None:
        """Finish what was handed in, and stop."""
        self._batches.close()
        self._seat.close()
        self._turns.close()

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
        self._turns.wait(meanwhile)
        try:
            about = [name for job in batch if (name := getattr(job.unit, "about", None)) is not None]
            transaction = self._seat.begin(self._clock(), about)
            if len(batch) == 1:
                outcomes = [_Outcome(batch[0].unit(transaction))]
            else:
                outcomes = [self._attempt(transaction, job) for job in batch]
            transaction.flush()
            self._seat.end()
        except BaseException as error:
            self._seat.undo(error)
            raise
        finally:
            self._turns.give()
        if transaction.has_notices:
            _wake(self.on_notices)
        if transaction.has_entries:
            _wake(self.on_changes)
        for job in batch:
            job.future.kept = job.unit, transaction
        return outcomes

    def _attempt(self, transaction: Transaction, job: Job) -> _Outcome:
        """Run one of several units; what failed before it wrote anything leaves the others alone."""
        mark = transaction.mark()
        try:
            return _Outcome(job.unit(transaction))
        except Exception as error:
            if isinstance(error, TROUBLE) or transaction.wrote_since(mark):
                raise _Dirty from error
            return _Outcome(error=error)

    def _in_words(self, error: Exception) -> Exception:
        if not isinstance(error, TROUBLE):
            return error
        _LOG.warning("a write failed: %s", type(error).__name__)
        return in_words(self._engine.url.set(query={}).render_as_string(), error)


def _wake(somebody: Callable[[], None]) -> None:
    try:
        somebody()
    except Exception as error:  # what is written is written
        _LOG.warning("nobody was woken after a write: %s", type(error).__name__)


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
