"""Agreement of claims: exact or within a tolerance, by the kind of their values."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from enum import StrEnum

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from treaty.pipeline.project.declarations import Agreement
from treaty.spark.value_checks import contains_map


class Kind(StrEnum):
    """Kinds of values; values of one kind can be compared."""

    NUMBER = "a number"
    FLOAT = "a floating-point number"
    TEXT = "a text"
    BOOLEAN = "true or false"
    DATE = "a date"
    TIMESTAMP = "a timestamp"
    LOCAL_TIMESTAMP = "a timestamp without time zone"
    OTHER = "a structure"


_KINDS: dict[type[spark.DataType], Kind] = {
    spark.ByteType: Kind.NUMBER,
    spark.ShortType: Kind.NUMBER,
    spark.IntegerType: Kind.NUMBER,
    spark.LongType: Kind.NUMBER,
    spark.DecimalType: Kind.NUMBER,
    spark.FloatType: Kind.FLOAT,
    spark.DoubleType: Kind.FLOAT,
    spark.StringType: Kind.TEXT,
    spark.BooleanType: Kind.BOOLEAN,
    spark.DateType: Kind.DATE,
    spark.TimestampType: Kind.TIMESTAMP,
    spark.TimestampNTZType: Kind.LOCAL_TIMESTAMP,
}
_WIDE_INTEGER = spark.DecimalType(20, 0)
_PRINTED_DECIMAL = spark.DecimalType(38, 18)
_NUMBERS = frozenset({Kind.NUMBER, Kind.FLOAT})
RELATIVE_KINDS = _NUMBERS
"""Kinds that allow a relative tolerance."""
ABSOLUTE_KINDS = _NUMBERS | {Kind.DATE, Kind.TIMESTAMP, Kind.LOCAL_TIMESTAMP}
"""Kinds that allow an absolute tolerance: days between dates, seconds between timestamps."""


def kind_of(data_type: spark.DataType) -> Kind:
    """Return the kind of the values of a type."""
    return _KINDS.get(type(data_type), Kind.OTHER)


def comparable(left: spark.DataType, right: spark.DataType) -> Kind | None:
    """Return the kind as which values of two types are compared, or None if they cannot be."""
    kinds = {kind_of(left), kind_of(right)}
    if kinds <= _NUMBERS:
        return Kind.FLOAT if Kind.FLOAT in kinds else Kind.NUMBER
    if len(kinds) > 1:
        return None
    kind = kinds.pop()
    return None if kind is Kind.OTHER and (contains_map(left) or left != right) else kind


def widen(value: Column, data_type: spark.DataType) -> Column:
    """Return integers as decimals, so that their difference does not overflow."""
    return value.cast(_WIDE_INTEGER) if isinstance(data_type, spark.IntegralType) else value


def agrees(first: Column, other: Column, kind: Kind, agreement: Agreement) -> Column:
    """Tell whether another claim agrees with the first; both have a value. An undefined comparison means no."""
    within = Decimal(format(Decimal(str(agreement.within)), "f"))
    if not within:
        return first.eqNullSafe(other)
    near = _BY_SHARE[kind](first, other, within) if agreement.is_share else _BY_NUMBER[kind](first, other, within)
    return F.coalesce(first.eqNullSafe(other) | near, F.lit(False))


def _number_within(first: Column, other: Column, within: Decimal) -> Column:
    return F.abs(F.try_subtract(first, other)) <= F.lit(within)


def _number_within_share(first: Column, other: Column, share: Decimal) -> Column:
    return F.abs(F.try_subtract(first, other)) <= F.try_multiply(F.abs(first), F.lit(share))


def _float_within(first: Column, other: Column, within: Decimal) -> Column:
    near = F.abs(first.cast("double") - other.cast("double")) <= F.lit(float(within))
    return F.coalesce(_number_within(_printed_decimal(first), _printed_decimal(other), within), near)


def _float_within_share(first: Column, other: Column, share: Decimal) -> Column:
    near = F.abs(first.cast("double") - other.cast("double")) <= F.abs(first.cast("double")) * F.lit(float(share))
    return F.coalesce(_number_within_share(_printed_decimal(first), _printed_decimal(other), share), near)


def _printed_decimal(value: Column) -> Column:
    """Return the decimal that a floating-point number is printed as, if it fits: 1.1 - 1.0 is exactly 0.1."""
    return value.cast("double").try_cast(_PRINTED_DECIMAL)


def _days_within(first: Column, other: Column, within: Decimal) -> Column:
    return F.abs(F.datediff(first, other)) <= F.lit(within)


def _timestamps_within(first: Column, other: Column, within: Decimal) -> Column:
    # compared as microseconds, so that the session's time zone does not matter
    return F.abs(F.unix_micros(first) - F.unix_micros(other)) <= F.lit(int(within * 1_000_000))


def _local_timestamps_within(first: Column, other: Column, within: Decimal) -> Column:
    allowed = F.lit(timedelta(microseconds=int(within * 1_000_000)))
    return (first - other).between(F.lit(timedelta()) - allowed, allowed)


_Near = Callable[[Column, Column, Decimal], Column]
_BY_SHARE: dict[Kind, _Near] = {Kind.NUMBER: _number_within_share, Kind.FLOAT: _float_within_share}
_BY_NUMBER: dict[Kind, _Near] = {
    Kind.NUMBER: _number_within,
    Kind.FLOAT: _float_within,
    Kind.DATE: _days_within,
    Kind.TIMESTAMP: _timestamps_within,
    Kind.LOCAL_TIMESTAMP: _local_timestamps_within,
}
