"""Text from documents made safe to print: nothing in it can move a cursor, colour a line or start a new one."""

from __future__ import annotations

import unicodedata

_LONGEST = 2_000
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})


def visible(text: str) -> str:
    """Return a text with its control and format characters spelt out, and shortened if it is endless."""
    if len(text) > _LONGEST:
        text = f"{text[:_LONGEST]}… ({len(text):,} characters)"
    if text.isprintable():
        return text
    return "".join(_spelt(character) if unicodedata.category(character) in _HIDDEN else character for character in text)


def visible_lines(text: str) -> str:
    """Return a text of several lines, each made safe to print."""
    return "\n".join(map(visible, text.split("\n")))


def _spelt(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
