"""Kinds of rules, checks on single values, and the thresholds of quality rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import StrEnum
from typing import Any

from pyspark.sql import Column
from pyspark.sql import functions as F

from treaty.contracts.findings import Severity
from treaty.contracts.paths import FieldPath
from treaty.errors import InvalidDocument
from treaty.spark.type_conversion import ColumnFunction

_OPERATORS: dict[str, tuple[str, Callable[[Any, Any], bool]]] = {
    "mustBe": ("must be {}", lambda measured, value: bool(measured == value)),
    "mustNotBe": ("must not be {}", lambda measured, value: bool(measured != value)),
    "mustBeGreaterThan": ("must be more than {}", lambda measured, value: bool(measured > value)),
    "mustBeGreaterOrEqualTo": ("must be at least {}", lambda measured, value: bool(measured >= value)),
    "mustBeGreaterThanOrEqualTo": ("must be at least {}", lambda measured, value: bool(measured >= value)),
    "mustBeLessThan": ("must be less than {}", lambda measured, value: bool(measured < value)),
    "mustBeLessOrEqualTo": ("must be at most {}", lambda measured, value: bool(measured <= value)),
    "mustBeLessThanOrEqualTo": ("must be at most {}", lambda measured, value: bool(measured <= value)),
    "mustBeBetween": ("must be between {}", lambda measured, span: bool(span[0] <= measured <= span[1])),
    "mustNotBeBetween": ("must not be between {}", lambda measured, span: not span[0] <= measured <= span[1]),
}
_PERCENT = frozenset({"percent", "%", "pct", "percentage"})


@dataclass(frozen=True)
class Threshold:
    """An ODCS operator with its value, applied to a number of rows or to their percentage."""

    operator: str
    value: Any
    percent: bool = False

    def __str__(self) -> str:
        value = " and ".join(map(str, self.value)) if isinstance(self.value, tuple) else str(self.value)
        return _OPERATORS[self.operator][0].format(value) + (" %" if self.percent else "")

    @property
    def tolerates_none(self) -> bool:
        """Whether a single row that violates the rule exceeds the threshold."""
        return not self.holds(1, 1) and not self.holds(1, 10**12) and self.holds(0, 1)

    def holds(self, count: int | None, rows: int) -> bool:
        """Whether `count` of `rows` rows is within the threshold."""
        if count is None:
            return True
        share = Decimal(count) * 100 / Decimal(rows) if rows else Decimal(0)
        return self.holds_for(share if self.percent else count)

    def holds_for(self, measured: Any) -> bool:
        """Whether a measured value is within the threshold; a missing value is not."""
        if measured is None:
            return self.operator in ("mustNotBe", "mustNotBeBetween")
        try:
            return _OPERATORS[self.operator][1](_number(measured), _number(self.value))
        except TypeError:
            return _OPERATORS[self.operator][1](str(measured), str(self.value))


NO_VIOLATIONS = Threshold("mustBe", 0)


def read_threshold(rule: Mapping[str, Any]) -> Threshold | None:
    """Read the threshold of a rule; None if it has no operator."""
    given = [key for key in _OPERATORS if key in rule]
    if not given:
        return None
    if len(given) > 1:
        raise InvalidDocument(
            f"a quality rule has one operator, but this one has {', '.join(given)}; split it into several rules"
        )
    return Threshold(given[0], rule[given[0]], str(rule.get("unit", "")).strip().lower() in _PERCENT)


def _number(value: Any) -> Any:
    """Return numbers as decimals, so that 0.1 is compared exactly."""
    if isinstance(value, tuple):
        return tuple(_number(item) for item in value)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return Decimal(str(value))
    return value


class Kind(StrEnum):
    """The kind of a rule."""

    REQUIRED = "required"
    TYPE = "type"
    ENUM = "enum"
    PATTERN = "pattern"
    RANGE = "range"
    LENGTH = "length"
    FORMAT = "format"
    MULTIPLE = "multiple_of"
    ITEM_COUNT = "item_count"
    UNIQUE_ITEMS = "unique_items"
    UNKNOWN_FIELD = "unknown_field"
    MALFORMED = "malformed"
    NULL_VALUES = "null_values"
    MISSING_VALUES = "missing_values"
    INVALID_VALUES = "invalid_values"
    SQL = "sql"
    UNIQUE = "unique"
    REFERENCE = "reference"
    ROW_COUNT = "row_count"
    FRESHNESS = "freshness"


@dataclass(frozen=True)
class Check:
    """A condition on a value of a field. Columns are functions of the value, so that a check works at any depth."""

    kind: Kind
    path: FieldPath
    says: str
    broken: ColumnFunction
    shown: ColumnFunction
    is_secret: bool = False
    name: str | None = None
    severity: Severity = Severity.ERROR
    allows: Threshold = NO_VIOLATIONS

    def reached_by(self, reach: ColumnFunction) -> Check:
        """Return the check for a value that `reach` derives from another value."""
        broken, shown = self.broken, self.shown
        return replace(self, broken=lambda outer: broken(reach(outer)), shown=lambda outer: shown(reach(outer)))

    def below(self, reach: ColumnFunction) -> Check:
        """Return the check for a field of an object; a null object violates no check on its fields."""
        broken, shown = self.broken, self.shown
        return replace(
            self,
            broken=lambda outer: outer.isNotNull() & broken(reach(outer)),
            shown=lambda outer: shown(reach(outer)),
        )

    def for_any(self, elements: ColumnFunction) -> Check:
        """Return the check for all elements of an array; it shows the first element that violates it."""
        broken, shown = self.broken, self.shown

        def first(outer: Column) -> Column:
            return shown(F.get(F.filter(elements(outer), broken), F.lit(0)))

        return replace(self, broken=lambda outer: F.exists(elements(outer), broken), shown=first)
