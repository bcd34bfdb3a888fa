"""Validation of names and sizes."""

from __future__ import annotations

from treaty.errors import InvalidDocument

_LONGEST = 200


def check_name(text: str, what: str) -> str:
    """Return a name, or refuse one that is blank, too long or cannot be printed."""
    if not text.strip() or text != text.strip() or not text.isprintable() or len(text) > _LONGEST:
        raise InvalidDocument(
            f"{text[:60]!r} is not a valid name of a {what}; "
            f"use 1 to {_LONGEST} printable characters, without blanks around them"
        )
    return text


LARGEST_PART = 999_999_999
"""The largest MAJOR, MINOR or PATCH."""
