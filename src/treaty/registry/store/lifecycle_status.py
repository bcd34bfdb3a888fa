"""The status of a version on the day that a connection is asked about.

The stored status is the one that was recorded last, by a step or a tick. What holds follows from it and from the dates.
"""

from __future__ import annotations

from datetime import date
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, and_, case, or_

from treaty.governance.lifecycle import Status, status_on
from treaty.registry.store.tables import versions

_V = versions.c
_DAY = "treaty_day"


def ask_about(connection: Connection, day: date) -> None:
    """Set the day that the queries of a connection are about."""
    connection.execution_options(**{_DAY: day})


def day_of(connection: Connection) -> date:
    """Return the day that the queries of a connection are about."""
    day: date = connection.get_execution_options()[_DAY]
    return day


def current_status(row: Row[Any], day: date) -> Status:
    """Return the status that a row of a version has on a day."""
    starts = [start for start in (row.announced_on, row.expires_on) if start is not None]
    return status_on(Status(row.status), min(starts, default=None), row.sunset_on, day)


def status_at(day: date) -> ColumnElement[str]:
    """Return the status of a version on a day as SQL, by the same rule as `current_status`."""
    announced = and_(_V.status == Status.ACTIVE.value, or_(_V.announced_on <= day, _V.expires_on <= day))
    ending = case((_V.sunset_on <= day, Status.SUNSET.value), else_=Status.DEPRECATED.value)
    return case((or_(_V.status == Status.DEPRECATED.value, announced), ending), else_=_V.status)
