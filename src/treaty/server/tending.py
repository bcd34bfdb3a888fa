"""What a serving process does besides answering: it delivers notices, advances what is due, and publishes."""

from __future__ import annotations

import logging
import threading
from functools import partial

from treaty.catalog.drawing.layout import warm_up_meanwhile
from treaty.catalog.site import Publishing
from treaty.errors import TreatyError
from treaty.registry.local import Registry
from treaty.registry.notices.courier import Courier
from treaty.registry.notices.senders import Outlet
from treaty.server.publishing import Publisher

_LOG = logging.getLogger("treaty.server")
_EVERY = 60.0
"""Seconds between two looks at the calendar."""


class Tending:
    """Threads beside the server: the courier, the calendar, and whoever publishes the catalog."""

    def __init__(self, registry: Registry, outlet: Outlet, publishing: Publishing | None = None) -> None:
        self._registry = registry
        database = registry.desk.database
        self._courier = Courier(database, outlet.send, database.clock)
        database.on_notices(self._courier.wake)
        self._publisher = Publisher(registry, publishing) if publishing else None
        self._stop = threading.Event()
        self._threads: list[threading.Thread] = []

    def start(self) -> None:
        """Begin, until told to stop."""
        work_of = {"treaty-courier": self._deliver, "treaty-calendar": self._watch}
        if self._publisher is not None:
            work_of["treaty-publisher"] = partial(self._publisher.run, self._stop)
        for name, work in work_of.items():
            thread = threading.Thread(target=work, name=name, daemon=True)
            thread.start()
            self._threads.append(thread)
        warm_up_meanwhile()

    def wake(self) -> None:
        """Look at the outbox now."""
        self._courier.wake()

    def stop(self) -> None:
        """End them all, and wait for them."""
        self._stop.set()
        self._courier.wake()
        if self._publisher is not None:
            self._publisher.wake()
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
