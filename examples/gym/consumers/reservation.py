"""Reservation: builds its schedule from the events of classes, and knows nothing of who published them.

    python reservation.py FILE...

reads CloudEvents, one JSON line each, from the files one after the other (or from standard input), and prints the
schedule. An event that it has seen already is ignored, as the contracts allow redeliveries.
"""

from __future__ import annotations

import fileinput
import json
from collections.abc import Iterable, Mapping
from typing import Any

BOOKABLE = ("capacity", "scheduledStart", "scheduledEnd", "bookingOpensAt", "bookingClosesAt", "lateCancelCutoff")


class Schedule:
    """The classes that can be booked, as the events say."""

    def __init__(self) -> None:
        self.classes: dict[str, dict[str, Any]] = {}
        self._seen: dict[str, int] = {}

    def apply(self, kind: str, event: Mapping[str, Any]) -> None:
        """Apply an event, unless it was applied before."""
        name, number = event["classId"], event["eventSequence"]
        if number <= self._seen.get(name, 0):
            return
        self._seen[name] = number
        if kind == "ClassCancelled":
            self.classes[name] = {**self.classes[name], "state": "cancelled", "why": event["cancellationReason"]}
        else:
            bookable = {field: event[field] for field in BOOKABLE}
            passes = sorted(event["eligibleInstruments"])
            self.classes[name] = {"gym": event["tenantId"], "state": "open", **bookable, "passes": passes}


def schedule_of(lines: Iterable[str]) -> Schedule:
    """Return the schedule after all events."""
    schedule = Schedule()
    for line in lines:
        event = json.loads(line)
        schedule.apply(event["type"], event["data"])
    return schedule


if __name__ == "__main__":
    with fileinput.input(encoding="utf-8") as lines:
        schedule = schedule_of(lines)
    for name, bookable in sorted(schedule.classes.items()):
        print(json.dumps({"classId": name, **bookable}))
