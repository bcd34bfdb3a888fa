"""Format values for pages: dates, relative times, counts, and hidden characters."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, date, datetime
from typing import Any

from markupsafe import Markup, escape

from treaty.compatibility import Breaks
from treaty.registry.model import HealthAnswer
from treaty.registry.model.incidents import HealthWord

_HIDDEN_CHARACTERS = re.compile(
    "[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]"
)
_BREAK = re.compile(r"(?<=[._@])(?=.)")
_CODE_SPAN = re.compile(r"`([^`]+)`")
BROKEN_PARTIES: Mapping[str, str] = {
    Breaks.EXISTING_DATA: "existing data",
    Breaks.EXISTING_READERS: "existing consumers",
}
"""Labels for what a change breaks."""


def show_hidden_characters(value: Any) -> Any:
    """Make characters visible that hide text or reverse its direction. Markup is returned unchanged."""
    if value is None:
        return ""
    if isinstance(value, Markup) or not isinstance(value, str):
        return value
    return _HIDDEN_CHARACTERS.sub(lambda match: f"⟨U+{ord(match[0]):04X}⟩", value)


def allow_breaks(name: str) -> Markup:
    """Return an identifier as HTML that browsers break after its dots and underscores, not within its words."""
    return Markup("<wbr>").join(_BREAK.split(show_hidden_characters(name)))


def format_code_spans(text: str) -> Markup:
    """Return a text as HTML in which `code` in backticks is set as code."""
    plain, *spans = _CODE_SPAN.split(show_hidden_characters(text))
    pairs = zip(spans[::2], spans[1::2], strict=True)
    return escape(plain) + Markup("").join(Markup("<code>{}</code>{}").format(code, after) for code, after in pairs)


def mark_word(text: str, word: str) -> Markup:
    """Return a text as HTML in which a word is marked."""
    before, found, after = text.partition(word)
    marked = Markup("<mark>{}</mark>").format(show_hidden_characters(found)) if found else Markup("")
    return escape(show_hidden_characters(before)) + marked + escape(show_hidden_characters(after))


def format_health(state: HealthWord | None, cause: str) -> str:
    """Return the health of a contract as one sentence, the same that the API and the command line show."""
    return HealthAnswer(contract="", state=state, cause=cause).sentence


def text_or_none(value: Any) -> str | None:
    """Return a value of a document as text, or None if it is missing."""
    return None if value is None else str(value)


def format_date(value: date | datetime | None) -> str:
    """Format a date, such as 3 Nov 2026."""
    return "" if value is None else f"{value.day} {value:%b %Y}"


def format_datetime(value: datetime | None) -> str:
    """Format a time in UTC, such as 3 Nov 2026, 14:05."""
    if value is None:
        return ""
    in_utc = value.astimezone(UTC) if value.tzinfo else value
    return f"{format_date(in_utc)}, {in_utc:%H:%M}"


def format_relative(value: date | datetime, now: datetime) -> str:
    """Format a time relative to now, such as 3 hours ago or in 2 days."""
    if not isinstance(value, datetime):
        days = (now.date() - value).days
        return _format_days(days)
    seconds = (now - value).total_seconds()
    if abs(seconds) < 90:
        return "just now" if seconds >= 0 else "in a moment"
    for unit, size in (("minute", 60), ("hour", 3_600)):
        if abs(seconds) < 60 * size or (unit == "hour" and abs(seconds) < 86_400):
            return _format_distance(round(abs(seconds) / size), unit, seconds > 0)
    return _format_days(round(seconds / 86_400))


def pluralize(number: int, singular: str, plural: str | None = None) -> str:
    """Format a count with its noun: 1 consumer, 2 consumers."""
    return f"{number:,} {singular if number == 1 else plural or singular + 's'}"


def _format_days(days: int) -> str:
    if days == 0:
        return "today"
    if days in (1, -1):
        return "yesterday" if days == 1 else "tomorrow"
    return _format_distance(abs(days), "day", days > 0)


def _format_distance(number: int, unit: str, past: bool) -> str:
    distance = pluralize(number, unit)
    return f"{distance} ago" if past else f"in {distance}"
