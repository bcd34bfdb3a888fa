"""The scheduling capability of the platform: its classes are what the contracts describe."""

from __future__ import annotations

from typing import Any

from events import send, utc
from timetable import COACHES, ROOMS, Change, changes


def event_of(change: Change) -> dict[str, Any]:
    """Return the event about a change."""
    now = change.now
    event: dict[str, Any] = {
        "classId": now.class_id,
        "eventSequence": change.number,
        "occurredAt": utc(change.at),
        "tenantId": now.gym,
    }
    if change.reason:
        return event | {"cancellationReason": change.reason, "memberMessage": change.message}
    return event | {
        "className": now.name,
        "classType": now.kind,
        "coach": {"coachId": f"coach{now.coach}", "coachName": COACHES[now.coach], "needsCoverage": now.needs_coverage},
        "location": {"locationId": f"room{now.room}", "locationName": ROOMS[now.room]},
        "capacity": now.places,
        "scheduledStart": utc(now.start),
        "scheduledEnd": utc(now.end),
        "bookingOpensAt": utc(now.booking_opens),
        "bookingClosesAt": utc(now.booking_closes),
        "lateCancelCutoff": utc(now.late_cancel),
        "eligibleInstruments": list(now.passes),
    }


if __name__ == "__main__":
    for change in changes():
        send("native", change.kind, event_of(change))
