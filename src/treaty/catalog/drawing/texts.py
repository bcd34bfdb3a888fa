"""Texts in boxes: shortened to what fits, since a drawing cannot break lines; the whole text stands beside it."""

from __future__ import annotations

import unicodedata

from treaty.catalog.words import shown

_NARROW = frozenset("iIjl.,:;'|!()[]{}frt ·")
_WIDE = frozenset("mwMWÄÖÜ@%—…")
_DOTS = "…"
_STUMP = 4
"""Signs of a step that are too few to say anything."""


def shortened(text: str, width: float, size: float) -> str:
    """Return as much of a text as fits; of a dotted name the end says more than the beginning."""
    plain = " ".join(str(shown(text)).split())
    if _wide(plain, size) <= width:
        return plain
    room = width - _wide(_DOTS, size)
    if "." in plain and " " not in plain:
        end = _fitting(plain[::-1], room, size)[::-1]
        stump, _, whole = end.partition(".")
        return _DOTS + (whole if len(stump) < _STUMP and whole else end)
    return _fitting(plain, room, size).rstrip(" .·") + _DOTS


def _fitting(text: str, room: float, size: float) -> str:
    for position, sign in enumerate(text):
        room -= _of(sign) * size
        if room < 0:
            return text[:position]
    return text


def _wide(text: str, size: float) -> float:
    return sum(map(_of, text)) * size


def _of(sign: str) -> float:
    """Estimate how wide a sign is, in the size of its font; rather too wide than too narrow."""
    if sign in _NARROW:
        return 0.42
    if unicodedata.combining(sign):
        return 0.0
    if sign in _WIDE or unicodedata.east_asian_width(sign) in "WF":
        return 1.02
    return 0.78 if sign.isupper() else 0.66
