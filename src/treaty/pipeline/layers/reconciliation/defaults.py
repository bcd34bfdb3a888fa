"""Defaults: the value of an attribute about which nobody says anything."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from typing import Any

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from treaty.pipeline.declarations import Attribute
from treaty.pipeline.layers.reconciliation.subjects import Subject


def default_of(subject: Subject, attribute: Attribute, column: str) -> Column | None:
    """Return the default as a value of the field, or say why it is none."""
    value, want = attribute.default, subject.type_of(column)
    if value is None:
        return None
    reads = next((read for kinds, read in _DEFAULTS if isinstance(want, kinds)), None)
    try:
        if reads is None:
            raise ValueError
        return F.lit(reads(value)).cast(want)
    except (ValueError, ArithmeticError):
        raise subject.wrong(
            f"the default of {attribute.name} is {value!r}, and the field is {want.simpleString()}"
        ) from None


def _truth(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError
    return value


def _number(value: Any) -> Decimal:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError
    return Decimal(format(Decimal(str(value)), "f"))


def _whole(value: Any) -> int:
    number = _number(value)
    if number != int(number):
        raise ValueError
    return int(number)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError
    return value


def _moment(value: Any) -> str:
    return datetime.fromisoformat(_text(value)).isoformat()


_DEFAULTS: tuple[tuple[Any, Callable[[Any], Any]], ...] = (
    (spark.BooleanType, _truth),
    (spark.IntegralType, _whole),
    (spark.DecimalType, _number),
    ((spark.FloatType, spark.DoubleType), lambda value: float(_number(value))),
    (spark.StringType, _text),
    ((spark.DateType, spark.TimestampType, spark.TimestampNTZType), _moment),
)
"""How a default is read, by the type of its field."""
