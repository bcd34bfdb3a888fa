"""A test report for people: the verdict first, then what is broken, with examples, and how to go on."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import redirect_stdout
from io import StringIO

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from treaty.cli.render.console import MARKS, STYLES, screen, text
from treaty.cli.render.tables import facts
from treaty.cli.render.test_report import Held, phrases
from treaty.contracts.findings import Severity
from treaty.spark.measures import RuleMeasure
from treaty.spark.report import Outcome, TestReport
from treaty.spark.report.data_report import format_rows

_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
OUTCOMES = {Outcome.PASSED: Severity.INFO, Outcome.WARNED: Severity.WARNING, Outcome.FAILED: Severity.ERROR}


def draw(report: TestReport, held: Held) -> str:
    """Return the report as plain text, as a file keeps it."""
    with StringIO() as collected:
        with redirect_stdout(collected):
            print_report(report, held)
        return _COLOURS.sub("", collected.getvalue())  # a terminal may be pretended


def print_report(report: TestReport, held: Held) -> None:
    """Print the report to the terminal."""
    with screen() as drawn:
        _draw_verdict(drawn, report)
        _draw_rules(drawn, report, held)
        _draw_samples(drawn, report)
        _draw_drift(drawn, report)
        _draw_facts(drawn, report)


def _draw_verdict(drawn: Console, report: TestReport) -> None:
    severity = OUTCOMES[report.outcome]
    drawn.print(text(f"{MARKS[severity]} {phrases.verdict(report)}", style=STYLES[severity]), soft_wrap=True)
    drawn.print()


def _draw_rules(drawn: Console, report: TestReport, held: Held) -> None:
    if not report.measures.results:
        return
    told = report.notable + (report.unbroken if held is Held.LISTED else ())
    drawn.print(text("Rules", style="path"))
    if told:
        grid = _grid("", "rule", "rows or value", "share", "asks", "weighs")
        for item in told:
            grid.add_row(*_rule_row(report, item))
        drawn.print(Padding.indent(grid, 2))
    if report.unbroken and held is Held.SUMMED:
        count = len(report.unbroken)
        other = "other " if told else ""
        drawn.print(
            text(f"  ✓  {count:,} {other}{'rule' if count == 1 else 'rules'} held; list them with -v", style="quiet")
        )
    drawn.print()


def _rule_row(report: TestReport, item: RuleMeasure) -> Iterator[Text]:
    severity = phrases.weight(report, item)
    yield text(MARKS[severity], style=STYLES[severity])
    yield text(item.rule.id, style="accent")
    yield text(phrases.found(item))
    yield text(phrases.share(item.broken, report.measures.rows) if item.broken else "")
    yield text(phrases.asked(item))
    yield text(item.rule.severity.value, style="quiet" if item.held else STYLES[severity])


def _draw_samples(drawn: Console, report: TestReport) -> None:
    if not report.samples:
        return
    drawn.print(text("Worst offenders", style="path"))
    grid = _grid("rule", "value", "rows", "such as the row of")
    before = None
    for sample in report.samples:
        rule = "" if sample.rule == before else sample.rule
        value = text(phrases.NO_VALUE, style="quiet") if sample.value is None else text(sample.value)
        grid.add_row(
            text(rule, style="accent"), value, text(f"{sample.rows:,}"), text(phrases.key_of(sample), style="quiet")
        )
        before = sample.rule
    drawn.print(Padding.indent(grid, 2))
    drawn.print()


def _draw_drift(drawn: Console, report: TestReport) -> None:
    if not report.drift:
        return
    drawn.print(text("Schema: what is declared, and what is there", style="path"))
    grid = _grid("", "field", "difference", "kind")
    for item in report.drift:
        mark = (
            text("·", style="quiet")
            if item.severity is Severity.INFO
            else text(MARKS[item.severity], style=STYLES[item.severity])
        )
        grid.add_row(mark, text(item.field, style="accent"), text(item.says), text(item.kind, style="quiet"))
    drawn.print(Padding.indent(grid, 2))
    drawn.print()


def _draw_facts(drawn: Console, report: TestReport) -> None:
    drawn.print(facts(_facts(report)))


def _facts(report: TestReport) -> Iterator[tuple[str, str | Text]]:
    yield "Rows", phrases.counts(report)
    for item in report.freshness:
        yield (
            "Freshness",
            text(phrases.freshness(item), style="" if item.held else STYLES[phrases.weight(report, item)]),
        )
    if not report.drift:
        yield "Schema", "as declared"
    if report.quarantine is not None:
        yield "Quarantine", f"{format_rows(report.quarantine.rows)} in {report.quarantine.path}"
    for number, one in enumerate(report.measures.unchecked):
        yield "Unchecked" if number == 0 else "", f"{one.what}: {one.why}"
    for number, step in enumerate(phrases.next_steps(report)):
        yield "Next" if number == 0 else "", step


def _grid(*columns: str) -> Table:
    """Return a table with a quiet header; words fold, numbers stand to the right."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="quiet")
    for column in columns:
        right = column in ("rows", "rows or value", "share")
        table.add_column(column, justify="right" if right else "left", overflow="fold", no_wrap=right)
    return table
