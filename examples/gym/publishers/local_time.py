"""A faulty publisher: after an update in the middle of the day, it sends times as the clocks of the club show them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from events import send
from legacy_systems import CLUB_ZONE
from native import event_of
from timetable import changes

TIMES = ("scheduledStart", "scheduledEnd", "bookingOpensAt", "bookingClosesAt", "lateCancelCutoff")


def as_clocks_show(event: Mapping[str, Any]) -> dict[str, Any]:
    """Return the event with local times, as a clock on the wall shows them: without an offset."""
    zone = ZoneInfo(CLUB_ZONE)
    local = {
        name: datetime.fromisoformat(event[name]).astimezone(zone).strftime("%Y-%m-%dT%H:%M:%S")
        for name in TIMES
        if name in event
    }
    return {**event, **local}


if __name__ == "__main__":
    everything = changes()
    for place, change in enumerate(everything):
        event = event_of(change)
        send("local", change.kind, as_clocks_show(event) if place >= len(everything) // 2 else event)
