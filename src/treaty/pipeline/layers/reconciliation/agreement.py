"""Whether two claims agree: exactly, or within a tolerance, by the kind of value they speak of."""

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
    """Values that can be compared with each other."""

    NUMBER = "a number"
    FLOAT = "a floating-point number"
    TEXT = "a text"
    TRUTH = "true or false"
    DAY = "a date"
    MOMENT = "a timestamp"
    LOCAL_MOMENT = "a timestamp without time zone"
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
    spark.BooleanType: Kind.TRUTH,
    spark.DateType: Kind.DAY,
    spark.TimestampType: Kind.MOMENT,
    spark.TimestampNTZType: Kind.LOCAL_MOMENT,
}
_ROOM = spark.DecimalType(20, 0)
_WRITTEN = spark.DecimalType(38, 18)
_NUMBERS = frozenset({Kind.NUMBER, Kind.FLOAT})
SHARES = _NUMBERS
"""Kinds that can differ by a share of a value."""
TOLERANT = _NUMBERS | {Kind.DAY, Kind.MOMENT, Kind.LOCAL_MOMENT}
"""Kinds that can differ by a number: days between dates, seconds between timestamps."""


def kind_of(held: spark.DataType) -> Kind:
    """Return what kind of value a column holds."""
    return _KINDS.get(type(held), Kind.OTHER)


def comparable(one: spark.DataType, other: spark.DataType) -> Kind | None:
    """Return as what two columns are compared, or None where they cannot be."""
    kinds = {kind_of(one), kind_of(other)}
    if kinds <= _NUMBERS:
        return Kind.FLOAT if Kind.FLOAT in kinds else Kind.NUMBER
    if len(kinds) > 1:
        return None
    kind = kinds.pop()
    return None if kind is Kind.OTHER and (contains_map(one) or one != other) else kind


def widened(value: Column, held: spark.DataType) -> Column:
    """Return a value in a type in which differences of whole numbers have room."""
    return value.cast(_ROOM) if isinstance(held, spark.IntegralType) else value


def agrees(first: Column, other: Column, kind: Kind, agreement: Agreement) -> Column:
    """Tell whether another claim agrees with the first; both have a value. What cannot be told does not agree."""
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
    return F.coalesce(_number_within(_as_written(first), _as_written(other), within), near)


def _float_within_share(first: Column, other: Column, share: Decimal) -> Column:
    near = F.abs(first.cast("double") - other.cast("double")) <= F.abs(first.cast("double")) * F.lit(float(share))
    return F.coalesce(_number_within_share(_as_written(first), _as_written(other), share), near)


def _as_written(value: Column) -> Column:
    """Return the decimal that a floating-point number is written as, if it has room: 1.1 is a tenth more than 1.0."""
    return value.cast("double").try_cast(_WRITTEN)


def _days_within(first: Column, other: Column, within: Decimal) -> Column:
    return F.abs(F.datediff(first, other)) <= F.lit(within)


def _moments_within(first: Column, other: Column, within: Decimal) -> Column:
    # counted from 1970, so that the session's time zone does not matter
    return F.abs(F.unix_micros(first) - F.unix_micros(other)) <= F.lit(int(within * 1_000_000))


def _local_moments_within(first: Column, other: Column, within: Decimal) -> Column:
    allowed = F.lit(timedelta(microseconds=int(within * 1_000_000)))
    return (first - other).between(F.lit(timedelta()) - allowed, allowed)


_Near = Callable[[Column, Column, Decimal], Column]
_BY_SHARE: dict[Kind, _Near] = {Kind.NUMBER: _number_within_share, Kind.FLOAT: _float_within_share}
_BY_NUMBER: dict[Kind, _Near] = {
    Kind.NUMBER: _number_within,
    Kind.FLOAT: _float_within,
    Kind.DAY: _days_within,
    Kind.MOMENT: _moments_within,
    Kind.LOCAL_MOMENT: _local_moments_within,
}
