"""Checks on single values, from the terms of a field and from ODCS metrics."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, TypeAlias

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from treaty.compatibility.terms.comparison import Bounds
from treaty.compatibility.terms.field_values import item_count, text_length, value_range
from treaty.compatibility.terms.quality_rules import normalize_rule, rule_name
from treaty.contracts.findings import Severity
from treaty.contracts.model import Field
from treaty.contracts.values import EMPTY, abbreviate
from treaty.spark.columns import all_of, any_of
from treaty.spark.rules import NO_VIOLATIONS, Kind, Threshold, read_threshold
from treaty.spark.text_checks import FORMATS, violates
from treaty.spark.type_conversion import ColumnFunction

ValueCheck: TypeAlias = tuple[Kind, str, ColumnFunction]
"""Kind, requirement in words, and the condition under which a converted value violates it."""
_Reader: TypeAlias = Callable[[Field, spark.DataType], Iterator[ValueCheck]]

_INTEGER_BITS: dict[type[spark.DataType], int] = {
    spark.ByteType: 8,
    spark.ShortType: 16,
    spark.IntegerType: 32,
    spark.LongType: 64,
}
_FLOAT_TOLERANCE = 1e-9
_MAX_LONG_DIGITS = 18
"""Spark stores decimals of up to this precision as a long."""


def term_checks(field: Field, kind: spark.DataType) -> Iterator[ValueCheck]:
    """Yield the checks of the terms of a field for values of this type."""
    for reader in _READERS:
        yield from reader(field, kind)


def unchecked_options(field: Field) -> Iterator[str]:
    """Yield the options of a field that no check covers."""
    named = (field.options or EMPTY).get("format")
    if isinstance(named, str) and field.logical_type == "string" and named not in FORMATS:
        yield f"format {named!r} is not checked; known formats are: {', '.join(FORMATS)}"


def literal_column(value: Any, kind: spark.DataType) -> Column:
    """Return a value of the contract as a literal that compares with that type."""
    if isinstance(kind, tuple(_INTEGER_BITS)) and not isinstance(value, (bool, str)) and value == int(value):
        return F.lit(int(value))
    if isinstance(kind, (spark.DecimalType, *_INTEGER_BITS)) and not isinstance(value, (bool, str)):
        return F.lit(Decimal(str(value)))
    if isinstance(kind, (spark.FloatType, spark.DoubleType)) and isinstance(value, (int, float)):
        return F.lit(float(value))
    return F.lit(str(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else value).try_cast(
        kind
    )


def is_listed(value: Column, allowed: tuple[Any, ...], kind: spark.DataType) -> Column:
    """Whether a value is one of the allowed values."""
    if isinstance(kind, spark.StringType):
        return value.isin(*[choice if isinstance(choice, str) else abbreviate(choice) for choice in allowed])
    return value.isin(*[literal_column(choice, kind) for choice in allowed])


def _enum(field: Field, kind: spark.DataType) -> Iterator[ValueCheck]:
    if field.enum is None or isinstance(kind, (spark.StructType, spark.ArrayType, spark.MapType)):
        return
    allowed = tuple(entry["value"] for entry in field.enum if entry["value"] is not None)
    requirement = "must be one of " + abbreviate(", ".join(map(str, allowed)), 200)
    yield Kind.ENUM, requirement, lambda value: ~is_listed(value, allowed, kind)


def _range(field: Field, kind: spark.DataType) -> Iterator[ValueCheck]:
    limits = value_range(field)
    if limits.low is None and limits.high is None:
        return
    if isinstance(kind, (spark.StringType, spark.BooleanType, spark.StructType, spark.ArrayType, spark.MapType)):
        return

    def outside(value: Column) -> Column:
        parts = []
        if isinstance(kind, (spark.FloatType, spark.DoubleType)):
            parts.append(F.isnan(value))
        if limits.low is not None and not _is_below_all(limits.low, kind):
            low = literal_column(limits.low, kind)
            parts.append(value <= low if limits.low_open else value < low)
        if limits.high is not None and not _is_above_all(limits.high, kind):
            high = literal_column(limits.high, kind)
            parts.append(value >= high if limits.high_open else value > high)
        violated = any_of(parts)
        return ~_is_inside_by_integer_part(value, limits) & violated if _fits_in_long(limits, kind) else violated

    yield Kind.RANGE, f"must be {limits}", outside


def _fits_in_long(limits: Bounds, kind: spark.DataType) -> bool:
    bounds = [bound for bound in (limits.low, limits.high) if bound is not None]
    of_longs = all(isinstance(bound, (int, float)) and abs(bound) < 10**_MAX_LONG_DIGITS for bound in bounds)
    return of_longs and isinstance(kind, spark.DecimalType) and kind.precision <= _MAX_LONG_DIGITS


def _is_inside_by_integer_part(value: Column, limits: Bounds) -> Column:
    """Whether the integer part proves that a decimal is within bounds; comparing big decimals is slower."""
    whole = value.cast("long")
    low = [] if limits.low is None else [whole > F.lit(math.ceil(Decimal(str(limits.low))))]
    high = [] if limits.high is None else [whole < F.lit(math.floor(Decimal(str(limits.high))))]
    return all_of([*low, *high])


def _is_below_all(bound: Any, kind: spark.DataType) -> bool:
    bits = _INTEGER_BITS.get(type(kind))
    return bits is not None and isinstance(bound, (int, float)) and bound < -(2 ** (bits - 1))


def _is_above_all(bound: Any, kind: spark.DataType) -> bool:
    bits = _INTEGER_BITS.get(type(kind))
    return bits is not None and isinstance(bound, (int, float)) and bound >= 2 ** (bits - 1)


def _length(field: Field, kind: spark.DataType) -> Iterator[ValueCheck]:
    limits = text_length(field)
    if (limits.low is None and limits.high is None) or not isinstance(kind, (spark.StringType, spark.BinaryType)):
        return
    yield Kind.LENGTH, f"must have a length {limits}", lambda value: _is_outside(F.length(value), limits)


def _is_outside(size: Column, limits: Bounds) -> Column:
    if limits.low is None:
        return size > F.lit(limits.high)
    if limits.high is None:
        return size < F.lit(limits.low)
    return (size < F.lit(limits.low)) | (size > F.lit(limits.high))


def _pattern(field: Field, kind: spark.DataType) -> Iterator[ValueCheck]:
    pattern = (field.options or EMPTY).get("pattern")
    if isinstance(pattern, str) and isinstance(kind, spark.StringType):
        yield Kind.PATTERN, f"must match {pattern}", lambda value: violates(value, pattern)


def _format(field: Field, kind: spark.DataType) -> Iterator[ValueCheck]:
    named = (field.options or EMPTY).get("format")
    if field.type is not None and field.type.name == "time" and isinstance(kind, spark.StringType):
        if isinstance(named, str):
            pattern = named
            yield (
                Kind.FORMAT,
                f"must be a time in the format {named}",
                lambda value: F.try_to_timestamp(value, F.lit(pattern)).isNull(),
            )
        else:
            yield Kind.FORMAT, "must be a time of day", FORMATS["time"].violated
    elif isinstance(named, str) and isinstance(kind, spark.StringType) and named in FORMATS:
        yield Kind.FORMAT, f"must have the format {named}", FORMATS[named].violated


def _multiple(field: Field, kind: spark.DataType) -> Iterator[ValueCheck]:
    step = (field.options or EMPTY).get("multipleOf")
    if not isinstance(step, (int, float)) or isinstance(step, bool) or step <= 0 or not math.isfinite(step):
        return
    if isinstance(kind, (spark.FloatType, spark.DoubleType)):

        def uneven(value: Column) -> Column:
            steps = value / F.lit(float(step))
            return F.isnan(value) | (F.abs(steps - F.round(steps)) > F.lit(_FLOAT_TOLERANCE))

        yield Kind.MULTIPLE, f"must be a multiple of {step}", uneven
    elif isinstance(kind, (spark.DecimalType, *_INTEGER_BITS)):
        yield (
            Kind.MULTIPLE,
            f"must be a multiple of {step}",
            lambda value: (value % literal_column(step, kind)) != F.lit(0),
        )


def _items(field: Field, kind: spark.DataType) -> Iterator[ValueCheck]:
    if not isinstance(kind, ArrayLike):
        return
    options, limits = field.options or EMPTY, item_count(field)
    if isinstance(options.get("dimensions"), int):
        limits = Bounds(options["dimensions"], False, options["dimensions"], False)
    if limits.low is not None or limits.high is not None:
        yield Kind.ITEM_COUNT, f"must have a number of items {limits}", lambda value: _is_outside(F.size(value), limits)
    if options.get("uniqueItems") is True and isinstance(kind, spark.ArrayType) and not contains_map(kind.elementType):
        yield (
            Kind.UNIQUE_ITEMS,
            "must not contain duplicate items",
            lambda value: F.size(F.array_distinct(value)) < F.size(value),
        )


ArrayLike = (spark.ArrayType, spark.MapType)


def contains_map(kind: spark.DataType) -> bool:
    """Whether a type contains a map, which Spark cannot compare."""
    if isinstance(kind, spark.ArrayType):
        return contains_map(kind.elementType)
    if isinstance(kind, spark.StructType):
        return any(contains_map(column.dataType) for column in kind.fields)
    return isinstance(kind, spark.MapType)


_READERS: tuple[_Reader, ...] = (_enum, _range, _length, _pattern, _format, _multiple, _items)


_Rule: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True)
class QualityCheck:
    """A metric on single values with its threshold; without `violated`, the terms of the field apply."""

    kind: Kind
    requirement: str
    violated: ColumnFunction | None
    name: str
    severity: Severity
    threshold: Threshold
    of_input: bool = False


def quality_checks(field: Field, kind: spark.DataType) -> Iterator[QualityCheck]:
    """Yield the checks of the quality rules of a field."""
    for rule in field.quality or ():
        checked = normalize_rule(rule)
        reader = VALUE_METRICS.get(str(checked.get("metric")))
        if reader is None:
            continue
        check_kind, requirement, violated = reader(checked, kind)
        threshold = read_threshold(rule) or NO_VIOLATIONS
        of_input = check_kind is not Kind.INVALID_VALUES
        yield QualityCheck(check_kind, requirement, violated, rule_name(rule), rule_severity(rule), threshold, of_input)


def rule_severity(rule: _Rule) -> Severity:
    """Read the severity of a rule; the default is error."""
    severity = str(rule.get("severity", "error")).strip().lower()
    return {"warning": Severity.WARNING, "warn": Severity.WARNING, "info": Severity.INFO}.get(severity, Severity.ERROR)


_MetricCheck: TypeAlias = tuple[Kind, str, ColumnFunction | None]


def _nulls(rule: _Rule, kind: spark.DataType) -> _MetricCheck:
    return Kind.NULL_VALUES, "must not be null", lambda value: value.isNull()


def _missing(rule: _Rule, kind: spark.DataType) -> _MetricCheck:
    marks = tuple(mark for mark in _arguments(rule).get("missingValues") or () if mark is not None)
    requirement = "must not be missing" + (f" (null, {abbreviate(', '.join(map(str, marks)))})" if marks else "")
    if not marks:
        return Kind.MISSING_VALUES, requirement, lambda value: value.isNull()
    texts = [str(mark) for mark in marks]
    return Kind.MISSING_VALUES, requirement, lambda value: value.isNull() | value.cast("string").isin(*texts)


def _invalid(rule: _Rule, kind: spark.DataType) -> _MetricCheck:
    arguments = _arguments(rule)
    parts: list[ColumnFunction] = []
    requirements = []
    allowed = arguments.get("validValues", rule.get("validValues"))
    if isinstance(allowed, tuple):
        requirements.append("be one of " + abbreviate(", ".join(map(str, allowed)), 200))
        parts.append(lambda value: ~is_listed(value, allowed, kind))
    pattern = arguments.get("pattern")
    if isinstance(pattern, str):
        requirements.append(f"match {pattern}")
        parts.append(lambda value: violates(value.cast("string"), pattern))

    def violated(value: Column) -> Column:
        return any_of(part(value) for part in parts)

    if not parts:
        return Kind.INVALID_VALUES, "must satisfy the other terms of the field", None
    return Kind.INVALID_VALUES, "must " + " and ".join(requirements), violated


def _arguments(rule: _Rule) -> Mapping[str, Any]:
    arguments = rule.get("arguments")
    return arguments if isinstance(arguments, Mapping) else EMPTY


VALUE_METRICS: dict[str, Callable[[_Rule, spark.DataType], _MetricCheck]] = {
    "nullValues": _nulls,
    "nullCheck": _nulls,
    "missingValues": _missing,
    "invalidValues": _invalid,
    "validValues": _invalid,
}
