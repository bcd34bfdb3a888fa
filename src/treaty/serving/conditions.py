"""Filters of a request: which columns they may name, their values by type, and which rows meet them.

A filter is a value, never a text of a query language. Messages name columns and types and repeat no value.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]

from treaty.errors import InvalidDocument

MAX_CONDITIONS = 20
MAX_VALUES = 100
"""Values of one column, any of which a row may have."""
MAX_VALUE_LENGTH = 1_000


class Comparison(StrEnum):
    """How a column is compared with the value of a filter: `?order_date.ge=2026-01-01`."""

    EQUAL = "eq"
    AT_LEAST = "ge"
    ABOVE = "gt"
    AT_MOST = "le"
    BELOW = "lt"


@dataclass(frozen=True)
class Filter:
    """One filter as the request has it."""

    column: str
    comparison: Comparison
    texts: tuple[str, ...]


@dataclass(frozen=True)
class Condition:
    """One filter with values of the column's type; a row meets it with any of the values."""

    column: str
    comparison: Comparison
    values: tuple[Any, ...]

    def may_match(self, lowest: Any, highest: Any) -> bool:
        """Return whether a row group with these bounds may have a row that meets the condition."""
        return any(_MAY_MATCH[self.comparison](lowest, highest, value) for value in self.values)

    def matches(self, column: pa.ChunkedArray) -> pa.ChunkedArray:
        """Return for each row whether it meets the condition; NULL meets none."""
        if self.comparison is Comparison.EQUAL and len(self.values) > 1:
            return pc.is_in(column, pa.array(self.values, column.type))
        return pc.fill_null(_COMPARE[self.comparison](column, pa.scalar(self.values[0], column.type)), False)


_MAY_MATCH: dict[Comparison, Callable[[Any, Any, Any], bool]] = {
    Comparison.EQUAL: lambda lowest, highest, value: lowest <= value <= highest,
    Comparison.AT_LEAST: lambda _lowest, highest, value: highest >= value,
    Comparison.ABOVE: lambda _lowest, highest, value: highest > value,
    Comparison.AT_MOST: lambda lowest, _highest, value: lowest <= value,
    Comparison.BELOW: lambda lowest, _highest, value: lowest < value,
}
_COMPARE: dict[Comparison, Callable[[Any, Any], Any]] = {
    Comparison.EQUAL: pc.equal,
    Comparison.AT_LEAST: pc.greater_equal,
    Comparison.ABOVE: pc.greater,
    Comparison.AT_MOST: pc.less_equal,
    Comparison.BELOW: pc.less,
}


def parse_filters(parameters: Iterable[tuple[str, str]], columns: Collection[str]) -> tuple[Filter, ...]:
    """Return the filters among the parameters of a request; every parameter must name a column that has filters."""
    texts: dict[tuple[str, Comparison], list[str]] = {}
    for name, text in parameters:
        column, comparison = _split(name, columns)
        if len(text) > MAX_VALUE_LENGTH:
            raise InvalidDocument(f"the value of {name} is longer than {MAX_VALUE_LENGTH:,} characters")
        texts.setdefault((column, comparison), []).append(text)
    for (column, comparison), values in texts.items():
        if len(values) > MAX_VALUES:
            raise InvalidDocument(f"{column} has more than {MAX_VALUES} values; send several requests")
        if comparison is not Comparison.EQUAL and len(values) > 1:
            raise InvalidDocument(f"{column}.{comparison} is given twice; give it once")
    if len(texts) > MAX_CONDITIONS:
        raise InvalidDocument(f"more than {MAX_CONDITIONS} filters; send fewer")
    return tuple(Filter(column, comparison, tuple(values)) for (column, comparison), values in texts.items())


def _split(name: str, columns: Collection[str]) -> tuple[str, Comparison]:
    if name in columns:
        return name, Comparison.EQUAL
    column, _, suffix = name.rpartition(".")
    if column in columns and suffix in tuple(Comparison):
        return column, Comparison(suffix)
    filterable = ", ".join(sorted(columns)) or "none"
    raise InvalidDocument(
        f"{name[:80]!r} is neither a parameter nor a column with filters; columns with filters: {filterable}, "
        f"each also with .{', .'.join(Comparison)}"
    )


def parse_condition(given: Filter, kind: pa.DataType) -> Condition:
    """Return a filter with values of a column's type; raise InvalidDocument, without the value, if one is no such."""
    parse, expected = _parser_of(kind)
    try:
        values = tuple(parse(text) for text in given.texts)
    except (ValueError, InvalidOperation, OverflowError):
        raise InvalidDocument(f"the value of {given.column} must be {expected}") from None
    return Condition(given.column, given.comparison, values)


def _parser_of(kind: pa.DataType) -> tuple[Callable[[str], Any], str]:
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return str, "a text"
    if pa.types.is_integer(kind):
        return lambda text: _integer(text, kind), "an integer"
    if pa.types.is_boolean(kind):
        return _boolean, "true or false"
    if pa.types.is_date(kind):
        return date.fromisoformat, "a date such as 2026-01-31"
    if pa.types.is_timestamp(kind):
        example = "2026-01-31T08:00:00Z" if kind.tz else "2026-01-31T08:00:00"
        return lambda text: _moment(text, has_zone=kind.tz is not None), f"a time such as {example}"
    if pa.types.is_decimal(kind):
        return lambda text: _decimal(text, kind), f"a number with at most {kind.scale} decimals"
    raise InvalidDocument("columns of this type have no filters; filter on another one")


def _integer(text: str, kind: pa.DataType) -> int:
    value = int(text) if len(text) <= 20 else _too_long()
    pa.scalar(value, kind)  # raises OverflowError or ArrowInvalid, a ValueError, if it does not fit
    return value


def _boolean(text: str) -> bool:
    return {"true": True, "false": False}[text] if text in ("true", "false") else bool(_too_long())


def _moment(text: str, *, has_zone: bool) -> datetime:
    moment = datetime.fromisoformat(text)
    if (moment.tzinfo is not None) != has_zone:
        raise ValueError
    return moment.astimezone(UTC) if has_zone else moment


def _decimal(text: str, kind: pa.DataType) -> Decimal:
    value = Decimal(text) if len(text) <= 60 else Decimal(_too_long())
    if not value.is_finite():
        raise ValueError
    scaled: Decimal = pa.scalar(value, kind).as_py()
    return scaled


def _too_long() -> int:
    raise ValueError
