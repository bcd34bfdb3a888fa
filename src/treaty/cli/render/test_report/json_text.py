"""A test report as JSON."""

from __future__ import annotations

from treaty.cli.render.test_report import HeldRules
from treaty.contracts.text.writer import write_json
from treaty.spark.report import TestReport


def render(report: TestReport, held_rules: HeldRules) -> str:
    """Return the report as JSON; it always contains the rules that hold."""
    return write_json(report.as_data())
