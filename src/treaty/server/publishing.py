"""A serving process keeps the published catalog up to date: soon after a change, many changes at once."""

from __future__ import annotations

import logging
import threading
import time

from treaty.catalog.site import Progress, Publishing, publish
from treaty.catalog.site.folder import Busy
from treaty.errors import TreatyError
from treaty.registry.local import Registry

_LOG = logging.getLogger("treaty.server")
_QUIET = 0.5
"""Seconds without a change after which a site is drawn, so that a hundred registrations make one build."""

_LONGEST = 5.0
"""Seconds after which it is drawn although changes go on."""

_LOOK = 60.0
"""Seconds between two looks for what other processes changed, and for a new day."""


class _Stopped(Exception):
    """The server ends; the next one, or the next build, goes on from here."""


class Publisher:
    """Publishes a registry's catalog until told to stop; nothing that happens here reaches the registry."""

    def __init__(self, registry: Registry, publishing: Publishing) -> None:
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
        except Busy:
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
