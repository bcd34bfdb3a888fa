"""Auditing a whole table before anybody sees it: the rules that no row can keep or break by itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from pyspark.sql import DataFrame

from treaty.contracts.findings import Severity
from treaty.contracts.model import Contract, SchemaObject
from treaty.spark.checks import Kind
from treaty.spark.columns import quoted_col
from treaty.spark.enforcement import Enforcement, enforce
from treaty.spark.measures import RuleMeasure
from treaty.spark.report.samples import Sample, collect_samples
from treaty.spark.rules import AnyRule, ReferenceRule, RowRule, RuleSet, Unchecked, UniqueRule
from treaty.spark.schema import column_name, find_struct_field, select_object

SAMPLES = 10


class Keys(StrEnum):
    """Whether two rows can have one primary key."""

    CHECKED = "checked"
    REPLACED = "replaced"
    """Rows are replaced by their key, so that no two have one."""


@dataclass(frozen=True)
class Written:
    """The rows of this run, which took the place of every row that had their values in some columns."""

    rows: DataFrame
    by: tuple[str, ...]


def is_row_rule(item: AnyRule) -> bool:
    """Tell whether a rule is judged row by row as rows are written; a share of all rows is judged on the whole."""
    return isinstance(item, RowRule) and (item.rule.quarantines or item.rule.severity is not Severity.ERROR)


def audit(
    staged: DataFrame,
    contract: Contract,
    now: datetime,
    *,
    keys: Keys = Keys.CHECKED,
    written: Written | None = None,
) -> Audit:
    """Audit the whole table by the rules on sets of rows, reading only the columns that they need.

    Give `written` where the table was audited before and rows were replaced by some columns: a key that contains
    those columns can be doubled among the rows written only, and is looked for nowhere else.
    """
    schema = select_object(contract)
    key = frozenset(_columns_of_key(schema))

    def local(item: AnyRule) -> bool:
        return written is not None and isinstance(item, UniqueRule) and set(item.columns) >= set(written.by)

    def asked(item: AnyRule) -> bool:
        certain = keys is Keys.REPLACED and isinstance(item, UniqueRule) and bool(key) and key <= set(item.columns)
        return not is_row_rule(item) and not certain

    found = _measured(staged, contract, now, lambda item: asked(item) and not local(item))
    if written is None:
        return found
    near = _measured(written.rows, contract, now, lambda item: asked(item) and local(item))
    return near.joined(found) if near.results else found


def _measured(frame: DataFrame, contract: Contract, now: datetime, asked: Callable[[AnyRule], bool]) -> Audit:
    """Measure some rules; where there are none, nothing runs."""
    held = enforce(_own_columns(frame, select_object(contract)), contract)
    chosen = tuple(item for item in held.book.all if asked(item))
    held = replace(held, book=RuleSet(chosen, held.book.unchecked))
    empty = Audit(contract.id, contract.version, 0, (), held.unchecked)
    if not chosen:
        return empty
    measures = held.measures(now)
    found = replace(empty, rows=measures.rows, results=measures.results, bad_rows=measures.quarantined)
    return found if found.passed else replace(found, samples=_samples(held, found))


def _samples(held: Enforcement, found: Audit) -> tuple[Sample, ...]:
    """Collect examples of rows that stand in each other's way, or point nowhere; a number of the whole has none."""
    of_rows = [item for item in held.book.all if isinstance(item, UniqueRule | ReferenceRule) and item.rule.quarantines]
    if not of_rows or not found.bad_rows:
        return ()
    return collect_samples(held.quarantined, held.schema, SAMPLES)


def _own_columns(frame: DataFrame, schema: SchemaObject) -> DataFrame:
    """Leave out the columns that belong to the platform."""
    have = frame.schema
    there = [found.name for field in schema.fields if (found := find_struct_field(have, column_name(field)))]
    return frame.select(*map(quoted_col, there))


def _columns_of_key(schema: SchemaObject) -> list[str]:
    by_name = {field.name: field for field in schema.fields}
    return [column_name(by_name[name]) for name in schema.primary_key]


_REPORTED_ONLY = frozenset({Kind.FRESHNESS})
"""Old rows are no worse for being published, and would be older still if they were not."""
_SHOWN = 3


