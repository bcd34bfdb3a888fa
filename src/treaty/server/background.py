"""What a serving process does besides answering: it delivers notices, advances what is due, and publishes."""

from __future__ import annotations

import logging
import threading
import time
from functools import partial

from treaty.catalog.site import Progress, PublishTarget, publish
from treaty.catalog.site.folder import FolderBusy
from treaty.catalog.svg.graph_layout import warm_up_in_background
from treaty.errors import TreatyError
from treaty.registry.local import Registry
from treaty.registry.notices.courier import Courier
from treaty.registry.notices.senders import Outlet

_LOG = logging.getLogger("treaty.server")
_EVERY = 60.0
"""Seconds between two looks at the calendar."""


class BackgroundThreads:
    """Threads beside the server: the courier, the calendar, and whoever publishes the catalog."""

    def __init__(self, registry: Registry, outlet: Outlet, publishing: PublishTarget | None = None) -> None:
        self._registry = registry
        database = registry.desk.database
        self._courier = Courier(database, outlet.send, database.clock)
        database.on_notices(self._courier.wake)
        self._publisher = CatalogPublisher(registry, publishing) if publishing else None
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
        warm_up_in_background()

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


_QUIET = 0.5
"""Seconds without a change after which a site is drawn, so that a hundred registrations make one build."""

_LONGEST = 5.0
"""Seconds after which it is drawn although changes go on."""

_LOOK = 60.0
"""Seconds between two looks for what other processes changed, and for a new day."""


class _Stopped(Exception):
    """The server ends; the next one, or the next build, goes on from here."""


class CatalogPublisher:
    """Publishes a registry's catalog until told to stop; nothing that happens here reaches the registry."""

    def __init__(self, registry: Registry, publishing: PublishTarget) -> None:
        self._registry = registry
        self._publishing = publishing
        self._changed = threading.Event()
        self._stop = threading.Event()
        registry.desk.database.on_changes(self._changed.set)

    def wake(self) -> None:
        """Look now."""
        self._changed.set()

    def run(self, stop: threading.Event) -> None:
        """Publish whenever something changed."""
        self._stop = stop
        while not stop.is_set():
            self._changed.clear()
            pause = _LOOK if self.publish_now() else _QUIET
            self._changed.wait(pause)
            self._let_changes_come()

    def publish_now(self) -> bool:
        """Bring the site up to date, or log why it is not; False where somebody else builds just now."""
        try:
            built = publish(self._registry, self._publishing, tell=self._go_on)
        except FolderBusy:
            return False
        except _Stopped:
            pass
        except TreatyError as error:
            _LOG.warning("cannot publish the catalog now: %s", error)
        except Exception:
            _LOG.exception("publishing the catalog to %s failed; it is tried again", self._publishing.folder)
        else:
            if built is not None:
                _LOG.info(
                    "published the catalog to %s: %d written, %d removed", built.folder, built.written, built.removed
                )
        return True

    def _go_on(self, _: Progress) -> None:
        if self._stop.is_set():
            raise _Stopped

    def _let_changes_come(self) -> None:
        until = time.monotonic() + _LONGEST
        while self._changed.is_set() and time.monotonic() < until and not self._stop.is_set():
            self._changed.clear()
            self._changed.wait(_QUIET)
