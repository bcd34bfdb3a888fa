"""Rendering of test reports, one module per format."""

from __future__ import annotations

from enum import StrEnum
from importlib import import_module
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from treaty.spark.report import TestReport


class ReportFormat(StrEnum):
    """Formats of a test report."""

    TEXT = "text"
    JSON = "json"
    JUNIT = "junit"
    HTML = "html"
    MARKDOWN = "markdown"


class HeldRules(StrEnum):
    """How rules without failures are shown."""

    COUNTED = "counted"
    LISTED = "listed"


_MODULES = {
    ReportFormat.TEXT: "text",
    ReportFormat.JUNIT: "junit",
    ReportFormat.HTML: "html_page",
    ReportFormat.MARKDOWN: "markdown",
}
"""Module of every format except JSON, with a function `render`. Only the one that is used is imported."""


def render_report(report: TestReport, output: ReportFormat, held_rules: HeldRules = HeldRules.COUNTED) -> str:
    """Return a report in a format; JSON always contains the rules without failures."""
    if output is ReportFormat.JSON:
        from treaty.contracts.text.writer import write_json

        return write_json(report.as_data())
    return cast("str", import_module(f"{__name__}.{_MODULES[output]}").render(report, held_rules))
