"""The rules on a dataset as values, and the policy for enforcing them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import TypeAlias

from pyspark.sql import Column

from treaty.contracts.findings import Severity
from treaty.spark.checks import NO_VIOLATIONS, Kind, Threshold
from treaty.sql.checked_sql import RuleQuery


@dataclass(frozen=True)
class Rule:
    """One rule: its kind, its field, what it requires, its severity, and how many violations it allows."""

    id: str
    kind: Kind
    field: str
    says: str
    severity: Severity = Severity.ERROR
    allows: Threshold = NO_VIOLATIONS
    of_rows: bool = True

    @property
    def quarantines(self) -> bool:
        """Whether rows that violate the rule are quarantined; otherwise they are only counted."""
        return self.of_rows and self.severity is Severity.ERROR and self.allows.tolerates_none


@dataclass(frozen=True)
class RowRule:
    """A rule on single rows. Its columns are built on demand."""

    rule: Rule
    broken_when: Callable[[], Column]
    shown_as: Callable[[], Column]
    is_secret: bool = False

    @property
    def broken(self) -> Column:
        """The condition under which a row violates the rule."""
        return self.broken_when()

    @property
    def shown(self) -> Column:
        """The value that is shown for a violating row."""
        return self.shown_as()


@dataclass(frozen=True)
class UniqueRule:
    """A rule that some columns identify a row."""

    rule: Rule
    columns: tuple[str, ...]
    is_secret: bool = False


@dataclass(frozen=True)
class ReferenceRule:
    """A rule that the values of some columns exist in other data."""

    rule: Rule
    columns: tuple[str, ...]
    target: str
    target_columns: tuple[str, ...]
    is_secret: bool = False


@dataclass(frozen=True)
class MetricRule:
    """A rule on a number of the entire dataset: an aggregate or a query."""

    rule: Rule
    aggregate: str | None = None
    query: RuleQuery | None = None


@dataclass(frozen=True)
class FreshnessRule:
    """A rule on the age of the newest row."""

    rule: Rule
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
    """The rules of one object in the order of the contract, and the unchecked terms."""

    all: tuple[AnyRule, ...]
    unchecked: tuple[Unchecked, ...] = ()

    @cached_property
    def rows(self) -> tuple[RowRule, ...]:
        """The rules on single rows."""
        return tuple(item for item in self.all if isinstance(item, RowRule))

    @cached_property
    def unique(self) -> tuple[UniqueRule, ...]:
        """The rules on keys."""
        return tuple(item for item in self.all if isinstance(item, UniqueRule))

    @cached_property
    def references(self) -> tuple[ReferenceRule, ...]:
        """The rules on references."""
        return tuple(item for item in self.all if isinstance(item, ReferenceRule))

    @cached_property
    def metrics(self) -> tuple[MetricRule, ...]:
        """The rules on numbers of the entire dataset."""
        return tuple(item for item in self.all if isinstance(item, MetricRule))

    @cached_property
    def freshness(self) -> tuple[FreshnessRule, ...]:
        """The rules on the age of the newest row."""
        return tuple(item for item in self.all if isinstance(item, FreshnessRule))


def flag_column(place: int) -> str:
    """Return the name of the column with the result of the rule at this position."""
    return f"__treaty_flag_{place}"


@dataclass(frozen=True)
class Policy:
    """Options of enforcement. `severity` overrides severities by rule id or kind, `order` ranks rows of a key."""

    duplicates: Duplicates = Duplicates.KEEP_NONE
    order: tuple[str, ...] = ()
    unknown_fields: UnknownFields | None = None
    severity: Mapping[str, Severity] = field(default_factory=dict)
    scope: Scope = Scope.ALL
    keys: KeyReading = KeyReading.WITH_ROWS
