"""Publish the classes of the front desk: a log of operations on single values becomes events with whole classes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from events import send, utc
from legacy_systems import desk_log

REASONS = {"NO_COACH": "coach_unavailable", "FEW": "too_few_bookings", "ROOM": "location_closed", "MISC": "other"}
TYPES = {"open": "ClassPublished", "patch": "ClassUpdated", "close": "ClassCancelled"}


def translate(log: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the type and the event of each operation. The log has no sequence, so the events of a class are counted."""
    classes: dict[str, dict[str, Any]] = {}
    sent: Counter[str] = Counter()
    for operation in log:
        name = operation["class"]
        sent[name] += 1
        known = classes.setdefault(name, {}) | operation["set"]
        classes[name] = known
        event = {
            "classId": name,
            "eventSequence": sent[name],
            "occurredAt": utc(datetime.fromtimestamp(operation["ts"], UTC)),
            "tenantId": known["club"],
        }
        if operation["op"] == "close":
            event |= {"cancellationReason": REASONS[known["because"]], "memberMessage": known["say"]}
        else:
            event |= class_of(known)
        yield TYPES[operation["op"]], event


def class_of(known: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a class from everything that operations have set."""
    coach, _, name = known["who"].partition(":")
    start, end = (datetime.fromtimestamp(seconds, UTC) for seconds in known["from_to"])
    return {
        "className": known["title"],
        "classType": known["sort"].lower(),
        "coach": {"coachId": coach, "coachName": name.removesuffix("?"), "needsCoverage": name.endswith("?")},
        "location": {"locationId": f"room{known['where']['nr']}", "locationName": known["where"]["label"]},
        "capacity": int(known["places"]),
        "scheduledStart": utc(start),
        "scheduledEnd": utc(end),
        "bookingOpensAt": utc(start - timedelta(seconds=known["open_before"])),
        "bookingClosesAt": utc(start - timedelta(minutes=15)),
        "lateCancelCutoff": utc(start - timedelta(hours=12)),
        "eligibleInstruments": known["pass"].split(","),
    }


if __name__ == "__main__":
    for kind, event in translate(desk_log()):
        send("desk", kind, event)
