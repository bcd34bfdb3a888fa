"""Accesses in memory until they are written: a request costs an entry in a list, a transaction holds thousands."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from treaty.errors import TreatyError, Unavailable
from treaty.registry.service.context import Context
from treaty.registry.service.lineage_events import record_accesses
from treaty.registry.store.data_accesses import DataAccess

FLUSH_INTERVAL_S = 1.0
MAX_WAITING = 50_000
"""Accesses that wait to be written. If the database takes no more, nothing is served any more."""
BATCH = 2_000
_LOG = logging.getLogger("treaty.server")


class AccessRecorder:
    """Collects accesses and writes them every second from a thread of its own, and when it is closed."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._lock = threading.Lock()
        self._writing = threading.Lock()
        self._waiting: list[DataAccess] = []
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def check_capacity(self) -> None:
        """Raise Unavailable if an access could not be recorded: nothing is served without an entry."""
        if len(self._waiting) >= MAX_WAITING:
            raise Unavailable("the access log cannot be written, so no rows are served; check the registry's database")

    def add(self, access: DataAccess) -> None:
        """Record an access; it is durable within about a second."""
        with self._lock:
            self._waiting.append(access)
            if self._thread is None and not self._stop.is_set():
                self._thread = threading.Thread(target=self._run, name="treaty-access-log", daemon=True)
                self._thread.start()

    def flush(self) -> None:
        """Write everything that waits; if that fails, the next flush does it."""
        with self._writing:
            while self._waiting:
                with self._lock:
                    batch, self._waiting = self._waiting[:BATCH], self._waiting[BATCH:]
                try:
                    record_accesses(self._context, batch)
                except BaseException:
                    with self._lock:
                        self._waiting = batch + self._waiting
                    raise

    def close(self) -> None:
        """Stop the thread, and write what still waits."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(timeout=10)
        self._try(self.flush)

    def _run(self) -> None:
        while not self._stop.wait(FLUSH_INTERVAL_S):
            self._try(self.flush)

    @staticmethod
    def _try(action: Callable[[], None]) -> None:
        try:
            action()
        except TreatyError as error:
            _LOG.warning("cannot write the access log: %s; will retry", error)
