"""Classify texts by the type they can be read as without loss."""

from __future__ import annotations

from enum import IntFlag

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from treaty.contracts.model import Field
from treaty.spark.type_conversion import find_conversion

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
    OTHER = 1024

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
        .when(padded, TextType.OTHER.bit)
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
