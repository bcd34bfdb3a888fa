"""Drawing lint reports."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import typer

from treaty.cli.options import OutputFormat
from treaty.contracts.findings import Severity
from treaty.contracts.text.writer import write_json
from treaty.governance.lint import RULES, LintReport

if TYPE_CHECKING:
    from rich.console import Console

Reports = list[tuple[str, LintReport]]


def print_reports(reports: Reports, output: OutputFormat) -> None:
    """Print what lint found."""
    match output:
        case OutputFormat.TEXT:
            _print_text(reports)
        case OutputFormat.JSON:
            from treaty.governance.lint.linter import report_as_data

            typer.echo(write_json({"contracts": [report_as_data(*one) for one in reports]}), nl=False)
        case OutputFormat.MARKDOWN:
            typer.echo(_markdown(reports))
        case OutputFormat.SARIF:
            from treaty.cli.render.sarif import sarif

            pages = {rule.id: (rule.summary, rule.page) for rule in RULES.values()}
            findings = [finding for _, report in reports for finding in report.findings]
            typer.echo(write_json(sarif(findings, pages)), nl=False)


def _print_text(reports: Reports) -> None:
    if any(report.findings or report.waived for _, report in reports):
        from treaty.cli.render.console import screen

        with screen() as drawn:
            for source, report in reports:
                if report.findings or report.waived:
                    _print_report(drawn, source, report)
    typer.echo(_totals(reports))


def _print_report(drawn: Console, source: str, report: LintReport) -> None:
    from rich.table import Table

    from treaty.cli.render.console import STYLES, text

    title = text(source, style="path")
    if report.contract_id:
        facts = f"  {report.contract_id} {report.version} · legibility {report.score} %"
        title.append_text(text(facts, style="quiet"))
    drawn.print(title)
    grid = Table.grid(padding=(0, 2), pad_edge=True)
    grid.add_column(justify="right", style="quiet", min_width=4)
    grid.add_column(min_width=7)
    grid.add_column(overflow="fold", ratio=1)
    grid.add_column(style="quiet", no_wrap=True)
    for finding in report.findings:
        line = str(finding.place.line) if finding.place and finding.place.line else ""
        said = text(finding.message)
        if finding.hint:
            said.append("\n").append_text(text(finding.hint, style="quiet"))
        grid.add_row(line, text(finding.severity, style=STYLES[finding.severity]), said, finding.id)
    for one in report.waived:
        line = str(one.finding.place.line) if one.finding.place and one.finding.place.line else ""
        said = text(one.finding.message)
        waiver = f"waived by {one.waiver.owner} until {one.waiver.until}: {one.waiver.reason}"
        said.append("\n").append_text(text(waiver, style="quiet"))
        grid.add_row(line, text("waived", style="quiet"), said, one.finding.id)
    drawn.print(grid)
    drawn.print()


def _totals(reports: Reports) -> str:
    counts = Counter(finding.severity for _, report in reports for finding in report.findings)
    waived = sum(len(report.waived) for _, report in reports)
    fields = sum(report.fields for _, report in reports)
    explainable = sum(report.explainable for _, report in reports)
    parts = [_count(len(reports), "contract")]
    parts += [
        _count(counts[severity], severity.value) for severity in (Severity.ERROR, Severity.WARNING) if counts[severity]
    ]
    parts += [f"{counts[Severity.INFO]} to consider"] if counts[Severity.INFO] else []
    parts += [f"{waived} waived"] if waived else []
    parts += ["nothing found"] if not counts else []
    if fields:
        parts.append(f"{explainable} of {_count(fields, 'field')} explain themselves")
    return " · ".join(parts)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _markdown(reports: Reports) -> str:
    from treaty.cli.render.markdown import code, escaped, table

    parts = [f"**Treaty lint**: {_totals(reports)}"]
    for source, report in reports:
        if report.findings:
            rows = [
                (
                    finding.severity.value,
                    str(finding.place.line or "") if finding.place else "",
                    escaped(finding.message),
                    escaped(finding.hint or ""),
                    code(finding.id),
                )
                for finding in report.findings
            ]
            title = f"### {code(source)}" + (f" (legibility {report.score} %)" if report.contract_id else "")
            parts += [title, table(("", "line", "what", "what next", "rule"), rows)]
    return "\n\n".join(parts)
