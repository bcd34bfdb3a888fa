"""The outcome of a report: passed, passed with warnings or failed, with the reasons."""

from __future__ import annotations

from typing import Any

import pytest

from tests.spark.report.report_builders import build_report, dataset_rule, difference, rows_rule
from treaty.contracts.findings import Severity
from treaty.spark.report import Outcome
from treaty.spark.report.data_test import TestReport as Report
from treaty.spark.rules import Threshold

FIVE_PERCENT = Threshold("mustBeLessOrEqualTo", 5, True)
ONE_PERCENT = Threshold("mustBeLessOrEqualTo", 1, True)
TEN_ROWS = Threshold("mustBeLessOrEqualTo", 10)

CASES: dict[str, tuple[Report, Outcome, tuple[str, ...]]] = {
    "every rule held": (build_report(rows_rule("required:id")), Outcome.PASSED, ()),
    "rows broke a rule": (
        build_report(rows_rule("required:id", 20), quarantined=20),
        Outcome.FAILED,
        ("20 of 1,000 rows are quarantined",),
    ),
    "one row is one row": (
        build_report(rows_rule("required:id", 1, rows=1), rows=1, quarantined=1),
        Outcome.FAILED,
        ("1 of 1 row is quarantined",),
    ),
    "as many are quarantined as are allowed": (
        build_report(rows_rule("required:id", 10), quarantined=10, allowed=TEN_ROWS),
        Outcome.WARNED,
        ("10 of 1,000 rows are quarantined, within the allowed limit",),
    ),
    "one more is quarantined than is allowed": (
        build_report(rows_rule("required:id", 11), quarantined=11, allowed=TEN_ROWS),
        Outcome.FAILED,
        ("11 of 1,000 rows are quarantined; at most 10 are allowed",),
    ),
    "a larger share is quarantined than is allowed": (
        build_report(rows_rule("required:id", 11), quarantined=11, allowed=ONE_PERCENT),
        Outcome.FAILED,
        ("11 of 1,000 rows are quarantined; at most 1 % are allowed",),
    ),
    "a rule of lesser weight was broken": (
        build_report(rows_rule("enum:status", 20, Severity.WARNING)),
        Outcome.WARNED,
        ("1 rule below severity error failed",),
    ),
    "a rule allows what was broken": (
        build_report(rows_rule("enum:status", 50, threshold=FIVE_PERCENT)),
        Outcome.PASSED,
        (),
    ),
    "a rule allows less than was broken": (
        build_report(rows_rule("enum:status", 51, threshold=FIVE_PERCENT)),
        Outcome.FAILED,
        ("1 rule on the entire dataset failed",),
    ),
    "the data are old, which no quarantine mends": (
        build_report(dataset_rule("freshness:at", 90_000.0, passed=False), allowed=TEN_ROWS),
        Outcome.FAILED,
        ("1 rule on the entire dataset failed",),
    ),
    "a number must be none, which no quarantine mends": (
        build_report(dataset_rule("sql:total", 7, passed=False), allowed=TEN_ROWS),
        Outcome.FAILED,
        ("1 rule on the entire dataset failed",),
    ),
    "a difference in schema is an error": (
        build_report(rows_rule("required:id"), drift=(difference(Severity.ERROR),)),
        Outcome.FAILED,
        ("1 schema difference not allowed by the contract",),
    ),
    "differences in schema are to be looked at": (
        build_report(
            rows_rule("required:id"), drift=(difference(Severity.WARNING), difference(Severity.WARNING, "zip"))
        ),
        Outcome.WARNED,
        ("2 schema differences to review",),
    ),
    "a harmless difference in schema": (
        build_report(rows_rule("required:id"), drift=(difference(Severity.INFO),)),
        Outcome.PASSED,
        (),
    ),
    "there is nothing to test": (
        build_report(rows_rule("required:id"), rows=0),
        Outcome.WARNED,
        ("there are no rows, so nothing was tested",),
    ),
}


@pytest.mark.parametrize(("report", "outcome", "message"), CASES.values(), ids=CASES.keys())
def test_the_outcome_of_a_report_and_its_reasons(report: Report, outcome: Outcome, message: tuple[str, ...]) -> None:
    assert report.outcome is outcome
    assert report.reasons + report.concerns == message
    assert report.passed == (outcome is not Outcome.FAILED)


def test_rules_are_listed_by_severity() -> None:
    rules = [
        rows_rule("enum:b", 900, Severity.WARNING),
        rows_rule("range:c", 3, threshold=FIVE_PERCENT),
        rows_rule("required:a", 1),
        rows_rule("type:d"),
        rows_rule("unique:a", 30),
    ]
    report = build_report(*rules, quarantined=31)

    assert [item.rule.id for item in report.notable] == ["unique:a", "required:a", "enum:b", "range:c"]
    assert [item.rule.id for item in report.unviolated] == ["type:d"]


def test_a_rule_whose_rows_may_be_quarantined_does_not_fail_the_test() -> None:
    broken = rows_rule("required:id", 10)

    assert build_report(broken, quarantined=10).fails(broken)
    assert not build_report(broken, quarantined=10, allowed=TEN_ROWS).fails(broken)


def test_the_report_as_json_data() -> None:
    data: dict[str, Any] = build_report(
        rows_rule("required:id", 20), quarantined=20, drift=(difference(Severity.INFO),)
    ).as_data()

    assert " ".join(data) == (
        "outcome passed reasons concerns data contract version object rows valid quarantined measured_at rules "
        "unchecked measures quarantined_allowed drift samples quarantine"
    )
    assert (data["rows"], data["valid"], data["quarantined"]) == (1000, 980, 20)
    assert data["quarantined_allowed"] == {"value": 0, "unit": "rows"}
    assert data["drift"][0]["declared"] == "string"
