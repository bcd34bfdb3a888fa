"""Reading one value as the contract's type, exactly: what cannot be read without loss is not read at all."""

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

_WHOLE = (spark.ByteType, spark.ShortType, spark.IntegerType, spark.LongType)
_NUMBERS = (*_WHOLE, spark.FloatType, spark.DoubleType, spark.DecimalType)
_MOMENTS = (spark.DateType, spark.TimestampType, spark.TimestampNTZType)
_TEXTUAL = (*_NUMBERS, *_MOMENTS, spark.BooleanType)
_UNSIGNED_MOST = {"u8": 2**8 - 1, "u16": 2**16 - 1, "u32": 2**32 - 1, "u64": 2**64 - 1, "u128": None}


@dataclass(frozen=True)
class Conversion:
    """How a value becomes the contract's type, and when it cannot."""

    read: ColumnFunction
    fails: ColumnFunction | None = None

    @property
    def is_identity(self) -> bool:
        """Whether the value stays as it is and cannot fail."""
        return self.read is _as_it_is and self.fails is None


def _as_it_is(value: Column) -> Column:
    return value


def find_conversion(field: Field, have: spark.DataType, want: spark.DataType | None) -> Conversion:
    """Return how to read values of type `have` as what the field is."""
    if want is None or same_type(have, want):
        return _bounded(field, Conversion(_as_it_is), want)
    if isinstance(have, spark.NullType):
        return Conversion(lambda value: F.lit(None).cast(want))
    for fits, make in _WAYS:
        if fits(have, want):
            return _bounded(field, make(field, have, want), want)
    return impossible_conversion(want)


def impossible_conversion(want: spark.DataType) -> Conversion:
    """Return the conversion that no value survives."""
    return Conversion(lambda value: F.lit(None).cast(want), lambda value: value.isNotNull())


def same_type(one: spark.DataType, other: spark.DataType) -> bool:
    """Tell whether two types are the same but for what may be null."""
    if isinstance(one, spark.ArrayType) and isinstance(other, spark.ArrayType):
        return same_type(one.elementType, other.elementType)
    if isinstance(one, spark.MapType) and isinstance(other, spark.MapType):
        return same_type(one.keyType, other.keyType) and same_type(one.valueType, other.valueType)
    if isinstance(one, spark.StructType) and isinstance(other, spark.StructType):
        pairs = zip(one.fields, other.fields, strict=False)
        return len(one) == len(other) and all(
            left.name == right.name and same_type(left.dataType, right.dataType) for left, right in pairs
        )
    if isinstance(one, spark.StringType) and isinstance(other, spark.StringType):
        return True
    return one == other


def _bounded(field: Field, way: Conversion, want: spark.DataType | None) -> Conversion:
    """Add the bounds of an unsigned integer, which Spark has no type for."""
    detail = field.type.detail if field.type else None
    if want is None or detail not in _UNSIGNED_MOST:
        return way
    most = _UNSIGNED_MOST[detail or ""]

    def outside(value: Column) -> Column:
        number = way.read(value)
        below = number < F.lit(0)
        return below if most is None else below | (number > F.lit(str(most)).cast(want))

    return Conversion(way.read, _either(way.fails, outside))


def _either(one: ColumnFunction | None, other: ColumnFunction) -> ColumnFunction:
    return other if one is None else lambda value: one(value) | other(value)


def _unread(read: ColumnFunction) -> ColumnFunction:
    return lambda value: value.isNotNull() & read(value).isNull()


def _tried(want: spark.DataType) -> Conversion:
    def read(value: Column) -> Column:
        return value.try_cast(want)

    return Conversion(read, _unread(read))


def _number_to_number(field: Field, have: spark.DataType, want: spark.DataType) -> Conversion:
    """Cast, and refuse what does not come back as it was: a fraction cut off, a digit rounded away."""
    way = _tried(want)
    if is_lossless(have, want):
        return Conversion(way.read)
    if isinstance(want, spark.FloatType):
        return Conversion(way.read, lambda value: F.isnan(value) != F.isnan(way.read(value)))
    unread = way.fails or _unread(way.read)
    return Conversion(way.read, lambda value: unread(value) | (way.read(value).try_cast(have) != value))


