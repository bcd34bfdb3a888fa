"""Plain text: escaping of control characters from documents, and plurals."""

from __future__ import annotations

import unicodedata

MAX_CHARACTERS = 2_000
CONTROL_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})


def printable(text: str) -> str:
    """Return text with control and format characters escaped, cut off after 2,000 characters."""
    if len(text) > MAX_CHARACTERS:
        text = f"{text[:MAX_CHARACTERS]}… ({len(text):,} characters)"
    if text.isprintable():
        return text
    return "".join(
        _escape(character) if unicodedata.category(character) in CONTROL_CATEGORIES else character for character in text
    )


def printable_lines(text: str) -> str:
    """Return text of several lines, each escaped."""
    return "\n".join(map(printable, text.split("\n")))


def _escape(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def pluralize(number: int, noun: str, plural: str | None = None) -> str:
    """Return a number with its noun, such as `1 file` or `1,200 files`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"
