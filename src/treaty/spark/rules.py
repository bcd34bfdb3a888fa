"""Rules on a dataset as values: kinds, thresholds, checks of single values, rules, and the policy of enforcement."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from enum import StrEnum
from functools import cached_property
from typing import Any, TypeAlias

from pyspark.sql import Column
from pyspark.sql import functions as F

from treaty.contracts.findings import Severity
from treaty.contracts.paths import FieldPath
from treaty.errors import InvalidDocument
from treaty.spark.type_conversion import ColumnFunction
from treaty.sql.checked_sql import RuleQuery

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
        return tuple(_number(bound) for bound in value)
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
    requirement: str
    violated: ColumnFunction
    shown_value: ColumnFunction
    is_secret: bool = False
    name: str | None = None
    severity: Severity = Severity.ERROR
    threshold: Threshold = NO_VIOLATIONS

    def reached_by(self, reach: ColumnFunction) -> Check:
        """Return the check for a value that `reach` derives from another value."""
        violated, shown_value = self.violated, self.shown_value
        return replace(
            self, violated=lambda outer: violated(reach(outer)), shown_value=lambda outer: shown_value(reach(outer))
        )

    def below(self, reach: ColumnFunction) -> Check:
        """Return the check for a field of an object; a null object violates no check on its fields."""
        violated, shown_value = self.violated, self.shown_value
        return replace(
            self,
            violated=lambda outer: outer.isNotNull() & violated(reach(outer)),
            shown_value=lambda outer: shown_value(reach(outer)),
        )

    def for_any(self, elements: ColumnFunction) -> Check:
        """Return the check for all elements of an array; it shows the first element that violates it."""
        violated, shown_value = self.violated, self.shown_value

        def first(outer: Column) -> Column:
            return shown_value(F.get(F.filter(elements(outer), violated), F.lit(0)))

        return replace(self, violated=lambda outer: F.exists(elements(outer), violated), shown_value=first)


@dataclass(frozen=True)
class Rule:
    """One rule: its kind, its field, what it requires, its severity, and the number of violations it tolerates."""

    id: str
    kind: Kind
    field: str
    requirement: str
    severity: Severity = Severity.ERROR
    threshold: Threshold = NO_VIOLATIONS
    counts_rows: bool = True

    @property
    def quarantines(self) -> bool:
        """Whether rows that violate the rule are quarantined; otherwise they are only counted."""
        return self.counts_rows and self.severity is Severity.ERROR and self.threshold.tolerates_none


@dataclass(frozen=True)
class RowRule:
    """A rule on single rows. Its columns are built when they are first used."""

    definition: Rule
    violated_when: Callable[[], Column]
    value_to_show: Callable[[], Column]
    is_secret: bool = False

    @cached_property
    def violated(self) -> Column:
        """The condition under which a row violates the rule."""
        return self.violated_when()

    @cached_property
    def shown_value(self) -> Column:
        """The value to show for a violating row."""
        return self.value_to_show()


@dataclass(frozen=True)
class UniqueRule:
    """A rule that some columns identify a row."""

    definition: Rule
    columns: tuple[str, ...]
    is_secret: bool = False


@dataclass(frozen=True)
class ReferenceRule:
    """A rule that the values of some columns exist in other data."""

    definition: Rule
    columns: tuple[str, ...]
    target: str
    target_columns: tuple[str, ...]
    is_secret: bool = False


@dataclass(frozen=True)
class MetricRule:
    """A rule on a number of the entire dataset: an aggregate or a query."""

    definition: Rule
    aggregate: str | None = None
    query: RuleQuery | None = None


@dataclass(frozen=True)
class MeasureSql:
    """A semantic measure of the contract with checked SQL: an aggregate or a query."""

    name: str
    aggregate: str | None = None
    query: RuleQuery | None = None


@dataclass(frozen=True)
class FreshnessRule:
    """A rule on the age of the newest row."""

    definition: Rule
    column: str
    seconds: float


@dataclass(frozen=True)
class Unchecked:
    """A term of the contract that is not checked, and why."""

    what: str
    why: str


class Duplicates(StrEnum):
    """Which of several rows with the same key are valid."""

    KEEP_NONE = "keep_none"
    KEEP_FIRST = "keep_first"


class KeyReading(StrEnum):
    """How keys are read when rules are counted.

    `WITH_ROWS` reads keys and rows together: for data that is small, expensive to compute, or stored by row. `ALONE`
    reads the keys first: for columnar data such as Parquet and Iceberg, where reading only the keys is cheaper.
    """

    WITH_ROWS = "with_rows"
    ALONE = "alone"


class UnknownFields(StrEnum):
    """Whether fields that are not in the contract are allowed."""

    ALLOWED = "allowed"
    REFUSED = "refused"


class Scope(StrEnum):
    """Which rules are checked: all, those on single rows, or those on the entire dataset."""

    ALL = "all"
    ROWS = "rows"
    WHOLE = "whole"


AnyRule: TypeAlias = RowRule | UniqueRule | ReferenceRule | MetricRule | FreshnessRule


@dataclass(frozen=True)
class RuleSet:
    """The rules of one object in the order of the contract, the unchecked terms, and the measures with SQL."""

    all: tuple[AnyRule, ...]
    unchecked: tuple[Unchecked, ...] = ()
    measures: tuple[MeasureSql, ...] = ()

    @cached_property
    def rows(self) -> tuple[RowRule, ...]:
        """The rules on single rows."""
        return tuple(rule for rule in self.all if isinstance(rule, RowRule))

    @cached_property
    def unique(self) -> tuple[UniqueRule, ...]:
        """The rules on keys."""
        return tuple(rule for rule in self.all if isinstance(rule, UniqueRule))

    @cached_property
    def references(self) -> tuple[ReferenceRule, ...]:
        """The rules on references."""
        return tuple(rule for rule in self.all if isinstance(rule, ReferenceRule))

    @cached_property
    def metrics(self) -> tuple[MetricRule, ...]:
        """The rules on numbers of the entire dataset."""
        return tuple(rule for rule in self.all if isinstance(rule, MetricRule))

    @cached_property
    def freshness(self) -> tuple[FreshnessRule, ...]:
        """The rules on the age of the newest row."""
        return tuple(rule for rule in self.all if isinstance(rule, FreshnessRule))


def flag_column(position: int) -> str:
    """Return the name of the column with the result of the rule at this position."""
    return f"__treaty_flag_{position}"


@dataclass(frozen=True)
class Policy:
    """Options of enforcement. `severity` overrides severities by rule id or kind, `order` ranks rows of a key."""

    duplicates: Duplicates = Duplicates.KEEP_NONE
    order: tuple[str, ...] = ()
    unknown_fields: UnknownFields | None = None
    severity: Mapping[str, Severity] = field(default_factory=dict)
    scope: Scope = Scope.ALL
    keys: KeyReading = KeyReading.WITH_ROWS
