"""Stand-ins for two legacy systems: the same classes, as these systems store and export them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from timetable import COACHES, PASSES, ROOMS, Change, GymClass, changes

CLUB_ZONE = "Europe/Berlin"
PROGRAMS = {"yoga": "YOG", "spinning": "SPN", "boxing": "BOX", "pilates": "PIL"}
CANCEL_CODES = {"coach_unavailable": 10, "too_few_bookings": 20, "location_closed": 30, "other": 99}
CLOSINGS = {
    "coach_unavailable": "NO_COACH",
    "too_few_bookings": "FEW",
    "location_closed": "ROOM",
    "other": "MISC",
}


def club_rows() -> Iterator[dict[str, Any]]:
    """Yield the history table of the club system: a full row for each version of a class, in the time of the club."""
    for number, change in enumerate(changes()):
        now = change.now
        yield {
            "RowId": 880_000 + number,
            "RowVersion": change.number,
            "ClassRef": now.class_id,
            "ClubNo": int(now.gym.removeprefix("gym")),
            "Title": now.name,
            "Prog": PROGRAMS[now.kind],
            "Instructor": ", ".join(reversed(COACHES[now.coach].split())),
            "InstructorNo": now.coach,
            "SubWanted": "Y" if now.needs_coverage else "N",
            "Room": f"{now.room}|{ROOMS[now.room]}",
            "Spots": now.places,
            "StartLocal": _club_time(now.start),
            "Minutes": now.minutes,
            "BookFromDays": now.bookable_days,
            "PassMask": sum(1 << PASSES.index(one) for one in now.passes),
            "Status": "X" if change.reason else "A",
            "CancelCode": CANCEL_CODES.get(change.reason or ""),
            "MemberText": change.message,
            "InternalNote": f"checked by desk {number % 4}",
            "ChangedMillis": int(change.at.timestamp() * 1000),
        }


def _club_time(moment: datetime) -> str:
    return moment.astimezone(ZoneInfo(CLUB_ZONE)).strftime("%m/%d/%Y %I:%M %p")


def desk_log() -> Iterator[dict[str, Any]]:
    """Yield the log of the front desk: operations with the values that they set."""
    before: dict[str, GymClass] = {}
    for change in changes():
        known, now = before.get(change.now.class_id), change.now
        if change.reason:
            yield _operation("close", change, {"because": CLOSINGS[change.reason], "say": change.message})
        elif known is None:
            yield _operation("open", change, {"club": now.gym, "pass": ",".join(now.passes), **_desk_values(now)})
        else:
            old, new = _desk_values(known), _desk_values(now)
            yield _operation("patch", change, {name: value for name, value in new.items() if value != old[name]})
        before[now.class_id] = now


def _operation(name: str, change: Change, values: dict[str, Any]) -> dict[str, Any]:
    return {"op": name, "class": change.now.class_id, "ts": int(change.at.timestamp()), "set": values}


def _desk_values(now: GymClass) -> dict[str, Any]:
    opens = int((now.start - now.booking_opens).total_seconds())
    return {
        "title": now.name,
        "sort": now.kind.upper(),
        "who": f"coach{now.coach}:{COACHES[now.coach]}{'?' if now.needs_coverage else ''}",
        "where": {"nr": now.room, "label": ROOMS[now.room]},
        "places": str(now.places),
        "from_to": [int(now.start.timestamp()), int(now.end.timestamp())],
        "open_before": opens,
    }
