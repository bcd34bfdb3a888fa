"""Read a bracketed set of characters, such as `[a-z[:digit:]_]`, as RE2 does."""

from __future__ import annotations

import re

from treaty.spark.patterns.characters import NOTHING, Characters, characters
from treaty.spark.patterns.escapes import character_at, named_at
from treaty.spark.patterns.naming import folded, named

_POSIX = re.compile(r"\[:\^?\w+:\]")


def bracketed(text: str, at: int, *, folds: bool) -> tuple[Characters, int]:
    """Return the characters of the set that begins here, and where it ends."""
    at += 1
    negated = text[at] == "^"
    at += negated
    among, first = NOTHING, True
    while text[at] != "]" or first:
        found, at = _item(text, at, folds=folds)
        among, first = among | found, False
    return (~among if negated else among), at + 1


def _item(text: str, at: int, *, folds: bool) -> tuple[Characters, int]:
    posix = _POSIX.match(text, at)
    if posix:
        return named(f"[{posix[0]}]", folds=folds), posix.end()
    found = named_at(text, at, folds=folds)
    if found:
        return found
    first, at = character_at(text, at)
    last = first
    if text[at] == "-" and text[at + 1] != "]":
        last, at = character_at(text, at + 1)
    among = characters([(ord(first), ord(last))])
    return (folded(among) if folds else among), at
