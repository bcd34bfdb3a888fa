"""`treaty lint`: check whether a downstream team could understand each field without asking the producer."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from treaty.cli.exit_codes import ExitCode
from treaty.cli.options import AsOfOption, ConfigOption, FormatOption, OutputFormat, PathsArgument, parse_date

if TYPE_CHECKING:
    from treaty.cli.inputs import Source
    from treaty.contracts.text import Limits
    from treaty.governance.lint import LintReport, LintSettings


def lint(
    paths: PathsArgument,
    output: FormatOption = OutputFormat.TEXT,
    strict: Annotated[bool, typer.Option("--strict", help="Fail on warnings too.")] = False,
    as_of: AsOfOption = None,
    config: ConfigOption = None,
) -> None:
    """Check whether contracts are understandable.

    Checks names, descriptions, owners, personal data and guarantees; `treaty explain rules` lists the rules.
    """
    from treaty.cli.inputs import find_sources
    from treaty.cli.render.lint import print_reports
    from treaty.contracts.findings import Severity
    from treaty.settings import load_settings

    settings = load_settings(config)
    rules = settings.lint_settings()
    today = parse_date(as_of, "--as-of") or datetime.now(UTC).date()
    limits = settings.limits
    sources = find_sources(paths, limits)
    reports = [report for source in sources for report in _lint_source(source, rules, today, limits)]
    if not reports:
        typer.echo(f"no contracts found in {', '.join(paths)}; create one with: treaty init", err=True)
        raise typer.Exit(ExitCode.FAILURE)
    print_reports(reports, output)
    failing = {Severity.ERROR, Severity.WARNING} if strict else {Severity.ERROR}
    if any(finding.severity in failing for _, report in reports for finding in report.findings):
        raise typer.Exit(ExitCode.FINDINGS)


def _lint_source(source: Source, rules: LintSettings, today: date, limits: Limits) -> list[tuple[str, LintReport]]:
    """Lint one document. A document that is not a contract gives a finding, so that the others are linted too."""
    from treaty.cli.inputs import load_contracts
    from treaty.errors import InvalidDocument
    from treaty.governance.lint import lint as lint_contract
    from treaty.governance.lint import unreadable_report

    try:
        contracts = load_contracts(source, limits)
    except InvalidDocument as error:
        return [(source.name, unreadable_report(error.findings))]
    names = [source.name if len(contracts) == 1 else f"{source.name}#{contract.contract.id}" for contract in contracts]
    return [(name, lint_contract(contract, rules, today)) for name, contract in zip(names, contracts, strict=True)]
