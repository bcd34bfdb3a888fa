"""In-process cache of what lineage events said before, so that events that repeat it cost one statement."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from typing import Any

from treaty.contracts.versions import Line
from treaty.registry.store.transaction import Transaction

_MAX_CACHED = 50_000


@dataclass(frozen=True)
class Sighting:
    """A consumer that read a line on a day; `field` is None for an event without fields."""

    consumer: str
    line: Line
    day: date
    field: str | None = None


class SeenReaders:
    """What is stored already: who read which field today, and what datasets mean.

    Most events repeat what earlier ones said; those need no query besides the one that stores them.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sightings: set[Sighting] = set()
        self._revision = -1
        self._answers: dict[Any, Any] = {}

    def has(self, sighting: Sighting) -> bool:
        """Return whether a sighting is stored."""
        return sighting in self._sightings

    def add(self, sightings: Iterable[Sighting]) -> None:
        """Note sightings that are durable."""
        with self._lock:
            if len(self._sightings) > _MAX_CACHED:
                self._sightings.clear()
            self._sightings.update(sightings)

    def answers(self, transaction: Transaction) -> dict[Any, Any]:
        """Return the cache of what the registry contains at the revision of a transaction.

        A transaction that has recorded something itself gets a cache of its own, since it may be rolled back.
        """
        if transaction.has_entries:
            return {}
        with self._lock:
            if self._revision != transaction.newest or len(self._answers) > _MAX_CACHED:
                self._revision, self._answers = transaction.newest, {}
            return self._answers
