"""How values are written on pages: days, moments, counts, and signs that would deceive a reader."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, date, datetime
from typing import Any

from markupsafe import Markup

from treaty.compatibility import Breaks

_DECEIVING = re.compile(
    "[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]"
)
_DEFAULT_ZONE = UTC
BROKEN_PARTIES: Mapping[str, str] = {Breaks.EXISTING_DATA: "existing data", Breaks.EXISTING_READERS: "existing readers"}
"""Whom a change breaks."""


def show_hidden_characters(value: Any) -> Any:
    """Let signs that turn text around or hide it be seen; what is markup already stays."""
    if value is None:
        return ""
    if isinstance(value, Markup) or not isinstance(value, str):
        return value
    return _DECEIVING.sub(lambda found: f"⟨U+{ord(found[0]):04X}⟩", value)


def text_or_none(value: Any) -> str | None:
    """Return what a document says as text, if it says anything."""
    return None if value is None else str(value)


def format_date(value: date | datetime | None) -> str:
    """Write a day, such as 3 Nov 2026."""
    return "" if value is None else f"{value.day} {value:%b %Y}"


def format_datetime(value: datetime | None) -> str:
    """Write a moment in UTC, such as 3 Nov 2026, 14:05."""
    if value is None:
        return ""
    there = value.astimezone(_DEFAULT_ZONE) if value.tzinfo else value
    return f"{format_date(there)}, {there:%H:%M}"


def format_relative(value: date | datetime, now: datetime) -> str:
    """Write how long ago a moment was, or how far it is ahead, in the unit that fits."""
    if not isinstance(value, datetime):
        days = (now.date() - value).days
        return _in_days(days)
    seconds = (now - value).total_seconds()
    if abs(seconds) < 90:
        return "just now" if seconds >= 0 else "in a moment"
    for unit, size in (("minute", 60), ("hour", 3_600)):
        if abs(seconds) < 60 * size or (unit == "hour" and abs(seconds) < 86_400):
            return _apart(round(abs(seconds) / size), unit, seconds > 0)
    return _in_days(round(seconds / 86_400))


def pluralize(number: int, one: str, many: str | None = None) -> str:
    """Write a count with its noun: 1 consumer, 2 consumers."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def _in_days(days: int) -> str:
    if days == 0:
        return "today"
    if days in (1, -1):
        return "yesterday" if days == 1 else "tomorrow"
    return _apart(abs(days), "day", days > 0)


def _apart(number: int, unit: str, past: bool) -> str:
    words = pluralize(number, unit)
    return f"{words} ago" if past else f"in {words}"
