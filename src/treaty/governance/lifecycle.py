"""The life cycle of a contract version: statuses, transitions, dates, and who may subscribe."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from enum import StrEnum

from treaty.contracts.blocks import Deprecation
from treaty.errors import InvalidDocument, Refused


class Status(StrEnum):
    """The status of a version."""

    DRAFT = "draft"
    ACTIVE = "active"
    DEPRECATED = "deprecated"
    SUNSET = "sunset"
    RETIRED = "retired"
    ARCHIVED = "archived"


class ConsumerAdmission(StrEnum):
    """Whether a consumer may use a version."""

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
    """Return the status of a line: the best status of its versions."""
    return min(statuses, key=_BEST_FIRST.index)


@dataclass(frozen=True, slots=True)
class Periods:
    """The minimum periods of the life cycle."""

    deprecation: timedelta = timedelta(days=30)
    sunset: timedelta = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class Timetable:
    """The days on which a deprecated version enters sunset and may be retired."""

    announced: date
    sunset: date
    retirement: date


def parse_status(text: str | None) -> Status:
    """Parse a status; a missing status and ODCS's `proposed` mean draft."""
    if text in (None, "", "proposed"):
        return Status.DRAFT
    try:
        return Status(text)
    except ValueError:
        raise InvalidDocument(f"unknown status {text!r}; use one of: {', '.join(Status)}") from None


def check_step(before: Status, after: Status, subject: str) -> None:
    """Raise Refused if the life cycle has no transition between two statuses."""
    if after not in FOLLOWS[before]:
        allowed = ", ".join(sorted(FOLLOWS[before])) or "none, the status is final"
        raise Refused(f"{subject} is {before} and cannot become {after}; allowed next: {allowed}")


def timetable(notice: Deprecation | None, announced: date, periods: Periods) -> Timetable:
    """Return the dates of a deprecation; a sunset before the minimum period is refused."""
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
        raise InvalidDocument(f"{period.days} days after {day} is beyond the calendar; use an earlier day") from None


def due_status(status: Status, days: Timetable, today: date) -> Status | None:
    """Return the status that a version has reached by date, or None if it does not change.

    Retirement is never automatic: a version is retired by a user once it has no consumers left.
    """
    if status is Status.ACTIVE and today >= days.announced:
        return Status.DEPRECATED
    return Status.SUNSET if status is Status.DEPRECATED and today >= days.sunset else None


def day_of(text: str, name: str) -> date:
    """Parse a date; `name` is used in the error message."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise InvalidDocument(f"{name} {text!r} is not a date; write it like 2026-12-31") from None
