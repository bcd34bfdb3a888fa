"""Audit of a table before it is published: the rules that hold for a table as a whole, and their results."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from pyspark.sql import DataFrame

from treaty.contracts.findings import Severity
from treaty.contracts.model import Contract, SchemaObject
from treaty.spark.columns import quoted_col
from treaty.spark.enforcement import Enforcement, enforce
from treaty.spark.measures import RuleMeasure
from treaty.spark.report.samples import Sample, collect_samples
from treaty.spark.rule_measurement import compute_metrics
from treaty.spark.rules import AnyRule, Kind, ReferenceRule, RowRule, RuleSet, Unchecked, UniqueRule
from treaty.spark.schema import column_name, find_struct_field, select_object
from treaty.spark.semantic_measures import MeasuredValue, is_named, measured_rules, measured_values

MAX_SAMPLES = 10


class Keys(StrEnum):
    """Whether the audit has to look for duplicate primary keys."""

    CHECKED = "checked"
    REPLACED = "replaced"
    """Rows are replaced by key, so that there cannot be duplicates."""


@dataclass(frozen=True)
class Written:
    """The rows that this run wrote. They replaced all rows with the same values in the columns `by`."""

    rows: DataFrame
    by: tuple[str, ...]


def is_row_rule(rule: AnyRule) -> bool:
    """Tell whether a rule is checked row by row while rows are written; a tolerance over all rows is not."""
    return isinstance(rule, RowRule) and (rule.definition.quarantines or rule.definition.severity is not Severity.ERROR)


def audit(
    staged: DataFrame,
    contract: Contract,
    now: datetime,
    *,
    keys: Keys = Keys.CHECKED,
    written: Written | None = None,
) -> Audit:
    """Check the rules on sets of rows over the table, reading only the columns that they need.

    Pass `written` if the table was audited before and rows were replaced by some columns: a unique key that contains
    those columns can only be duplicated among the rows written, so that only those are checked for it.
    """
    schema = select_object(contract)
    key = frozenset(_key_columns(schema))
    observed = measured_rules(contract, schema)

    def is_local(rule: AnyRule) -> bool:
        return written is not None and isinstance(rule, UniqueRule) and set(rule.columns) >= set(written.by)

    def is_selected(rule: AnyRule) -> bool:
        certain = keys is Keys.REPLACED and isinstance(rule, UniqueRule) and bool(key) and key <= set(rule.columns)
        return (not is_row_rule(rule) or is_observed(rule)) and not certain

    def is_observed(rule: AnyRule) -> bool:
        is_counted = isinstance(rule, RowRule) and not rule.definition.quarantines
        return is_counted and any(is_named(rule.definition.id, name) for name in observed)

    full_table = _measure(staged, contract, now, lambda rule: is_selected(rule) and not is_local(rule))
    if written is None:
        return full_table
    written_rows = _measure(
        written.rows, contract, now, lambda rule: is_selected(rule) and is_local(rule), takes_measures=False
    )
    return written_rows.combined_with(full_table) if written_rows.results else full_table


def _measure(
    frame: DataFrame,
    contract: Contract,
    now: datetime,
    is_selected: Callable[[AnyRule], bool],
    *,
    takes_measures: bool = True,
) -> Audit:
    """Measure the selected rules, and the declared measures with them; if there are none, no Spark job runs."""
    enforcement = enforce(_own_columns(frame, select_object(contract)), contract)
    selected = tuple(rule for rule in enforcement.rule_set.all if is_selected(rule))
    taken = enforcement.rule_set.measures if takes_measures else ()
    enforcement = enforcement.with_rules(RuleSet(selected, enforcement.rule_set.unchecked, taken))
    empty = Audit(contract.id, contract.version, 0, (), enforcement.unchecked)
    if not selected:
        return replace(empty, measured=tuple(measured_values(taken, compute_metrics(enforcement))))
    measures = enforcement.measures(now)
    measured = replace(
        empty,
        rows=measures.rows,
        results=measures.results,
        bad_rows=measures.quarantined,
        measured=measures.semantic,
    )
    return measured if measured.passed else replace(measured, samples=_samples(enforcement, measured))


def _samples(enforcement: Enforcement, measured: Audit) -> tuple[Sample, ...]:
    """Collect examples of duplicate keys and broken references; rules on a single number have none."""
    of_rows = [
        rule
        for rule in enforcement.rule_set.all
        if isinstance(rule, UniqueRule | ReferenceRule) and rule.definition.quarantines
    ]
    if not of_rows or not measured.bad_rows:
        return ()
    return collect_samples(enforcement.quarantined, enforcement.schema, MAX_SAMPLES)


def _own_columns(frame: DataFrame, schema: SchemaObject) -> DataFrame:
    """Return the columns of the contract, without those that the pipeline adds."""
    have = frame.schema
    columns = [column.name for field in schema.fields if (column := find_struct_field(have, column_name(field)))]
    return frame.select(*map(quoted_col, columns))


def _key_columns(schema: SchemaObject) -> list[str]:
    by_name = {field.name: field for field in schema.fields}
    return [column_name(by_name[name]) for name in schema.primary_key]


_REPORTED_ONLY = frozenset({Kind.FRESHNESS})
"""Rules that are only reported: holding back old rows would make the published ones even older."""
MAX_EXAMPLES = 3


@dataclass(frozen=True)
class Audit:
    """The result of an audit: measures of the rules, and examples of broken ones."""

    contract: str
    version: str
    rows: int
    results: tuple[RuleMeasure, ...] = ()
    unchecked: tuple[Unchecked, ...] = ()
    bad_rows: int = 0
    samples: tuple[Sample, ...] = ()
    measured: tuple[MeasuredValue, ...] = ()
    """The measures that the contract declares."""

    @property
    def passed(self) -> bool:
        """Whether the rows may be published."""
        return not self.blocking

    @property
    def blocking(self) -> tuple[RuleMeasure, ...]:
        """The broken rules that prevent publication, most broken rows first."""
        broken = [measure for measure in self.results if not measure.passed and _blocks(measure)]
        return tuple(sorted(broken, key=lambda measure: (-(measure.violating_rows or 0), measure.rule.id)))

    @property
    def concerns(self) -> tuple[RuleMeasure, ...]:
        """The broken rules that do not prevent publication."""
        return tuple(measure for measure in self.results if not measure.passed and not _blocks(measure))

    @property
    def newest_age(self) -> float | None:
        """Age of the newest row in seconds, if a rule measured it; the highest if several did."""
        ages = [measure.value for measure in self.results if measure.rule.kind is Kind.FRESHNESS]
        return max((float(age) for age in ages if isinstance(age, int | float)), default=None)

    def combined_with(self, other: Audit) -> Audit:
        """Return the audit of rows combined with the audit of the table that they become."""
        return Audit(
            self.contract,
            self.version,
            other.rows if other.results else self.rows,
            self.results + other.results,
            tuple(dict.fromkeys(self.unchecked + other.unchecked)),
            self.bad_rows + other.bad_rows,
            self.samples + other.samples,
            other.measured + self.measured,
        )

    @property
    def verdict(self) -> str:
        """One line that says whether the rows conform to the contract."""
        what = f"{self.contract} {self.version}"
        if self.passed:
            passed = sum(measure.passed for measure in self.results)
            conform = "conforms" if self.rows == 1 else "conform"
            rules = _counted(len(self.results), "rule")
            return f"{_counted(self.rows, 'row')} {conform} to {what}: {passed:,} of {rules} passed"
        return f"{_counted(len(self.blocking), 'rule')} of {what} failed: nothing is published"

    @property
    def reasons(self) -> tuple[str, ...]:
        """For each blocking rule: what it requires, how many rows break it, and examples."""
        return tuple(self._describe(measure) for measure in self.blocking)

    @property
    def remarks(self) -> tuple[str, ...]:
        """The same for broken rules that do not prevent publication."""
        return tuple(self._describe(measure) for measure in self.concerns)

    def as_data(self) -> dict[str, Any]:
        """Return the audit as JSON data."""
        return {
            "contract": self.contract,
            "version": self.version,
            "passed": self.passed,
            "rows": self.rows,
            "bad_rows": self.bad_rows,
            "rules": [measure.as_data() for measure in self.results],
            "samples": [sample.as_data() for sample in self.samples],
            "unchecked": [{"what": part.what, "why": part.why} for part in self.unchecked],
        }

    def _describe(self, measure: RuleMeasure) -> str:
        examples = "; ".join(self._examples(measure.rule.id))
        return f"{measure.rule.id}: {_result_text(measure)}" + (f" ({examples})" if examples else "")

    def _examples(self, rule: str) -> Iterator[str]:
        for sample in [sample for sample in self.samples if sample.rule == rule][:MAX_EXAMPLES]:
            key = ", ".join(f"{name} {'null' if value is None else value}" for name, value in sample.key)
            value = "no value" if sample.value is None else sample.value
            yield f"{value} in the row of {key}" if key else value


def _result_text(measure: RuleMeasure) -> str:
    rule = measure.rule
    if rule.kind is Kind.FRESHNESS:
        return f"the newest row is {measure.value:,.0f} s old; {rule.requirement}"
    if measure.violating_rows is None:
        return f"{rule.requirement} {rule.threshold}, but is {'null' if measure.value is None else measure.value}"
    allowed = "" if rule.threshold.tolerates_none else f" ({rule.threshold})"
    verb = "breaks" if measure.violating_rows == 1 else "break"
    return f"{_counted(measure.violating_rows, 'row')} {verb} it: {rule.requirement}{allowed}"


def _blocks(measure: RuleMeasure) -> bool:
    return measure.rule.severity is Severity.ERROR and measure.rule.kind not in _REPORTED_ONLY


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
