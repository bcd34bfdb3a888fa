"""What a text can be read as, each in one way of writing it only, so that reading it loses nothing."""

from __future__ import annotations

from enum import IntFlag

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from treaty.contracts.model import Field
from treaty.spark.type_conversion import find_conversion

DIGITS = "0123456789"
_IN_NUMBERS = DIGITS + "+-.eE"
_TRUE = ("t", "yes", "y")
_FALSE = ("f", "no", "n")
_DAY = len("2024-12-31")
_MINUTE = len("2024-12-31T23:59")
_LONGEST_NUMBER = 40
_TEXT = spark.StringType()


class TextType(IntFlag):
    """What one text is; the first that fits."""

    DATE = 1
    """A day in ISO 8601."""
    ZONED = 2
    """A day with a time and a time zone in ISO 8601."""
    LOCAL = 4
    """The same without a time zone."""
    WHOLE = 8
    """A whole number as numbers are written: 7, not 007 or +7."""
    PLAIN = 16
    """A number with decimals, no zeros before it, no exponent."""
    FLOATING = 32
    """A number in any other notation."""
    TRUTH = 64
    """The words true and false."""
    AGREEMENT = 128
    """Any other word for yes or no that Spark reads as a truth value."""
    BRACED = 256
    """What could be a JSON object."""
    BRACKETED = 512
    """What could be a JSON array."""
    OTHER = 1024

    @property
    def bit(self) -> Column:
        """The reading as a column."""
        return F.lit(int(self))


NO_TEXT_TYPE = TextType(0)
NUMERIC_TYPES = TextType.WHOLE | TextType.PLAIN | TextType.FLOATING


def classify_text(value: Column) -> Column:
    """Return what a text is, as the bit of a reading.

    Each way is tried only behind a cheap look at the text: a text that cannot be read costs Spark an exception.
    """
    dashes = (F.substring(value, 5, 1) == F.lit("-")) & (F.substring(value, 8, 1) == F.lit("-"))
    numeric = (F.translate(value, _IN_NUMBERS, "") == F.lit("")) & F.length(value).between(1, _LONGEST_NUMBER)
    word = F.lower(value)
    return (
        F.when(dashes, _moment_reading(value))
        .when(numeric, _number_reading(value))
        .when(value.startswith("{") & value.endswith("}"), TextType.BRACED.bit)
        .when(value.startswith("[") & value.endswith("]"), TextType.BRACKETED.bit)
        .when(word.isin("true", "false"), TextType.TRUTH.bit)
        .when(word.isin(*_TRUE, *_FALSE), TextType.AGREEMENT.bit)
        .otherwise(TextType.OTHER.bit)
    )


def _moment_reading(value: Column) -> Column:
    day = find_conversion(Field(logical_type="date"), _TEXT, spark.DateType()).read
    size = F.length(value)
    with_zone = F.when(_has_zone(value), TextType.ZONED.bit).otherwise(TextType.LOCAL.bit)
    return (
        F.when(size < F.lit(_DAY), TextType.OTHER.bit)
        .when(size == F.lit(_DAY), F.when(day(value).isNotNull(), TextType.DATE.bit).otherwise(TextType.OTHER.bit))
        .when(size < F.lit(_MINUTE), TextType.OTHER.bit)
        .when(parse_timestamp(value).isNotNull(), with_zone)
        .otherwise(TextType.OTHER.bit)
    )


def parse_timestamp(value: Column) -> Column:
    """Return the moment that a text stands for, as it is read when data are held to a contract."""
    return find_conversion(Field(logical_type="timestamp"), _TEXT, spark.TimestampType()).read(value)


def _has_zone(value: Column) -> Column:
    """Tell whether a moment says its time zone: by a letter at its end, or by a sign before an offset."""
    last = F.right(value, F.lit(1))
    offsets = [F.substring(value, place, 1).isin("+", "-") for place in (-3, -5, -6)]
    signed = (F.length(value) > F.lit(_MINUTE)) & (offsets[0] | offsets[1] | offsets[2])
    return (F.lower(last) != F.upper(last)) | signed


def _number_reading(value: Column) -> Column:
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
    """Return the number that a text stands for, about."""
    return value.try_cast("double")


def count_digits(value: Column) -> Column:
    """Count what stands before the decimal point."""
    return F.length(F.substring_index(_unsigned(value), ".", 1))


def count_decimals(value: Column) -> Column:
    """Count what stands behind the decimal point."""
    return F.when(F.contains(value, F.lit(".")), F.length(F.substring_index(value, ".", -1))).otherwise(F.lit(0))


def _unsigned(value: Column) -> Column:
    return F.when(value.startswith("-"), F.substring(value, 2, _LONGEST_NUMBER)).otherwise(value)
