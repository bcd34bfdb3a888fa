"""One check of one value: what it looks at, when the value breaks it, and how the broken value is shown."""

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
    """An operator with its value, on a number of rows or on their share in percent."""

    operator: str
    value: Any
    percent: bool = False

    def __str__(self) -> str:
        said = " and ".join(map(str, self.value)) if isinstance(self.value, tuple) else str(self.value)
        return _OPERATORS[self.operator][0].format(said) + (" %" if self.percent else "")

    @property
    def tolerates_none(self) -> bool:
        """Whether not a single row may break the rule."""
        return not self.holds(1, 1) and not self.holds(1, 10**12) and self.holds(0, 1)

    def holds(self, count: int | None, rows: int) -> bool:
        """Tell whether so many rows of all rows are within the threshold."""
        if count is None:
            return True
        share = Decimal(count) * 100 / Decimal(rows) if rows else Decimal(0)
        return self.holds_for(share if self.percent else count)

    def holds_for(self, measured: Any) -> bool:
        """Tell whether a measured value is within the threshold; nothing measured is not."""
        if measured is None:
            return self.operator in ("mustNotBe", "mustNotBeBetween")
        try:
            return _OPERATORS[self.operator][1](_number(measured), _number(self.value))
        except TypeError:
            return _OPERATORS[self.operator][1](str(measured), str(self.value))


NO_VIOLATIONS = Threshold("mustBe", 0)


def read_threshold(rule: Mapping[str, Any]) -> Threshold | None:
    """Read the operator of a rule; None where it has none."""
    given = [key for key in _OPERATORS if key in rule]
    if not given:
        return None
    if len(given) > 1:
        raise InvalidDocument(
            f"a quality rule has one operator, this one has {', '.join(given)}; make it several rules"
        )
    return Threshold(given[0], rule[given[0]], str(rule.get("unit", "")).strip().lower() in _PERCENT)


def _number(value: Any) -> Any:
    """Compare numbers as decimals: 0.1 means 0.1."""
    if isinstance(value, tuple):
        return tuple(_number(item) for item in value)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return Decimal(str(value))
    return value


class Kind(StrEnum):
    """What a rule is about."""

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
    """A condition on a value of a field; columns are functions of the value, so that a check fits any nesting."""

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
        """Return the check for a value that is reached from another."""
        broken, shown = self.broken, self.shown
        return replace(self, broken=lambda outer: broken(reach(outer)), shown=lambda outer: shown(reach(outer)))

    def below(self, reach: ColumnFunction) -> Check:
        """Return the check for a part of an object; where there is no object, no part is missing."""
        broken, shown = self.broken, self.shown
        return replace(
            self,
            broken=lambda outer: outer.isNotNull() & broken(reach(outer)),
            shown=lambda outer: shown(reach(outer)),
        )

    def for_any(self, elements: ColumnFunction) -> Check:
        """Return the check for each of several values: one that breaks it is enough, and the first is shown."""
        broken, shown = self.broken, self.shown

        def first(outer: Column) -> Column:
            return shown(F.get(F.filter(elements(outer), broken), F.lit(0)))

        return replace(self, broken=lambda outer: F.exists(elements(outer), broken), shown=first)
