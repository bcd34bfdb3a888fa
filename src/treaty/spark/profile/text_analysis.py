"""Analyse texts: the type they can be read as without loss, their shape, and the pattern of a shape."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import IntFlag
from itertools import groupby, takewhile

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from treaty.contracts.model import Field
from treaty.spark.type_conversion import ColumnFunction, find_conversion

DIGITS = "0123456789"
_NUMBER_CHARS = DIGITS + "+-.eE"
_TRUE = ("t", "yes", "y")
_FALSE = ("f", "no", "n")
_DATE_LENGTH = len("2024-12-31")
_MINUTE_LENGTH = len("2024-12-31T23:59")
_MAX_NUMBER_LENGTH = 40
_TEXT = spark.StringType()


class TextType(IntFlag):
    """The type of one text; the first that matches."""

    DATE = 1
    """An ISO 8601 date."""
    ZONED = 2
    """An ISO 8601 timestamp with a time zone."""
    LOCAL = 4
    """An ISO 8601 timestamp without a time zone."""
    WHOLE = 8
    """An integer in canonical form: 7, not 007 or +7."""
    PLAIN = 16
    """A decimal number without leading zeros or exponent."""
    FLOATING = 32
    """A number in any other notation."""
    TRUTH = 64
    """`true` or `false`."""
    AGREEMENT = 128
    """Another word for yes or no that Spark reads as a boolean."""
    BRACED = 256
    """Possibly a JSON object."""
    BRACKETED = 512
    """Possibly a JSON array."""
    PADDED = 1024
    """Digits with leading zeros, which a number would lose: 007."""
    OTHER = 2048

    @property
    def bit(self) -> Column:
        """The type as a literal column."""
        return F.lit(int(self))


NO_TEXT_TYPE = TextType(0)
NUMERIC_TYPES = TextType.WHOLE | TextType.PLAIN | TextType.FLOATING


def classify_text(value: Column) -> Column:
    """Return the type of a text as a bit.

    A cast is tried only after a cheap check, because each failed cast costs Spark an exception.
    """
    dashes = (F.substring(value, 5, 1) == F.lit("-")) & (F.substring(value, 8, 1) == F.lit("-"))
    numeric = (F.translate(value, _NUMBER_CHARS, "") == F.lit("")) & F.length(value).between(1, _MAX_NUMBER_LENGTH)
    word = F.lower(value)
    return (
        F.when(dashes, _classify_timestamp(value))
        .when(numeric, _classify_number(value))
        .when(value.startswith("{") & value.endswith("}"), TextType.BRACED.bit)
        .when(value.startswith("[") & value.endswith("]"), TextType.BRACKETED.bit)
        .when(word.isin("true", "false"), TextType.TRUTH.bit)
        .when(word.isin(*_TRUE, *_FALSE), TextType.AGREEMENT.bit)
        .otherwise(TextType.OTHER.bit)
    )


def _classify_timestamp(value: Column) -> Column:
    day = find_conversion(Field(logical_type="date"), _TEXT, spark.DateType()).read
    size = F.length(value)
    with_zone = F.when(_has_zone(value), TextType.ZONED.bit).otherwise(TextType.LOCAL.bit)
    return (
        F.when(size < F.lit(_DATE_LENGTH), TextType.OTHER.bit)
        .when(
            size == F.lit(_DATE_LENGTH), F.when(day(value).isNotNull(), TextType.DATE.bit).otherwise(TextType.OTHER.bit)
        )
        .when(size < F.lit(_MINUTE_LENGTH), TextType.OTHER.bit)
        .when(parse_timestamp(value).isNotNull(), with_zone)
        .otherwise(TextType.OTHER.bit)
    )


def parse_timestamp(value: Column) -> Column:
    """Return the timestamp in a text, converted as in the enforcement of a contract."""
    return find_conversion(Field(logical_type="timestamp"), _TEXT, spark.TimestampType()).read(value)


def _has_zone(value: Column) -> Column:
    """Whether a timestamp has a time zone: a letter at the end, or a sign before an offset."""
    last = F.right(value, F.lit(1))
    offsets = [F.substring(value, place, 1).isin("+", "-") for place in (-3, -5, -6)]
    signed = (F.length(value) > F.lit(_MINUTE_LENGTH)) & (offsets[0] | offsets[1] | offsets[2])
    return (F.lower(last) != F.upper(last)) | signed


def _classify_number(value: Column) -> Column:
    unsigned = _unsigned(value)
    padded = (F.substring(unsigned, 1, 1) == F.lit("0")) & F.substring(unsigned, 2, 1).between("0", "9")
    signs = F.translate(value, DIGITS, "")
    decimal = value.try_cast("decimal(38,18)").isNotNull()
    return (
        F.when(value.try_cast("bigint").cast("string") == value, TextType.WHOLE.bit)
        .when(padded, TextType.PADDED.bit)
        .when(signs.isin(".", "-."), F.when(decimal, TextType.PLAIN.bit).otherwise(TextType.OTHER.bit))
        .when(signs.isin("", "-", "+", "--"), TextType.OTHER.bit)
        .when(parse_number(value).isNotNull(), TextType.FLOATING.bit)
        .otherwise(TextType.OTHER.bit)
    )


def parse_number(value: Column) -> Column:
    """Return the approximate number in a text."""
    return value.try_cast("double")


def count_digits(value: Column) -> Column:
    """Count the digits before the decimal point."""
    return F.length(F.substring_index(_unsigned(value), ".", 1))


def count_decimals(value: Column) -> Column:
    """Count the digits after the decimal point."""
    return F.when(F.contains(value, F.lit(".")), F.length(F.substring_index(value, ".", -1))).otherwise(F.lit(0))


def _unsigned(value: Column) -> Column:
    return F.when(value.startswith("-"), F.substring(value, 2, _MAX_NUMBER_LENGTH)).otherwise(value)


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


def _common_prefix(first: str, second: str) -> str:
    """Return the common prefix of two texts."""
    return "".join(left for left, _ in takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=False)))


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
