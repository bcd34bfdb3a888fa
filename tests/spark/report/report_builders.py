"""Builders of test reports."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from treaty.contracts.findings import Severity
from treaty.spark.measures import Measures, RuleMeasure
from treaty.spark.report.data_test import SchemaDifference
from treaty.spark.report.data_test import TestReport as Report
from treaty.spark.rules import NO_VIOLATIONS, Kind, Rule, Threshold, Unchecked

NOW = datetime(2026, 1, 3, 5, tzinfo=UTC)


def rows_rule(
    rule_id: str,
    violating_rows: int = 0,
    severity: Severity = Severity.ERROR,
    threshold: Threshold = NO_VIOLATIONS,
    rows: int = 1000,
) -> RuleMeasure:
    """Return the result of a row rule with this number of violating rows."""
    kind, _, field = rule_id.partition(":")
    rule = Rule(rule_id, Kind(kind), field, "must be valid", severity, threshold)
    return RuleMeasure(rule, threshold.holds(violating_rows, rows), violating_rows=violating_rows)


def dataset_rule(
    rule_id: str, value: Any, passed: bool, threshold: Threshold = NO_VIOLATIONS, severity: Severity = Severity.ERROR
) -> RuleMeasure:
    """Return the result of a rule on the entire dataset."""
    kind, _, field = rule_id.partition(":")
    requirement = "the newest row must be at most 1 d old" if kind == Kind.FRESHNESS else "number of rows"
    return RuleMeasure(Rule(rule_id, Kind(kind), field, requirement, severity, threshold), passed, value=value)


def measures(
    *results: RuleMeasure, rows: int = 1000, quarantined: int = 0, unchecked: tuple[Unchecked, ...] = ()
) -> Measures:
    """Return the measures of orders 1.0.0."""
    return Measures("orders", "1.0.0", "orders", rows, rows - quarantined, results, unchecked, NOW)


def build_report(*results: RuleMeasure, rows: int = 1000, quarantined: int = 0, **more: Any) -> Report:
    """Return a report on orders.csv."""
    unchecked = more.pop("unchecked", ())
    return Report("orders.csv", measures(*results, rows=rows, quarantined=quarantined, unchecked=unchecked), **more)


def difference(severity: Severity, field: str = "city", message: str = "is not as declared") -> SchemaDifference:
    """Return a schema difference of this severity."""
    return SchemaDifference(field, "field_type_changed", severity, "string", "integer", message)
