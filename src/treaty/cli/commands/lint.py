"""`treaty lint`: could a downstream team explain each field without calling the producer?"""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from treaty.cli.exit_codes import ExitCode
from treaty.cli.options import ConfigOption, FormatOption, OutputFormat, day

if TYPE_CHECKING:
    from treaty.cli.inputs import Source
    from treaty.contracts.text import Limits
    from treaty.governance.lint import LintReport, LintSettings


def run(
    paths: Annotated[
        list[str],
        typer.Argument(metavar="PATH...", help="Contract files, folders, git:REF:path, or - for standard input."),
    ],
    output: FormatOption = OutputFormat.TEXT,
    strict: Annotated[bool, typer.Option("--strict", help="Let warnings fail the command too.")] = False,
    as_of: Annotated[
        str | None, typer.Option("--as-of", metavar="DATE", help="Judge waivers as of this day.", show_default=False)
    ] = None,
    config: ConfigOption = None,
) -> None:
    """Judge whether contracts are legible.

    Looks at names, meanings, owners, personal data and promises; see: treaty rules.
    """
    from treaty.cli.inputs import find_sources
    from treaty.cli.render.lint import print_reports
    from treaty.contracts.findings import Severity
    from treaty.settings import load_settings

    settings = load_settings(config)
    rules = settings.linting()
    today = day(as_of, "--as-of") or datetime.now(UTC).date()
    limits = settings.limits
    sources = find_sources(paths, limits)
    reports = [report for source in sources for report in _lint_source(source, rules, today, limits)]
    if not reports:
        typer.echo(f"no contracts found in {', '.join(paths)}; make one with: treaty init", err=True)
        raise typer.Exit(ExitCode.FAILURE)
    print_reports(reports, output)
    failing = {Severity.ERROR, Severity.WARNING} if strict else {Severity.ERROR}
    if any(finding.severity in failing for _, report in reports for finding in report.findings):
        raise typer.Exit(ExitCode.FINDINGS)


def _lint_source(source: Source, rules: LintSettings, today: date, limits: Limits) -> list[tuple[str, LintReport]]:
    """Lint one document; one that is no contract is a finding, so that the others are judged too."""
    from treaty.cli.inputs import load_all
    from treaty.errors import InvalidDocument
    from treaty.governance.lint import lint, unreadable_report

    try:
        found = load_all(source, limits)
    except InvalidDocument as error:
        return [(source.name, unreadable_report(error.findings))]
    names = [source.name if len(found) == 1 else f"{source.name}#{one.contract.id}" for one in found]
    return [(name, lint(one, rules, today)) for name, one in zip(names, found, strict=True)]
