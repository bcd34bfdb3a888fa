"""What a serving process does besides answering: it delivers notices, and advances what is due."""

from __future__ import annotations

import logging
import threading

from treaty.errors import TreatyError
from treaty.registry.local import Registry
from treaty.registry.notices.courier import Courier
from treaty.registry.notices.senders import Outlet

_LOG = logging.getLogger("treaty.server")
_EVERY = 60.0
"""Seconds between two looks at the calendar."""


class Tending:
    """Two threads beside the server: the courier and the calendar."""

    def __init__(self, registry: Registry, outlet: Outlet) -> None:
        self._registry = registry
        database = registry.desk.database
        self._courier = Courier(database, outlet.send, database.clock)
        database.on_notices(self._courier.wake)
        self._stop = threading.Event()
        self._threads: list[threading.Thread] = []

    def start(self) -> None:
        """Begin, until told to stop."""
        for name, work in (("treaty-courier", self._deliver), ("treaty-calendar", self._watch)):
            thread = threading.Thread(target=work, name=name, daemon=True)
            thread.start()
            self._threads.append(thread)

    def wake(self) -> None:
        """Look at the outbox now."""
        self._courier.wake()

    def stop(self) -> None:
        """End both, and wait for them."""
        self._stop.set()
        self._courier.wake()
        for thread in self._threads:
            thread.join(timeout=10)

    def _deliver(self) -> None:
        self._courier.run(self._stop)

    def _watch(self) -> None:
        while not self._stop.is_set():
            try:
                for step in self._registry.tick():
                    _LOG.info("%s %s is %s: %s", step.contract, step.version, step.after, step.reason)
            except TreatyError as error:
                _LOG.warning("cannot look at the calendar now: %s", error)
            self._stop.wait(_EVERY)
