"""Rendering of lint reports."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import typer

from treaty.cli.options import OutputFormat
from treaty.cli.render.plain_text import pluralize
from treaty.contracts.findings import Severity
from treaty.contracts.text.writer import write_json
from treaty.governance.lint import RULES, LintReport

if TYPE_CHECKING:
    from rich.console import Console

Reports = list[tuple[str, LintReport]]
MAX_SHOWN_FINDINGS = 200
"""How many findings of one contract are printed as text; the other formats have all of them."""


def print_reports(reports: Reports, output: OutputFormat) -> None:
    """Print lint reports in a format."""
    match output:
        case OutputFormat.TEXT:
            _print_text(reports)
        case OutputFormat.JSON:
            from treaty.governance.lint.linter import report_as_data

            typer.echo(write_json({"contracts": [report_as_data(*report) for report in reports]}), nl=False)
        case OutputFormat.MARKDOWN:
            typer.echo(_markdown(reports))
        case OutputFormat.SARIF:
            from treaty.cli.render.sarif import sarif

            pages = {rule.id: (rule.summary, rule.page) for rule in RULES.values()}
            findings = [finding for _, report in reports for finding in report.findings]
            typer.echo(write_json(sarif(findings, pages)), nl=False)


def _print_text(reports: Reports) -> None:
    if any(report.findings or report.waived for _, report in reports):
        from treaty.cli.render.console import print_to_console

        with print_to_console() as console:
            for source, report in reports:
                if report.findings or report.waived:
                    _print_report(console, source, report)
    typer.echo(_totals(reports))


def _print_report(console: Console, source: str, report: LintReport) -> None:
    from rich.table import Table

    from treaty.cli.render.console import STYLES, text

    title = text(source, style="path")
    if report.contract_id:
        facts = f"  {report.contract_id} {report.version} · score {report.score} %"
        title.append_text(text(facts, style="quiet"))
    console.print(title)
    grid = Table.grid(padding=(0, 2), pad_edge=True)
    grid.add_column(justify="right", style="quiet", min_width=4)
    grid.add_column(min_width=7)
    grid.add_column(overflow="fold", ratio=1)
    grid.add_column(style="quiet", no_wrap=True)
    for finding in report.findings[:MAX_SHOWN_FINDINGS]:
        line = str(finding.place.line) if finding.place and finding.place.line else ""
        message = text(finding.message)
        if finding.hint:
            message.append("\n").append_text(text(finding.hint, style="quiet"))
        grid.add_row(line, text(finding.severity, style=STYLES[finding.severity]), message, finding.id)
    for waived in report.waived[:MAX_SHOWN_FINDINGS]:
        line = str(waived.finding.place.line) if waived.finding.place and waived.finding.place.line else ""
        message = text(waived.finding.message)
        waiver = f"waived by {waived.waiver.owner} until {waived.waiver.until}: {waived.waiver.reason}"
        message.append("\n").append_text(text(waiver, style="quiet"))
        grid.add_row(line, text("waived", style="quiet"), message, waived.finding.id)
    console.print(grid)
    if hidden := report.findings[MAX_SHOWN_FINDINGS:]:
        counts = Counter(finding.id for finding in hidden).most_common()
        rules = ", ".join(f"{count:,} {rule}" for rule, count in counts)
        console.print(text(f"  and {len(hidden):,} more: {rules}; for all of them, add --format json", style="quiet"))
    console.print()


def _totals(reports: Reports) -> str:
    counts = Counter(finding.severity for _, report in reports for finding in report.findings)
    waived = sum(len(report.waived) for _, report in reports)
    fields = sum(report.fields for _, report in reports)
    explainable = sum(report.explainable for _, report in reports)
    parts = [pluralize(len(reports), "contract")]
    parts += [
        pluralize(counts[severity], severity.value)
        for severity in (Severity.ERROR, Severity.WARNING)
        if counts[severity]
    ]
    parts += [pluralize(counts[Severity.INFO], "suggestion")] if counts[Severity.INFO] else []
    parts += [f"{waived} waived"] if waived else []
    parts += ["no findings"] if not counts else []
    if fields:
        parts.append(f"{explainable:,} of {pluralize(fields, 'field')} understandable")
    return " · ".join(parts)


def _markdown(reports: Reports) -> str:
    from treaty.cli.render.markdown import code, escape_markdown, table

    parts = [f"**Treaty lint**: {_totals(reports)}"]
    for source, report in reports:
        if report.findings:
            rows = [
                (
                    finding.severity.value,
                    str(finding.place.line or "") if finding.place else "",
                    escape_markdown(finding.message),
                    escape_markdown(finding.hint or ""),
                    code(finding.id),
                )
                for finding in report.findings
            ]
            title = f"### {code(source)}" + (f" (score {report.score} %)" if report.contract_id else "")
            parts += [title, table(("", "line", "finding", "next step", "rule"), rows)]
    return "\n\n".join(parts)
