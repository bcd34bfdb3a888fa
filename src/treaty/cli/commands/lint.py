"""`treaty lint`: check whether a downstream team could understand each field without asking the producer."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from treaty.cli.exit_codes import ExitCode
from treaty.cli.options import (
    ConfigOption,
    FormatOption,
    NowOption,
    OutputFormat,
    PathsArgument,
    RegistryOption,
    TokenFileOption,
    parse_time,
)

if TYPE_CHECKING:
    from treaty.cli.contract_context import Surroundings
    from treaty.cli.inputs import Source
    from treaty.contracts.findings import Finding
    from treaty.contracts.loader import LoadedContract
    from treaty.contracts.text import Limits
    from treaty.governance.lint import LintReport, LintSettings
    from treaty.registry.api import RegistryApi
    from treaty.settings import Settings


def lint(
    paths: PathsArgument,
    output: FormatOption = OutputFormat.TEXT,
    strict: Annotated[bool, typer.Option("--strict", help="Fail on warnings too.")] = False,
    now: NowOption = None,
    registry: RegistryOption = None,
    token_file: TokenFileOption = None,
    config: ConfigOption = None,
) -> None:
    """Check whether contracts are understandable.

    Checks names, descriptions, owners, personal data and guarantees; `treaty explain rules` lists the rules. With
    --registry, also the rules that need the consumers of a contract. Contracts are linted with what they inherit from
    policies among the paths or in the registry.
    """
    from treaty.cli.contract_context import LocalPolicies, Surroundings
    from treaty.cli.inputs import find_sources
    from treaty.cli.render.lint import print_reports
    from treaty.contracts.findings import Severity
    from treaty.settings import load_settings

    settings = load_settings(config)
    rules = settings.lint_settings()
    today = (parse_time(now) or datetime.now(UTC)).date()
    limits = settings.limits
    documents = [_load_source(source, limits) for source in find_sources(paths, limits)]
    contracts = [loaded.contract for document in documents for loaded in document.contracts]
    local = LocalPolicies.among(contracts, settings.default_policies(), today)
    with _open(registry, token_file, settings) as opened:
        surroundings = Surroundings(local, opened)
        reports = [report for document in documents for report in _lint_document(document, rules, today, surroundings)]
    if not reports:
        typer.echo(f"no contracts found in {', '.join(paths)}; create one with: treaty init", err=True)
        raise typer.Exit(ExitCode.FAILURE)
    print_reports(reports, output)
    failing = {Severity.ERROR, Severity.WARNING} if strict else {Severity.ERROR}
    if any(finding.severity in failing for _, report in reports for finding in report.findings):
        raise typer.Exit(ExitCode.FINDINGS)


@contextmanager
def _open(reference: str | None, token_file: Path | None, settings: Settings) -> Iterator[RegistryApi | None]:
    """Open the given registry; without one, only the documents themselves are known."""
    if reference is None:
        yield None
        return
    from treaty.cli.registry_connection import open_registry

    with open_registry(reference, token_file, settings) as registry:
        yield registry


@dataclass(frozen=True)
class _Document:
    """One document with its contracts, or with the problems that it could not be read for."""

    source: Source
    contracts: tuple[LoadedContract, ...] = ()
    problems: tuple[Finding, ...] | None = None


def _load_source(source: Source, limits: Limits) -> _Document:
    """Load one document. A document that is not a contract gives a finding, so that the others are linted too."""
    from treaty.cli.inputs import load_contracts
    from treaty.errors import InvalidDocument

    try:
        return _Document(source, tuple(load_contracts(source, limits)))
    except InvalidDocument as error:
        return _Document(source, problems=error.findings)


def _lint_document(
    document: _Document, rules: LintSettings, today: date, surroundings: Surroundings
) -> list[tuple[str, LintReport]]:
    from treaty.governance.lint import lint as lint_contract
    from treaty.governance.lint import unreadable_report, with_policy_rules

    source, contracts = document.source, document.contracts
    if document.problems is not None:
        return [(source.name, unreadable_report(document.problems))]
    names = [source.name if len(contracts) == 1 else f"{source.name}#{contract.contract.id}" for contract in contracts]
    reports = []
    for name, loaded in zip(names, contracts, strict=True):
        policies = surroundings.policies_of(loaded.contract, source.content)
        report = lint_contract(loaded, rules, today, surroundings.readers_of(loaded.contract), policies)
        reports.append((name, with_policy_rules(report, loaded, policies, rules, today)))
    return reports
