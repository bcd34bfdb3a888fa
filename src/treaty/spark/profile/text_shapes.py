"""The shape of texts: letters and digits by their kind, the rest as it is; and the pattern that a shape amounts to."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby, takewhile

from pyspark.sql import Column
from pyspark.sql import functions as F

from treaty.spark.type_conversion import ColumnFunction

_UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_LOWER = _UPPER.lower()
_DIGITS = "0123456789"
_CLASSES = {"A": "[A-Z]", "a": "[a-z]", "9": "[0-9]"}
_SPECIAL = re.compile(r"([\\.^$*+?()\[\]{}|])")
MAX_SHAPE_LENGTH = 64
ALPHABETS = {
    "[0-9]": _DIGITS,
    "[0-9a-f]": _DIGITS + "abcdef",
    "[0-9A-F]": _DIGITS + "ABCDEF",
    "[A-Z]": _UPPER,
    "[a-z]": _LOWER,
    "[0-9A-Z]": _DIGITS + _UPPER,
    "[0-9a-z]": _DIGITS + _LOWER,
    "[0-9A-Za-z]": _DIGITS + _UPPER + _LOWER,
}
"""What codes of one length are written with, narrowest first."""


def text_shape(value: Column) -> Column:
    """Return a text with A for each capital, a for each small letter and 9 for each digit; of long texts the start."""
    return F.translate(
        F.left(value, F.lit(MAX_SHAPE_LENGTH + 1)), _UPPER + _LOWER + _DIGITS, "A" * 26 + "a" * 26 + "9" * 10
    )


def shape_runs(value: Column) -> Column:
    """Return the shape of a text with each run of letters or digits as one."""
    return F.regexp_replace(text_shape(value), r"([Aa9])\1+", "$1")


def uses_only(letters: str) -> ColumnFunction:
    """Return whether a text is written with these letters only."""
    return lambda value: F.translate(value, letters, "") == F.lit("")


def alphabet_pattern(alphabet: str, length: int) -> str:
    """Return the pattern of codes of one length."""
    return f"^{alphabet}{{{length}}}$"


def fixed_pattern(shape_of_all: str, least: str, greatest: str) -> str | None:
    """Return the pattern of texts that all have one shape; None where it would say nothing."""
    if not _is_telling(shape_of_all):
        return None
    known = _shared(least, greatest)  # what the first and the last in order share, all others share too
    parts, place = [], 0
    for sign, length in _counted(shape_of_all):
        parts.append(_part(sign, known[place : place + length], length, f"{{{length}}}" if length > 1 else ""))
        place += length
    return f"^{''.join(parts)}$"


def varying_pattern(runs_of_all: str, least: str, greatest: str) -> str | None:
    """Return the pattern of texts whose runs of letters and digits differ only in length."""
    if not _is_telling(runs_of_all) or not set(runs_of_all) - set("Aa"):
        return None
    known = _shared(least, greatest)
    parts, place = [], 0
    for number, sign in enumerate(runs_of_all):
        said = _leading(sign, known[place:])
        end = place + len(said)
        ended = end < len(known) or _begins(runs_of_all[number + 1 :], least[end:], greatest[end:])
        parts.append(_part(sign, said if ended else "", len(said), "+"))
        place = end if ended else len(known)
    return f"^{''.join(parts)}$"


def _begins(following: str, *texts: str) -> bool:
    """Tell whether the next run begins in both texts; then, in order, it does so in all between them."""
    return all(_leading(following[:1], text) for text in texts) if following else not any(texts)


def _shared(one: str, other: str) -> str:
    """Return how two texts both begin."""
    return "".join(left for left, _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _is_telling(text: str) -> bool:
    """Tell whether a shape is that of a code: printable, with a letter or digit, not a single letter."""
    return (
        1 < len(text) <= MAX_SHAPE_LENGTH and text.isascii() and text.isprintable() and bool(set(text) & set(_CLASSES))
    )


def _counted(text: str) -> Iterator[tuple[str, int]]:
    for sign, group in groupby(text):
        yield sign, len(list(group))


def _part(sign: str, said: str, length: int, times: str) -> str:
    """Write one run: letters that all texts share as they are, digits never, for they count on."""
    if sign not in _CLASSES:
        return _literal(sign * (length if times != "+" else 1))
    if sign != "9" and said and len(said) == length:
        return _literal(said)
    return _CLASSES[sign] + times


def _leading(sign: str, text: str) -> str:
    """Return the start of a text that belongs to one run of a shape."""
    fits = {"A": _UPPER, "a": _LOWER, "9": _DIGITS}.get(sign)
    if fits is None:
        return sign if text.startswith(sign) else ""
    return text[: len(text) - len(text.lstrip(fits))]


def _literal(text: str) -> str:
    """Write a text so that a pattern takes it as it is."""
    return _SPECIAL.sub(r"\\\1", text)