@dataclass(frozen=True)
class Audit:
    """Rows under a contract before anybody sees them: what was measured, and examples of what is broken."""

    contract: str
    version: str
    rows: int
    results: tuple[RuleMeasure, ...] = ()
    unchecked: tuple[Unchecked, ...] = ()
    bad_rows: int = 0
    samples: tuple[Sample, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether the rows may be published."""
        return not self.blocking

    @property
    def blocking(self) -> tuple[RuleMeasure, ...]:
        """The rules that keep the rows from being published, by how many rows break them."""
        found = [item for item in self.results if not item.held and _blocks(item)]
        return tuple(sorted(found, key=lambda item: (-(item.broken or 0), item.rule.id)))

    @property
    def concerns(self) -> tuple[RuleMeasure, ...]:
        """The rules that did not hold, and stop nothing."""
        return tuple(item for item in self.results if not item.held and not _blocks(item))

    @property
    def newest_age(self) -> float | None:
        """How many seconds old the newest row is, where a rule measured it: the oldest, if several did."""
        ages = [item.value for item in self.results if item.rule.kind is Kind.FRESHNESS]
        return max((float(age) for age in ages if isinstance(age, int | float)), default=None)

    def joined(self, other: Audit) -> Audit:
        """Return both audits of the same publication as one: of its rows, and of the whole that they become."""
        return Audit(
            self.contract,
            self.version,
            other.rows if other.results else self.rows,
            self.results + other.results,
            tuple(dict.fromkeys(self.unchecked + other.unchecked)),
            self.bad_rows + other.bad_rows,
            self.samples + other.samples,
        )

    @property
    def verdict(self) -> str:
        """Say in one line whether the contract is kept."""
        what = f"{self.contract} {self.version}"
        if self.passed:
            held = sum(item.held for item in self.results)
            keep = "keeps" if self.rows == 1 else "keep"
            return f"{_counted(self.rows, 'row')} {keep} {what}: {held:,} of {_counted(len(self.results), 'rule')} held"
        return f"{what} is broken by {_counted(len(self.blocking), 'rule')}: nothing is published"

    @property
    def reasons(self) -> tuple[str, ...]:
        """Say of each rule that blocks what it asks, how many rows break it, and by which values."""
        return tuple(self._said(item) for item in self.blocking)

    @property
    def remarks(self) -> tuple[str, ...]:
        """Say what did not hold and stops nothing."""
        return tuple(self._said(item) for item in self.concerns)

    def as_data(self) -> dict[str, Any]:
        """Return the audit as JSON would say it."""
        return {
            "contract": self.contract,
            "version": self.version,
            "passed": self.passed,
            "rows": self.rows,
            "bad_rows": self.bad_rows,
            "rules": [item.as_data() for item in self.results],
            "samples": [item.as_data() for item in self.samples],
            "unchecked": [{"what": item.what, "why": item.why} for item in self.unchecked],
        }

    def _said(self, item: RuleMeasure) -> str:
        examples = "; ".join(self._examples(item.rule.id))
        return f"{item.rule.id}: {_came_to(item)}" + (f" ({examples})" if examples else "")

    def _examples(self, rule: str) -> Iterator[str]:
        for sample in [one for one in self.samples if one.rule == rule][:_SHOWN]:
            key = ", ".join(f"{name} {'null' if value is None else value}" for name, value in sample.key)
            value = "no value" if sample.value is None else sample.value
            yield f"{value} in the row of {key}" if key else value


def _came_to(item: RuleMeasure) -> str:
    rule = item.rule
    if rule.kind is Kind.FRESHNESS:
        return f"the newest row is {item.value:,.0f} s old; {rule.says}"
    if item.broken is None:
        return f"{rule.says} {rule.allows}, and is {'null' if item.value is None else item.value}"
    allowed = "" if rule.allows.tolerates_none else f" ({rule.allows})"
    verb = "breaks" if item.broken == 1 else "break"
    return f"{_counted(item.broken, 'row')} {verb} it: {rule.says}{allowed}"


def _blocks(item: RuleMeasure) -> bool:
    return item.rule.severity is Severity.ERROR and item.rule.kind not in _REPORTED_ONLY


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
