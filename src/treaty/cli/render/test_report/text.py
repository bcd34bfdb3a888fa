"""A test report as text: the verdict, violated rules with examples, schema differences, next steps."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import redirect_stdout
from io import StringIO

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from treaty.cli.render.console import MARKS, STYLES, print_to_console, text
from treaty.cli.render.plain_text import pluralize
from treaty.cli.render.tables import facts
from treaty.cli.render.test_report import HeldRules, phrases
from treaty.contracts.findings import Severity
from treaty.spark.measures import RuleMeasure
from treaty.spark.report import Outcome, TestReport
from treaty.spark.report.data_test import format_rows

_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
OUTCOMES = {Outcome.PASSED: Severity.INFO, Outcome.WARNED: Severity.WARNING, Outcome.FAILED: Severity.ERROR}


def render(report: TestReport, held_rules: HeldRules) -> str:
    """Return the report as plain text without colours."""
    with StringIO() as collected:
        with redirect_stdout(collected):
            print_report(report, held_rules)
        return _COLOURS.sub("", collected.getvalue())  # colours may be forced by the environment


def print_report(report: TestReport, held_rules: HeldRules) -> None:
    """Print the report to the terminal."""
    with print_to_console() as console:
        _render_verdict(console, report)
        _render_rules(console, report, held_rules)
        _render_samples(console, report)
        _render_drift(console, report)
        _render_facts(console, report)


def _render_verdict(console: Console, report: TestReport) -> None:
    severity = OUTCOMES[report.outcome]
    console.print(text(f"{MARKS[severity]} {phrases.verdict(report)}", style=STYLES[severity]), soft_wrap=True)
    console.print()


def _render_rules(console: Console, report: TestReport, held_rules: HeldRules) -> None:
    if not report.measures.results:
        return
    measures = report.notable + (report.unviolated if held_rules is HeldRules.LISTED else ())
    console.print(text("Rules", style="path"))
    if measures:
        grid = _grid("", "Rule", "Rows or value", "Share", "Requirement", "Severity")
        for measure in measures:
            grid.add_row(*_rule_row(report, measure))
        console.print(Padding.indent(grid, 2))
    if report.unviolated and held_rules is HeldRules.COUNTED:
        count = len(report.unviolated)
        other = "other " if measures else ""
        console.print(text(f"  ✓  {pluralize(count, f'{other}rule')} passed; list with -v", style="quiet"))
    console.print()


def _rule_row(report: TestReport, measure: RuleMeasure) -> Iterator[Text]:
    severity = phrases.severity_of(report, measure)
    yield text(MARKS[severity], style=STYLES[severity])
    yield text(measure.rule.id, style="accent")
    yield text(phrases.format_result(measure))
    yield text(phrases.format_share(measure.violating_rows, report.measures.rows) if measure.violating_rows else "")
    yield text(phrases.format_requirement(measure))
    yield text(measure.rule.severity.value, style="quiet" if measure.passed else STYLES[severity])


def _render_samples(console: Console, report: TestReport) -> None:
    if not report.samples:
        return
    console.print(text("Most frequent violations", style="path"))
    grid = _grid("Rule", "Value", "Rows", "Example row")
    before = None
    for sample in report.samples:
        rule = "" if sample.rule == before else sample.rule
        value = text(phrases.NO_VALUE, style="quiet") if sample.value is None else text(sample.value)
        grid.add_row(
            text(rule, style="accent"), value, text(f"{sample.rows:,}"), text(phrases.format_key(sample), style="quiet")
        )
        before = sample.rule
    console.print(Padding.indent(grid, 2))
    console.print()


def _render_drift(console: Console, report: TestReport) -> None:
    if not report.drift:
        return
    console.print(text("Schema differences", style="path"))
    grid = _grid("", "Field", "Difference", "Kind")
    for drift in report.drift:
        mark = (
            text("·", style="quiet")
            if drift.severity is Severity.INFO
            else text(MARKS[drift.severity], style=STYLES[drift.severity])
        )
        grid.add_row(mark, text(drift.field, style="accent"), text(drift.message), text(drift.kind, style="quiet"))
    console.print(Padding.indent(grid, 2))
    console.print()


def _render_facts(console: Console, report: TestReport) -> None:
    console.print(facts(_facts(report)))


def _facts(report: TestReport) -> Iterator[tuple[str, str | Text]]:
    yield "Rows", phrases.counts(report)
    for freshness in report.freshness:
        yield (
            "Freshness",
            text(
                phrases.freshness(freshness),
                style="" if freshness.passed else STYLES[phrases.severity_of(report, freshness)],
            ),
        )
    if not report.drift:
        yield "Schema", "as declared"
    if report.quarantine is not None:
        yield "Quarantine", f"{format_rows(report.quarantine.rows)} in {report.quarantine.path}"
    for number, unchecked_rule in enumerate(report.measures.unchecked):
        yield "Unchecked" if number == 0 else "", f"{unchecked_rule.what}: {unchecked_rule.why}"
    for number, step in enumerate(phrases.next_steps(report)):
        yield "Next" if number == 0 else "", step


def _grid(*columns: str) -> Table:
    """Return a table with a dim header; text wraps, numbers are right-aligned."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="quiet")
    for column in columns:
        right = column in ("Rows", "Rows or value", "Share")
        table.add_column(column, justify="right" if right else "left", overflow="fold", no_wrap=right)
    return table
