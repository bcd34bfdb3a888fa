"""A test report as JSON, for programs: everything that was found."""

from __future__ import annotations

from treaty.cli.render.test_report import Held
from treaty.contracts.text.writer import write_json
from treaty.spark.report import TestReport


def draw(report: TestReport, held: Held) -> str:
    """Return the report as JSON; rules that held are always there."""
    return write_json(report.as_data())
