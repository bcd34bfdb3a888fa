"""Drawing test reports: one file for each output."""

from __future__ import annotations

from enum import StrEnum
from importlib import import_module
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from treaty.spark.report import TestReport


class ReportFormat(StrEnum):
    """How a test report is written."""

    TEXT = "text"
    JSON = "json"
    JUNIT = "junit"
    HTML = "html"
    MARKDOWN = "markdown"


class Held(StrEnum):
    """How rules that held are told."""

    SUMMED = "summed"
    LISTED = "listed"


_MODULES = {
    ReportFormat.TEXT: "text",
    ReportFormat.JSON: "json_text",
    ReportFormat.JUNIT: "junit",
    ReportFormat.HTML: "html_page",
    ReportFormat.MARKDOWN: "markdown",
}


def drawn(report: TestReport, output: ReportFormat, held: Held = Held.SUMMED) -> str:
    """Return the report in a format."""
    return cast("str", import_module(f"{__name__}.{_MODULES[output]}").draw(report, held))
