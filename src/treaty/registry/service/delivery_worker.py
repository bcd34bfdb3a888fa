"""The delivery worker: claims due notices from the outbox, sends them, and records the results."""

from __future__ import annotations

import logging
import random
import threading
import traceback
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from typing import Protocol, TypeVar

from treaty.registry.notices.delivery_failures import DeliveryFailed, NoAnswer, next_attempt
from treaty.registry.notices.senders import Sender
from treaty.registry.store import Connection, outbox
from treaty.registry.store.outbox import Choice, Due, Lane

T = TypeVar("T")

MAX_CONCURRENT_CHANNELS = {Lane.CALM: 32, Lane.TROUBLED: 4}
"""The maximum number of channels served concurrently; channels that failed before have a limit of their own.

Channels that hang for the first time do not delay others, as long as they are fewer than the limit.
"""

LEASE = timedelta(minutes=2)
_LAST_SEND = timedelta(seconds=30)  # what a send may need before the lease ends
_POLL = 2.0
_GLANCE = 0.1
_GRACE = 2.0
_CHANCE = random.SystemRandom()

_log = logging.getLogger(__name__)


class DatabasePort(Protocol):
    """The database methods that the delivery worker needs."""

    def read(self) -> AbstractContextManager[Connection]:
        """Open a snapshot."""

    def change(self, unit: Callable[[Connection], T]) -> T:
        """Run a unit in a write transaction of its own."""


@dataclass(frozen=True)
class Tally:
    """Counts of delivered, failed and given-up notices."""

    delivered: int = 0
    failed: int = 0
    dead: int = 0

    def __add__(self, other: Tally) -> Tally:
        """Sum up two tallies."""
        return Tally(self.delivered + other.delivered, self.failed + other.failed, self.dead + other.dead)


_DELIVERED, _FAILED, _DEAD = Tally(delivered=1), Tally(failed=1), Tally(dead=1)


