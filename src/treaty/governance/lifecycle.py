"""The life of a contract version: which status may follow which, when, and what each means for consumers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from enum import StrEnum

from treaty.contracts.blocks import Deprecation
from treaty.errors import InvalidDocument, Refused


class Status(StrEnum):
    """Where a version stands in its life."""

    DRAFT = "draft"
    ACTIVE = "active"
    DEPRECATED = "deprecated"
    SUNSET = "sunset"
    RETIRED = "retired"
    ARCHIVED = "archived"


class ConsumerAdmission(StrEnum):
    """How a consumer is received."""

    ALLOWED = "allowed"
    WARNED = "warned"
    REFUSED = "refused"


FOLLOWS: dict[Status, frozenset[Status]] = {
    Status.DRAFT: frozenset({Status.ACTIVE, Status.DEPRECATED, Status.ARCHIVED}),
    Status.ACTIVE: frozenset({Status.DEPRECATED, Status.ARCHIVED}),
    Status.DEPRECATED: frozenset({Status.ACTIVE, Status.SUNSET, Status.ARCHIVED}),  # back to active: withdrawn
    Status.SUNSET: frozenset({Status.RETIRED, Status.ARCHIVED}),
    Status.RETIRED: frozenset(),
    Status.ARCHIVED: frozenset(),
}
"""Which status may follow which; retired and archived are final."""

NEW_CONSUMERS: dict[Status, ConsumerAdmission] = {
    Status.DRAFT: ConsumerAdmission.WARNED,
    Status.ACTIVE: ConsumerAdmission.ALLOWED,
    Status.DEPRECATED: ConsumerAdmission.WARNED,
    Status.SUNSET: ConsumerAdmission.REFUSED,
    Status.RETIRED: ConsumerAdmission.REFUSED,
    Status.ARCHIVED: ConsumerAdmission.REFUSED,
}
EXISTING_CONSUMERS: dict[Status, ConsumerAdmission] = {
    Status.DRAFT: ConsumerAdmission.ALLOWED,
    Status.ACTIVE: ConsumerAdmission.ALLOWED,
    Status.DEPRECATED: ConsumerAdmission.WARNED,
    Status.SUNSET: ConsumerAdmission.WARNED,
    Status.RETIRED: ConsumerAdmission.REFUSED,
    Status.ARCHIVED: ConsumerAdmission.REFUSED,
}


_BEST_FIRST = (
    Status.ACTIVE,
    Status.DEPRECATED,
    Status.SUNSET,
    Status.DRAFT,
    Status.RETIRED,
    Status.ARCHIVED,
)


def line_status(statuses: Iterable[Status]) -> Status:
    """Return where a line stands: as its best version does."""
    return min(statuses, key=_BEST_FIRST.index)


@dataclass(frozen=True, slots=True)
class Periods:
    """How long consumers are given, at least."""

    deprecation: timedelta = timedelta(days=30)
    sunset: timedelta = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class Timetable:
    """The days on which a deprecated version goes into sunset, and may be retired."""

    announced: date
    sunset: date
    retirement: date


def parse_status(text: str | None) -> Status:
    """Read a status; a document without one is a draft, and `proposed` is ODCS's word for that."""
    if text in (None, "", "proposed"):
        return Status.DRAFT
    try:
        return Status(text)
    except ValueError:
        raise InvalidDocument(f"unknown status {text!r}; use one of: {', '.join(Status)}") from None


def check_step(before: Status, after: Status, subject: str) -> None:
    """Refuse a step that the lifecycle does not have."""
    if after not in FOLLOWS[before]:
        ways = ", ".join(sorted(FOLLOWS[before])) or "nothing: it is final"
        raise Refused(f"{subject} is {before} and cannot become {after}; what may follow: {ways}")


def timetable(notice: Deprecation | None, announced: date, periods: Periods) -> Timetable:
    """Work out the days of a deprecation; a sunset earlier than the least period is refused."""
    start = day_of(notice.announced, "announced") if notice and notice.announced else announced
    earliest = _later(start, periods.deprecation)
    sunset = day_of(notice.sunset_date, "sunset_date") if notice and notice.sunset_date else earliest
    if sunset < earliest:
        days = periods.deprecation.days
        raise Refused(f"the sunset {sunset} is less than {days} days after {start}; use {earliest} or later")
    return Timetable(start, sunset, _later(sunset, periods.sunset))


def _later(day: date, period: timedelta) -> date:
    try:
        return day + period
    except OverflowError:
        raise InvalidDocument(f"after {day} the calendar ends within {period.days} days; use an earlier day") from None


def due_status(status: Status, days: Timetable, today: date) -> Status | None:
    """Return the status a version moves to by the calendar, or None where it stays.

    Retirement is only allowed by the calendar, never done by it: somebody retires a version once no consumer is left.
    """
    if status is Status.ACTIVE and today >= days.announced:
        return Status.DEPRECATED
    return Status.SUNSET if status is Status.DEPRECATED and today >= days.sunset else None


def day_of(text: str, name: str) -> date:
    """Read a day, or say which one is none."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise InvalidDocument(f"{name} {text!r} is not a date; write it like 2026-12-31") from None
