"""Publish the classes of the club system: full rows in local time, with codes, become events of the contracts.

Nothing of the system leaves the adapter: row ids, notes of the desk and its codes are not in the events.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from events import send, utc
from legacy_systems import CLUB_ZONE, club_rows

TYPES = {"YOG": "yoga", "SPN": "spinning", "BOX": "boxing", "PIL": "pilates"}
REASONS = {10: "coach_unavailable", 20: "too_few_bookings", 30: "location_closed", 99: "other"}
PASSES = ("day", "month", "year")


def type_of(row: Mapping[str, Any]) -> str:
    """Return the event type of a version of a class."""
    if row["Status"] == "X":
        return "ClassCancelled"
    return "ClassPublished" if row["RowVersion"] == 1 else "ClassUpdated"


def event_of(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the event about a version of a class."""
    event = {
        "classId": row["ClassRef"],
        "eventSequence": row["RowVersion"],
        "occurredAt": utc(datetime.fromtimestamp(row["ChangedMillis"] / 1000, UTC)),
        "tenantId": f"gym{row['ClubNo']}",
    }
    if row["Status"] == "X":
        return event | {"cancellationReason": REASONS[row["CancelCode"]], "memberMessage": row["MemberText"]}
    start = datetime.strptime(row["StartLocal"], "%m/%d/%Y %I:%M %p").replace(tzinfo=ZoneInfo(CLUB_ZONE))
    start = start.astimezone(UTC)
    last, first = row["Instructor"].split(", ")
    room, _, label = row["Room"].partition("|")
    return event | {
        "className": row["Title"],
        "classType": TYPES[row["Prog"]],
        "coach": {
            "coachId": f"coach{row['InstructorNo']}",
            "coachName": f"{first} {last}",
            "needsCoverage": row["SubWanted"] == "Y",
        },
        "location": {"locationId": f"room{room}", "locationName": label},
        "capacity": row["Spots"],
        "scheduledStart": utc(start),
        "scheduledEnd": utc(start + timedelta(minutes=row["Minutes"])),
        "bookingOpensAt": utc(start - timedelta(days=row["BookFromDays"])),
        "bookingClosesAt": utc(start - timedelta(minutes=15)),
        "lateCancelCutoff": utc(start - timedelta(hours=12)),
        "eligibleInstruments": [name for place, name in enumerate(PASSES) if row["PassMask"] >> place & 1],
    }


if __name__ == "__main__":
    for row in club_rows():
        send("club", type_of(row), event_of(row))