class DeliveryWorker:
    """Delivers each notice at least once: after a crash between sending and recording it is sent again, with its id."""

    def __init__(
        self,
        database: DatabasePort,
        sender: Sender,
        clock: Callable[[], datetime],
        jitter: Callable[[], float] = _CHANCE.random,
        lease: timedelta = LEASE,
    ) -> None:
        self._database = database
        self._send = sender
        self._clock = clock
        self._jitter = jitter
        self._lease = lease
        self._breaker = CircuitBreaker()
        self._woken = threading.Event()
        self._flights: dict[Lane, set[Future[Tally]]] = {lane: set() for lane in MAX_CONCURRENT_CHANNELS}

    def run_once(self) -> Tally:
        """Deliver all due notices, one batch per channel, and wait for the results."""
        with ThreadPoolExecutor(sum(MAX_CONCURRENT_CHANNELS.values()), "treaty-notices") as pool:
            flights = self._depart(pool, threading.Event())
        return sum((flight.result() for flight in flights), Tally())

    def run(self, stop: threading.Event) -> None:
        """Deliver until stopped; deliveries under way then get two seconds to finish."""
        pool = ThreadPoolExecutor(sum(MAX_CONCURRENT_CHANNELS.values()), "treaty-notices")
        try:
            while not stop.is_set():
                self._woken.clear()
                try:
                    self._depart(pool, stop)
                except Exception:
                    _log.exception("cannot look for notices to deliver; trying again in %g s", _POLL)
                self._pause(stop)
        finally:
            wait(set().union(*self._flights.values()), _GRACE)
            pool.shutdown(wait=False, cancel_futures=True)

    def wake(self) -> None:
        """Check the outbox now."""
        self._woken.set()

    def _pause(self, stop: threading.Event) -> None:
        for _ in range(round(_POLL / _GLANCE)):
            if stop.is_set() or self._woken.wait(_GLANCE):
                return

    def _depart(self, pool: ThreadPoolExecutor, stop: threading.Event) -> list[Future[Tally]]:
        """Start one task for each channel with due notices, up to the limits."""
        room: dict[Lane, int] = {}
        for lane, size in MAX_CONCURRENT_CHANNELS.items():
            self._flights[lane] = {flight for flight in self._flights[lane] if not flight.done()}
            room[lane] = size - len(self._flights[lane])
        begun: list[Future[Tally]] = []
        for lane, dues in self._claim(room).items():
            for _, turn in groupby(dues, key=lambda due: due.channel.id):
                flight = pool.submit(self._serve, list(turn), stop)
                self._flights[lane].add(flight)
                flight.add_done_callback(lambda _: self.wake())
                begun.append(flight)
        return begun

    def _claim(self, room: dict[Lane, int]) -> dict[Lane, list[Due]]:
        now = self._clock()
        unanswered, resting = self._breaker.unanswered(), self._breaker.resting(now)
        with self._database.read() as connection:  # finding may take a while: it holds up no writer
            due = {
                lane: keys
                for lane, free in room.items()
                if (keys := outbox.find(connection, now, free, Choice(lane, unanswered, resting)))
            }
        if not due:
            return {}

        def unit(connection: Connection) -> dict[Lane, list[Due]]:
            return {lane: outbox.take(connection, keys, now, self._lease) for lane, keys in due.items()}

        return self._database.change(unit)

    def _serve(self, dues: Sequence[Due], stop: threading.Event) -> Tally:
        """Send the due notices of one channel in order; stop at the first without an answer."""
        tally = Tally()
        try:
            for position, due in enumerate(dues):
                if stop.is_set() or self._clock() + _LAST_SEND > due.leased_until:
                    self._release(dues[position:])
                    break
                failure = self._attempt(due)
                tally += self._record(due, failure)
                if isinstance(failure, NoAnswer) or (failure and failure.retry_after):
                    self._release(dues[position + 1 :])
                    break
        except Exception:  # the lease ends by itself, and the notice is sent again
            _log.exception("cannot record deliveries of channel %s", dues[0].channel.id)
        return tally

    def _attempt(self, due: Due) -> DeliveryFailed | None:
        try:
            self._send(due.notice, due.channel, self._clock())
        except DeliveryFailed as failure:
            return failure
        except Exception as error:  # a mistake of ours; its text may contain what must not be logged
            trace = "".join(traceback.format_tb(error.__traceback__))
            _log.error("sending notice %s failed with %s\n%s", due.notice.id, type(error).__name__, trace)
            return DeliveryFailed(f"an unexpected {type(error).__name__}; the log of the registry has more")
        return None

    def _record(self, due: Due, failure: DeliveryFailed | None) -> Tally:
        now, attempts = self._clock(), due.attempts + 1
        if failure is None:
            self._breaker.answered(due.channel.id)
            self._database.change(lambda connection: outbox.delivered(connection, due, now))
            return _DELIVERED
        if isinstance(failure, NoAnswer):
            self._breaker.silent(due.channel.id, now)
        elif failure.retry_after:
            self._breaker.postpone(due.channel.id, now + failure.retry_after)
        else:
            self._breaker.answered(due.channel.id)
        again = None if failure.permanent else next_attempt(attempts, now, self._jitter(), failure.retry_after)
        self._database.change(lambda connection: outbox.failed(connection, due, failure.reason, again))
        return _DEAD if again is None else _FAILED

    def _release(self, dues: Sequence[Due]) -> None:
        if dues:
            self._database.change(lambda connection: outbox.release(connection, dues))


FIRST_PAUSE = timedelta(seconds=2)
MAX_PAUSE = timedelta(minutes=1)


@dataclass(frozen=True)
class _Trouble:
    times: int
    rests_until: datetime


class CircuitBreaker:
    """Skips a channel that does not answer, for longer each time, until it answers again."""

    def __init__(self) -> None:
        self._troubles: dict[int, _Trouble] = {}
        self._lock = threading.Lock()

    def answered(self, channel: int) -> None:
        """Record that a channel answered."""
        with self._lock:
            self._troubles.pop(channel, None)

    def silent(self, channel: int, now: datetime) -> None:
        """Record that a channel did not answer."""
        with self._lock:
            times = self._troubles[channel].times + 1 if channel in self._troubles else 1
            rest = min(FIRST_PAUSE * (1 << min(times - 1, 10)), MAX_PAUSE)
            self._troubles[channel] = _Trouble(times, now + rest)

    def postpone(self, channel: int, until: datetime) -> None:
        """Record that a receiver asked to retry later."""
        with self._lock:
            self._troubles[channel] = _Trouble(1, until)

    def unanswered(self) -> frozenset[int]:
        """Return the channels that did not answer when last tried."""
        with self._lock:
            return frozenset(self._troubles)

    def resting(self, now: datetime) -> frozenset[int]:
        """Return the channels that are skipped for now."""
        with self._lock:
            return frozenset(channel for channel, trouble in self._troubles.items() if trouble.rests_until > now)
