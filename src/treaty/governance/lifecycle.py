"""The life cycle of a contract version: statuses, transitions, dates, and who may subscribe."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from enum import StrEnum

from treaty.contracts.blocks import Deprecation
from treaty.contracts.quantities import parse_seconds
from treaty.errors import InvalidDocument, Refused
from treaty.suggestions import choose


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


ODCS_STATUSES = {
    "proposed": Status.DRAFT,
    "development": Status.DRAFT,
    "test": Status.DRAFT,
    "production": Status.ACTIVE,
}
"""Other statuses that versions of ODCS suggest, and what they mean here."""

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


RELEASED = frozenset({Status.ACTIVE, Status.DEPRECATED, Status.SUNSET})
"""The statuses of a version that was released and is still there."""


def head_of_line(statuses: Sequence[Status]) -> int:
    """Return the position of the version that speaks for a line, given statuses with the highest version first.

    That is the highest released version. Drafts are not released, and retired and archived versions are gone; a line
    with no other versions is what its highest version is, and a draft comes before those that are gone.
    """
    for wanted in (RELEASED, {Status.DRAFT}):
        position = next((place for place, status in enumerate(statuses) if status in wanted), None)
        if position is not None:
            return position
    return 0


def line_status(statuses: Sequence[Status]) -> Status:
    """Return the status of a line: that of its highest released version; the highest version comes first."""
    return statuses[head_of_line(statuses)]


@dataclass(frozen=True, slots=True)
class Periods:
    """The minimum periods of the life cycle."""

    deprecation: timedelta = timedelta(days=30)
    sunset: timedelta = timedelta(days=7)


_DAY = 86_400


def days_in(text: str | None) -> int | None:
    """Return the whole days of a duration such as `90 d`, rounded up; None if it is no duration."""
    seconds = parse_seconds(text) if text else None
    return None if seconds is None else math.ceil(seconds / _DAY)


def periods_with_notice(periods: Periods, notice: str | None) -> Periods:
    """Return the periods of a contract: the notice that its change policy promises may be longer than the minimum."""
    promised = timedelta(days=min(days_in(notice) or 0, _MAX_DAYS))
    return replace(periods, deprecation=max(periods.deprecation, promised))


_MAX_DAYS = 36_500


@dataclass(frozen=True, slots=True)
class Timetable:
    """The days on which a deprecated version enters sunset and may be retired."""

    announced: date
    sunset: date
    retirement: date


def parse_status(text: str | None) -> Status:
    """Parse a status; a missing status means draft."""
    if not text:
        return Status.DRAFT
    try:
        return ODCS_STATUSES.get(text) or Status(text)
    except ValueError:
        raise InvalidDocument(f"unknown status {text!r}; {choose(text, Status)}") from None


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


def status_on(recorded: Status, deprecated: date | None, sunset: date | None, day: date) -> Status:
    """Return the status of a version on a day, from the status that was recorded last and its dates.

    Retirement is never automatic: a version is retired by a user once it has no consumers left.
    """
    if recorded not in (Status.ACTIVE, Status.DEPRECATED):
        return recorded
    if recorded is Status.ACTIVE and (deprecated is None or day < deprecated):
        return Status.ACTIVE
    return Status.SUNSET if sunset is not None and day >= sunset else Status.DEPRECATED


@dataclass(frozen=True, slots=True)
class Ending:
    """How a line or a version ends: its status and days, and where its consumers go."""

    status: Status
    announced: date | None = None
    sunset: date | None = None
    retirement: date | None = None
    replacement: str | None = None
    guide: str | None = None

    @property
    def is_announced(self) -> bool:
        """Whether consumers are to be warned: it is ending, or will be."""
        return self.status in (Status.DEPRECATED, Status.SUNSET) or self.announced is not None


def describe_ending(subject: str, ending: Ending) -> str:
    """Return what the status of a line or version means for those who read it."""
    sentences = [f"{subject} is {ending.status}"]
    if ending.status is Status.ACTIVE and ending.announced:
        sentences = [f"{subject} will be deprecated on {ending.announced}"]
    if ending.sunset and ending.status in (Status.ACTIVE, Status.DEPRECATED):
        sentences[0] += f"; sunset on {ending.sunset}, retirement from {ending.retirement}"
    elif ending.retirement and ending.status is Status.SUNSET:
        sentences[0] += f" since {ending.sunset}; retirement from {ending.retirement}"
    if ending.status is Status.SUNSET:
        to = f" to: {ending.replacement}" if ending.replacement else ""
        sentences.append(f"Immediate migration required{to}")
    elif ending.replacement and ending.is_announced:
        sentences.append(f"Migrate to: {ending.replacement}")
    if ending.guide and ending.is_announced:
        sentences.append(f"See {ending.guide}")
    return ". ".join(sentences)


def day_of(text: str, name: str) -> date:
    """Parse a date; `name` is used in the error message."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise InvalidDocument(f"{name} {text!r} is not a date; write it like 2026-12-31") from None