def is_lossless(have: spark.DataType, want: spark.DataType) -> bool:
    """Tell whether every value of one number type is a value of the other."""
    order: list[type[spark.DataType]] = [*_WHOLE]
    if type(have) in order and type(want) in order:
        return order.index(type(have)) <= order.index(type(want))
    if isinstance(have, spark.DecimalType) and isinstance(want, spark.DecimalType):
        return want.scale >= have.scale and want.precision - want.scale >= have.precision - have.scale
    return isinstance(have, spark.FloatType) and isinstance(want, spark.DoubleType)


def _text_to_decimal(field: Field, have: spark.DataType, want: spark.DataType) -> Conversion:
    """Read a decimal from a text; more decimals than it holds are refused, not rounded."""
    way = _tried(want)
    before_point = want.precision - want.scale if isinstance(want, spark.DecimalType) else 38
    wide = spark.DecimalType(38, 38 - before_point)
    unread = way.fails or _unread(way.read)
    return Conversion(way.read, lambda value: unread(value) | (value.try_cast(wide) != way.read(value).cast(wide)))


def _text_to_moment(field: Field, have: spark.DataType, want: spark.DataType) -> Conversion:
    """Read a date or timestamp from a text, by the pattern the field gives or in ISO 8601 with a full date."""
    pattern = (field.options or EMPTY).get("format")
    if isinstance(pattern, str):

        def by_pattern(value: Column) -> Column:
            return F.try_to_timestamp(value, F.lit(pattern)).cast(want)

        return Conversion(by_pattern, _unread(by_pattern))

    def read(value: Column) -> Column:
        # a bare year or time of day would be filled up with a guess
        return F.when(F.substring(F.trim(value), 5, 1) == "-", F.when(F.length(value) >= 10, value)).try_cast(want)

    return Conversion(read, _unread(read))


def _text_to_value(field: Field, have: spark.DataType, want: spark.DataType) -> Conversion:
    return _tried(want)


def _moment_to_moment(field: Field, have: spark.DataType, want: spark.DataType) -> Conversion:
    way = _tried(want)
    if not isinstance(want, spark.DateType):
        return Conversion(way.read)
    return Conversion(way.read, lambda value: way.read(value).cast(have) != value)


def _to_text(field: Field, have: spark.DataType, want: spark.DataType) -> Conversion:
    return Conversion(lambda value: value.cast(want))


def _bytes_to_text(field: Field, have: spark.DataType, want: spark.DataType) -> Conversion:
    def read(value: Column) -> Column:
        return F.try_validate_utf8(value.cast("string"))

    return Conversion(read, _unread(read))


def _text_to_bytes(field: Field, have: spark.DataType, want: spark.DataType) -> Conversion:
    return Conversion(lambda value: value.cast(want))


_Fits: TypeAlias = Callable[[spark.DataType, spark.DataType], bool]
_Make: TypeAlias = Callable[[Field, spark.DataType, spark.DataType], Conversion]


def _between(haves: type | tuple[type, ...], wants: type | tuple[type, ...]) -> _Fits:
    return lambda have, want: isinstance(have, haves) and isinstance(want, wants)


_WAYS: tuple[tuple[_Fits, _Make], ...] = (
    (_between(_NUMBERS, _NUMBERS), _number_to_number),
    (_between(spark.StringType, spark.DecimalType), _text_to_decimal),
    (_between(spark.StringType, _MOMENTS), _text_to_moment),
    (_between(spark.StringType, (*_NUMBERS, spark.BooleanType)), _text_to_value),
    (_between(_MOMENTS, _MOMENTS), _moment_to_moment),
    (_between(_TEXTUAL, spark.StringType), _to_text),
    (_between(spark.BinaryType, spark.StringType), _bytes_to_text),
    (_between(spark.StringType, spark.BinaryType), _text_to_bytes),
)
