"""The shapes of texts (letters and digits by class) and the patterns derived from them."""

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
"""Alphabets of codes with a fixed length, narrowest first."""


def text_shape(value: Column) -> Column:
    """Return a text with A for upper case, a for lower case and 9 for digits; long texts are cut."""
    return F.translate(
        F.left(value, F.lit(MAX_SHAPE_LENGTH + 1)), _UPPER + _LOWER + _DIGITS, "A" * 26 + "a" * 26 + "9" * 10
    )


def shape_runs(value: Column) -> Column:
    """Return the shape of a text with each run of letters or digits reduced to one character."""
    return F.regexp_replace(text_shape(value), r"([Aa9])\1+", "$1")


def uses_only(letters: str) -> ColumnFunction:
    """Return a check that a text uses only these characters."""
    return lambda value: F.translate(value, letters, "") == F.lit("")


def alphabet_pattern(alphabet: str, length: int) -> str:
    """Return the pattern of codes with a fixed length."""
    return f"^{alphabet}{{{length}}}$"


def fixed_pattern(shape_of_all: str, least: str, greatest: str) -> str | None:
    """Return the pattern of texts with the same shape; None if the shape is not that of a code."""
    if not _is_code(shape_of_all):
        return None
    known = _common_prefix(least, greatest)  # what the first and last text in sort order share, all share
    parts, place = [], 0
    for sign, length in _counted(shape_of_all):
        parts.append(_part(sign, known[place : place + length], length, f"{{{length}}}" if length > 1 else ""))
        place += length
    return f"^{''.join(parts)}$"


def varying_pattern(runs_of_all: str, least: str, greatest: str) -> str | None:
    """Return the pattern of texts whose runs of letters and digits differ only in length."""
    if not _is_code(runs_of_all) or not set(runs_of_all) - set("Aa"):
        return None
    known = _common_prefix(least, greatest)
    parts, place = [], 0
    for number, sign in enumerate(runs_of_all):
        literal = _leading(sign, known[place:])
        end = place + len(literal)
        ended = end < len(known) or _run_begins(runs_of_all[number + 1 :], least[end:], greatest[end:])
        parts.append(_part(sign, literal if ended else "", len(literal), "+"))
        place = end if ended else len(known)
    return f"^{''.join(parts)}$"


def _run_begins(following: str, *texts: str) -> bool:
    """Whether the next run begins in both texts, and so in all texts that sort between them."""
    return all(_leading(following[:1], text) for text in texts) if following else not any(texts)


def _common_prefix(one: str, other: str) -> str:
    """Return the common prefix of two texts."""
    return "".join(left for left, _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _is_code(text: str) -> bool:
    """Whether a shape is that of a code: printable, with a letter or digit, longer than one character."""
    return (
        1 < len(text) <= MAX_SHAPE_LENGTH and text.isascii() and text.isprintable() and bool(set(text) & set(_CLASSES))
    )


def _counted(text: str) -> Iterator[tuple[str, int]]:
    for sign, group in groupby(text):
        yield sign, len(list(group))


def _part(sign: str, literal: str, length: int, times: str) -> str:
    """Write one run: common letters literally, digits always as a class, because they usually increase."""
    if sign not in _CLASSES:
        return _literal(sign * (length if times != "+" else 1))
    if sign != "9" and literal and len(literal) == length:
        return _literal(literal)
    return _CLASSES[sign] + times


def _leading(sign: str, text: str) -> str:
    """Return the leading part of a text that belongs to a run of the shape."""
    fits = {"A": _UPPER, "a": _LOWER, "9": _DIGITS}.get(sign)
    if fits is None:
        return sign if text.startswith(sign) else ""
    return text[: len(text) - len(text.lstrip(fits))]


def _literal(text: str) -> str:
    """Escape a text for use in a pattern."""
    return _SPECIAL.sub(r"\\\1", text)
