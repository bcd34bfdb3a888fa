"""The rules a dataset is held to, as values: what each asks, how much it weighs, and what it does to a row."""

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
    """One rule in words: its kind, the field it stands on, what it asks, and how much of the contrary it allows."""

    id: str
    kind: Kind
    field: str
    says: str
    severity: Severity = Severity.ERROR
    allows: Threshold = NO_VIOLATIONS
    of_rows: bool = True

    @property
    def quarantines(self) -> bool:
        """Whether a row that breaks the rule is set apart; otherwise it is counted, or the whole is judged."""
        return self.of_rows and self.severity is Severity.ERROR and self.allows.tolerates_none


@dataclass(frozen=True)
class RowRule:
    """A rule that each row keeps or breaks by itself; its columns are built for those who use them."""

    rule: Rule
    broken_when: Callable[[], Column]
    shown_as: Callable[[], Column]
    is_secret: bool = False

    @property
    def broken(self) -> Column:
        """When a row breaks it."""
        return self.broken_when()

    @property
    def shown(self) -> Column:
        """What is shown of a row that breaks it."""
        return self.shown_as()


@dataclass(frozen=True)
class UniqueRule:
    """A rule that no two rows have the same values in some columns."""

    rule: Rule
    columns: tuple[str, ...]
    is_secret: bool = False


@dataclass(frozen=True)
class ReferenceRule:
    """A rule that the values of some columns stand in other data."""

    rule: Rule
    columns: tuple[str, ...]
    target: str
    target_columns: tuple[str, ...]
    is_secret: bool = False


@dataclass(frozen=True)
class MetricRule:
    """A rule on one number of the whole dataset: an aggregate, or a query of its own."""

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
    """Something the contract says that this run does not hold the data to, and why."""

    what: str
    why: str


class Duplicates(StrEnum):
    """Which of several rows with one key stay."""

    KEEP_NONE = "keep_none"
    KEEP_FIRST = "keep_first"


class KeyReading(StrEnum):
    """How keys are looked for when rules are counted.

    With the rows, in one read: for whatever is dear to compute, read whole in any case, or small. Alone, before the
    rows: for data whose columns are kept apart, as in parquet and in Iceberg, where moving keys alone costs less.
    """

    WITH_ROWS = "with_rows"
    ALONE = "alone"


class UnknownFields(StrEnum):
    """What becomes of fields that the contract does not know."""

    ALLOWED = "allowed"
    REFUSED = "refused"


class Scope(StrEnum):
    """Which rules a run holds data to: all, those on single rows, or those on the whole dataset."""

    ALL = "all"
    ROWS = "rows"
    WHOLE = "whole"


AnyRule: TypeAlias = RowRule | UniqueRule | ReferenceRule | MetricRule | FreshnessRule


@dataclass(frozen=True)
class RuleSet:
    """Every rule of one object, in the order of the contract, and what goes unchecked."""

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
        """The rules on what rows point at."""
        return tuple(item for item in self.all if isinstance(item, ReferenceRule))

    @cached_property
    def metrics(self) -> tuple[MetricRule, ...]:
        """The rules on numbers of the whole dataset."""
        return tuple(item for item in self.all if isinstance(item, MetricRule))

    @cached_property
    def freshness(self) -> tuple[FreshnessRule, ...]:
        """The rules on the age of the newest row."""
        return tuple(item for item in self.all if isinstance(item, FreshnessRule))


def flag_column(place: int) -> str:
    """Name the column that holds the answer of the rule at this place of the book."""
    return f"__treaty_flag_{place}"


@dataclass(frozen=True)
class Policy:
    """The choices of one run: `severity` weighs rules anew by id or kind, `order` says which row of a key is first."""

    duplicates: Duplicates = Duplicates.KEEP_NONE
    order: tuple[str, ...] = ()
    unknown_fields: UnknownFields | None = None
    severity: Mapping[str, Severity] = field(default_factory=dict)
    scope: Scope = Scope.ALL
    keys: KeyReading = KeyReading.WITH_ROWS
