"""Times as milliseconds since 1970 in UTC, and their text forms."""

from __future__ import annotations

from datetime import date
from functools import lru_cache

SECOND = 1_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR

_EPOCH = date(1970, 1, 1).toordinal()
_MINUTES = tuple(f"T{hour:02}:{minute:02}:" for hour in range(24) for minute in range(60))
_SECONDS = tuple(f"{second:02}" for second in range(60))
_MILLIS = tuple(f".{milli:03}Z" for milli in range(SECOND))


def start_of(day: date) -> int:
    """Return the start of a day."""
    return (day.toordinal() - _EPOCH) * DAY


@lru_cache(maxsize=4096)
def _day_text(day: int) -> str:
    return date.fromordinal(_EPOCH + day).isoformat()


def date_text(moment: int) -> str:
    """Return the date of a timestamp, such as 2026-01-31."""
    return _day_text(moment // DAY)


def moment_text(moment: int) -> str:
    """Return a timestamp in ISO 8601, such as 2026-01-31T08:15:30.125Z."""
    day, rest = divmod(moment, DAY)
    minute, rest = divmod(rest, MINUTE)
    return f"{_day_text(day)}{_MINUTES[minute]}{_SECONDS[rest // SECOND]}{_MILLIS[rest % SECOND]}"
