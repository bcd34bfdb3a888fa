"""Test reports made by hand: only what a case is about."""

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
    broken: int = 0,
    severity: Severity = Severity.ERROR,
    allows: Threshold = NO_VIOLATIONS,
    rows: int = 1000,
) -> RuleMeasure:
    """Return a rule on rows that so many of them break."""
    kind, _, field = rule_id.partition(":")
    rule = Rule(rule_id, Kind(kind), field, "must be right", severity, allows)
    return RuleMeasure(rule, allows.holds(broken, rows), violating_rows=broken)


def dataset_rule(
    rule_id: str, value: Any, held: bool, allows: Threshold = NO_VIOLATIONS, severity: Severity = Severity.ERROR
) -> RuleMeasure:
    """Return a rule on the whole dataset, with what it came to."""
    kind, _, field = rule_id.partition(":")
    says = "the newest row must be at most 1 d old" if kind == Kind.FRESHNESS else "number of rows"
    return RuleMeasure(Rule(rule_id, Kind(kind), field, says, severity, allows), held, value=value)


def measures(
    *results: RuleMeasure, rows: int = 1000, quarantined: int = 0, unchecked: tuple[Unchecked, ...] = ()
) -> Measures:
    """Return the measures of orders 1.0.0."""
    return Measures("orders", "1.0.0", "orders", rows, rows - quarantined, results, unchecked, NOW)


def made(*results: RuleMeasure, rows: int = 1000, quarantined: int = 0, **more: Any) -> Report:
    """Return a report on orders.csv."""
    unchecked = more.pop("unchecked", ())
    return Report("orders.csv", measures(*results, rows=rows, quarantined=quarantined, unchecked=unchecked), **more)


def difference(severity: Severity, field: str = "city", says: str = "is not as declared") -> SchemaDifference:
    """Return a difference in schema that weighs so much."""
    return SchemaDifference(field, "field_type_changed", severity, "string", "integer", says)
