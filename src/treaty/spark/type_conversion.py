"""Convert values to the type of the contract; values that cannot be converted without loss fail."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from treaty.contracts.model import Field
from treaty.contracts.values import EMPTY

ColumnFunction: TypeAlias = Callable[[Column], Column]

_INTEGER_TYPES = (spark.ByteType, spark.ShortType, spark.IntegerType, spark.LongType)
_NUMERIC_TYPES = (*_INTEGER_TYPES, spark.FloatType, spark.DoubleType, spark.DecimalType)
_TEMPORAL_TYPES = (spark.DateType, spark.TimestampType, spark.TimestampNTZType)
_PRINTABLE_TYPES = (*_NUMERIC_TYPES, *_TEMPORAL_TYPES, spark.BooleanType)
_MAX_UNSIGNED = {"u8": 2**8 - 1, "u16": 2**16 - 1, "u32": 2**32 - 1, "u64": 2**64 - 1, "u128": None}


@dataclass(frozen=True)
class Conversion:
    """How a value is converted, and the condition under which it fails."""

    read: ColumnFunction
    fails: ColumnFunction | None = None

    @property
    def is_identity(self) -> bool:
        """Whether the value is used unchanged and cannot fail."""
        return self.read is _identity and self.fails is None


def _identity(value: Column) -> Column:
    return value


def find_conversion(field: Field, have: spark.DataType, want: spark.DataType | None) -> Conversion:
    """Return the conversion from type `have` to the type of the field."""
    if want is None or same_type(have, want):
        return _bounded(field, Conversion(_identity), want)
    if isinstance(have, spark.NullType):
        return Conversion(lambda value: F.lit(None).cast(want))
    for fits, make in _CONVERSIONS:
        if fits(have, want):
            return _bounded(field, make(field, have, want), want)
    return impossible_conversion(want)


def impossible_conversion(want: spark.DataType) -> Conversion:
    """Return the conversion that fails for every value."""
    return Conversion(lambda value: F.lit(None).cast(want), lambda value: value.isNotNull())


def same_type(left: spark.DataType, right: spark.DataType) -> bool:
    """Whether two types are equal apart from nullability."""
    if isinstance(left, spark.ArrayType) and isinstance(right, spark.ArrayType):
        return same_type(left.elementType, right.elementType)
    if isinstance(left, spark.MapType) and isinstance(right, spark.MapType):
        return same_type(left.keyType, right.keyType) and same_type(left.valueType, right.valueType)
    if isinstance(left, spark.StructType) and isinstance(right, spark.StructType):
        pairs = zip(left.fields, right.fields, strict=False)
        return len(left) == len(right) and all(
            first.name == second.name and same_type(first.dataType, second.dataType) for first, second in pairs
        )
    if isinstance(left, spark.StringType) and isinstance(right, spark.StringType):
        return True
    return left == right


def _bounded(field: Field, conversion: Conversion, want: spark.DataType | None) -> Conversion:
    """Add the bounds of an unsigned integer, since Spark has no unsigned types."""
    detail = field.type.detail if field.type else None
    if want is None or detail not in _MAX_UNSIGNED:
        return conversion
    maximum = _MAX_UNSIGNED[detail or ""]

    def outside(value: Column) -> Column:
        number = conversion.read(value)
        below = number < F.lit(0)
        return below if maximum is None else below | (number > F.lit(str(maximum)).cast(want))

    return Conversion(conversion.read, _either(conversion.fails, outside))


def _either(first: ColumnFunction | None, second: ColumnFunction) -> ColumnFunction:
    return second if first is None else lambda value: first(value) | second(value)


def _is_unreadable(read: ColumnFunction) -> ColumnFunction:
    return lambda value: value.isNotNull() & read(value).isNull()


def _try_cast(want: spark.DataType) -> Conversion:
    def read(value: Column) -> Column:
        return value.try_cast(want)

    return Conversion(read, _is_unreadable(read))


def _number_to_number(field: Field, have: spark.DataType, want: spark.DataType) -> Conversion:
    """Cast; fail if casting back gives another number, as for truncated fractions or rounded digits."""
    conversion = _try_cast(want)
    if is_lossless(have, want):
        return Conversion(conversion.read)
    if isinstance(want, spark.FloatType):
        return Conversion(conversion.read, lambda value: F.isnan(value) != F.isnan(conversion.read(value)))
    unread = conversion.fails or _is_unreadable(conversion.read)
    return Conversion(conversion.read, lambda value: unread(value) | (conversion.read(value).try_cast(have) != value))


def is_lossless(have: spark.DataType, want: spark.DataType) -> bool:
    """Whether every value of one numeric type fits in the other."""
    order: list[type[spark.DataType]] = [*_INTEGER_TYPES]
    if type(have) in order and type(want) in order:
        return order.index(type(have)) <= order.index(type(want))
    if isinstance(have, spark.DecimalType) and isinstance(want, spark.DecimalType):
        return want.scale >= have.scale and want.precision - want.scale >= have.precision - have.scale
    return isinstance(have, spark.FloatType) and isinstance(want, spark.DoubleType)


def _text_to_decimal(field: Field, have: spark.DataType, want: spark.DataType) -> Conversion:
    """Read a decimal from text; too many decimal places fail instead of being rounded."""
    conversion = _try_cast(want)
    before_point = want.precision - want.scale if isinstance(want, spark.DecimalType) else 38
    wide = spark.DecimalType(38, 38 - before_point)
    unread = conversion.fails or _is_unreadable(conversion.read)
    return Conversion(
        conversion.read, lambda value: unread(value) | (value.try_cast(wide) != conversion.read(value).cast(wide))
    )


def _text_to_timestamp(field: Field, have: spark.DataType, want: spark.DataType) -> Conversion:
    """Read a date or timestamp from text, by the pattern of the field or as ISO 8601 with a full date."""
    pattern = (field.options or EMPTY).get("format")
    if isinstance(pattern, str):

        def by_pattern(value: Column) -> Column:
            return F.try_to_timestamp(value, F.lit(pattern)).cast(want)

        return Conversion(by_pattern, _is_unreadable(by_pattern))

    def read(value: Column) -> Column:
        # Spark would complete a bare year or time of day with a guess
        return F.when(F.substring(F.trim(value), 5, 1) == "-", F.when(F.length(value) >= 10, value)).try_cast(want)

    return Conversion(read, _is_unreadable(read))


def _text_to_value(field: Field, have: spark.DataType, want: spark.DataType) -> Conversion:
    return _try_cast(want)


def _timestamp_to_timestamp(field: Field, have: spark.DataType, want: spark.DataType) -> Conversion:
    conversion = _try_cast(want)
    if not isinstance(want, spark.DateType):
        return Conversion(conversion.read)
    return Conversion(conversion.read, lambda value: conversion.read(value).cast(have) != value)


def _to_text(field: Field, have: spark.DataType, want: spark.DataType) -> Conversion:
    return Conversion(lambda value: value.cast(want))


def _bytes_to_text(field: Field, have: spark.DataType, want: spark.DataType) -> Conversion:
    def read(value: Column) -> Column:
        return F.try_validate_utf8(value.cast("string"))

    return Conversion(read, _is_unreadable(read))


def _text_to_bytes(field: Field, have: spark.DataType, want: spark.DataType) -> Conversion:
    return Conversion(lambda value: value.cast(want))


_Fits: TypeAlias = Callable[[spark.DataType, spark.DataType], bool]
_Make: TypeAlias = Callable[[Field, spark.DataType, spark.DataType], Conversion]


def _between(haves: type | tuple[type, ...], wants: type | tuple[type, ...]) -> _Fits:
    return lambda have, want: isinstance(have, haves) and isinstance(want, wants)


_CONVERSIONS: tuple[tuple[_Fits, _Make], ...] = (
    (_between(_NUMERIC_TYPES, _NUMERIC_TYPES), _number_to_number),
    (_between(spark.StringType, spark.DecimalType), _text_to_decimal),
    (_between(spark.StringType, _TEMPORAL_TYPES), _text_to_timestamp),
    (_between(spark.StringType, (*_NUMERIC_TYPES, spark.BooleanType)), _text_to_value),
    (_between(_TEMPORAL_TYPES, _TEMPORAL_TYPES), _timestamp_to_timestamp),
    (_between(_PRINTABLE_TYPES, spark.StringType), _to_text),
    (_between(spark.BinaryType, spark.StringType), _bytes_to_text),
    (_between(spark.StringType, spark.BinaryType), _text_to_bytes),
)
