"""Threads beside the server: notice delivery, due lifecycle steps, and publication of the catalog."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from datetime import date
from functools import partial

from treaty.catalog.site import Progress, PublishTarget, publish
from treaty.catalog.site.folder import FolderBusy
from treaty.catalog.svg.graph_layout import warm_up
from treaty.errors import TreatyError
from treaty.registry.notices.senders import Outlet
from treaty.registry.service import Registry
from treaty.registry.service.channel_secrets import decrypting_sender
from treaty.registry.service.checkpoints import publish_checkpoint
from treaty.registry.service.delivery_worker import DeliveryWorker
from treaty.registry.service.retention import delete_expired

_LOG = logging.getLogger("treaty.server")
TICK_INTERVAL_S = 60.0

WARM_UP_DELAY_S = 3.0
"""The layout of graphs is loaded this long after the start, so that it does not delay the first requests."""

QUIET_PERIOD_S = 0.5
"""The site is rebuilt after this long without a change, so that a hundred registrations cause one build."""

MAX_DELAY_S = 5.0
"""The site is rebuilt after this long even if changes continue."""

POLL_INTERVAL_S = 60.0
"""How often the publisher looks for changes by other processes and for a new day."""


class BackgroundThreads:
    """Starts and stops the delivery worker, the calendar and the catalog publisher of a server."""

    def __init__(self, registry: Registry, outlet: Outlet, publishing: PublishTarget | None = None) -> None:
        self._registry = registry
        database = registry.context.database
        send = decrypting_sender(outlet.send, registry.context.secrets)
        self._delivery = DeliveryWorker(database, send, database.clock)
        database.on_notices(self._delivery.wake)
        self._publisher = CatalogPublisher(registry, publishing) if publishing else None
        self._checkpoint_seq = 0
        self._cleaned_on: date | None = None
        self._regular_jobs: list[Callable[[], None]] = []
        self._final_jobs: list[Callable[[], None]] = []
        self._stop = threading.Event()
        self._threads: list[threading.Thread] = []
        self._warm_up = threading.Timer(WARM_UP_DELAY_S, warm_up)
        self._warm_up.daemon = True

    def start(self) -> None:
        """Start the threads."""
        targets: dict[str, Callable[[], None]] = {
            "treaty-delivery": partial(self._delivery.run, self._stop),
            "treaty-calendar": self._run_calendar,
        }
        if self._publisher is not None:
            targets["treaty-publisher"] = partial(self._publisher.run, self._stop)
        for name, target in targets.items():
            thread = threading.Thread(target=target, name=name, daemon=True)
            thread.start()
            self._threads.append(thread)
        self._warm_up.start()

    def add_regular_job(self, job: Callable[[], None]) -> None:
        """Run a job every minute, and once more when the server stops."""
        self._regular_jobs.append(job)

    def at_stop(self, job: Callable[[], None]) -> None:
        """Run a job when the server stops, after its last request."""
        self._final_jobs.append(job)

    def wake_delivery(self) -> None:
        """Deliver waiting notices now."""
        self._delivery.wake()

    def stop(self) -> None:
        """Stop the threads and wait for them."""
        self._stop.set()
        self._warm_up.cancel()
        self._delivery.wake()
        if self._publisher is not None:
            self._publisher.wake()
        for job in self._final_jobs:
            job()
        for thread in self._threads:
            thread.join(timeout=10)

    def _run_calendar(self) -> None:
        while not self._stop.is_set():
            try:
                for step in self._registry.tick():
                    _LOG.info("%s %s is %s: %s", step.contract, step.version, step.after, step.reason)
            except TreatyError as error:
                _LOG.warning("cannot advance due versions: %s", error)
            self._delete_expired()
            self._publish_checkpoint()
            self._run_regular_jobs()
            self._stop.wait(TICK_INTERVAL_S)
        self._run_regular_jobs()

    def _run_regular_jobs(self) -> None:
        for job in self._regular_jobs:
            try:
                job()
            except TreatyError as error:
                _LOG.warning("a regular job failed: %s; will retry", error)

    def _delete_expired(self) -> None:
        """Delete what the retention does not keep, once a day."""
        today = self._registry.context.today
        if today == self._cleaned_on:
            return
        try:
            deleted = delete_expired(self._registry.context)
        except TreatyError as error:
            _LOG.warning("cannot delete what has expired: %s; will retry", error)
            return
        self._cleaned_on = today
        if deleted.notices or deleted.measures or deleted.secrets:
            _LOG.info(
                "deleted %d notices, %d measures and %d replaced secrets",
                deleted.notices,
                deleted.measures,
                deleted.secrets,
            )

    def _publish_checkpoint(self) -> None:
        """Sign the newest entry of the audit log, if there is a place for checkpoints and it is a new one."""
        if self._registry.context.rules.checkpoints is None:
            return
        try:
            checkpoint = publish_checkpoint(self._registry.context, after=self._checkpoint_seq)
        except TreatyError as error:
            _LOG.warning("%s; will retry", error)
        else:
            self._checkpoint_seq = checkpoint.seq if checkpoint else self._checkpoint_seq


class _Stopped(Exception):
    """The server stops during a build; the next build continues from here."""


class CatalogPublisher:
    """Keeps the published catalog up to date; an error while publishing does not affect the registry."""

    def __init__(self, registry: Registry, publishing: PublishTarget) -> None:
        self._registry = registry.shown_to(*publishing.teams)
        self._publishing = publishing
        self._changed = threading.Event()
        self._stop = threading.Event()
        registry.context.database.on_changes(self._changed.set)

    def wake(self) -> None:
        """Check for changes now."""
        self._changed.set()

    def run(self, stop: threading.Event) -> None:
        """Publish after changes, until the event is set."""
        self._stop = stop
        while not stop.is_set():
            self._changed.clear()
            self._changed.wait(POLL_INTERVAL_S if self.publish_now() else QUIET_PERIOD_S)
            self._wait_for_quiet()

    def publish_now(self) -> bool:
        """Bring the site up to date, or log why it is not; return False if another process is building it."""
        try:
            built = publish(self._registry, self._publishing, on_progress=self._check_stop)
        except FolderBusy:
            return False
        except _Stopped:
            pass
        except TreatyError as error:
            _LOG.warning("cannot publish the catalog: %s", error)
        except Exception:
            _LOG.exception("publishing the catalog to %s failed; will retry", self._publishing.folder)
        else:
            if built is not None:
                _LOG.info(
                    "published the catalog to %s: %d written, %d removed", built.folder, built.written, built.removed
                )
        return True

    def _check_stop(self, _: Progress) -> None:
        if self._stop.is_set():
            raise _Stopped

    def _wait_for_quiet(self) -> None:
        until = time.monotonic() + MAX_DELAY_S
        while self._changed.is_set() and time.monotonic() < until and not self._stop.is_set():
            self._changed.clear()
            self._changed.wait(QUIET_PERIOD_S)
