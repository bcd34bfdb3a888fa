"""`treaty diff`: what changed, whom it breaks, which version it needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from treaty.cli.exit_codes import ExitCode
from treaty.cli.options import ConfigOption, FormatOption, ModeOption, OutputFormat

if TYPE_CHECKING:
    from pathlib import Path

    from treaty.compatibility import Verdict
    from treaty.contracts import LoadedContract

BeforeArgument = Annotated[
    str, typer.Argument(metavar="BEFORE", help="A contract file, git:REF:path, or - for standard input.")
]
AfterArgument = Annotated[str, typer.Argument(metavar="AFTER", help="The same, after the change.")]


def run(
    before: BeforeArgument,
    after: AfterArgument,
    mode: ModeOption = None,
    output: FormatOption = OutputFormat.TEXT,
    config: ConfigOption = None,
) -> None:
    """Show what a change breaks, and its version.

    Compares two versions of a contract: what changed, whom it breaks, which version it must have, how to go on.
    """
    from treaty.cli.render.verdict import print_verdict
    from treaty.compatibility import suggest_renames
    from treaty.compatibility.finding_places import locate_findings

    verdict, old, new = judge_sources(before, after, mode, config)
    print_verdict(verdict, locate_findings(verdict, old, new), suggest_renames(old.contract, new.contract), output)
    if not verdict.admissible and not verdict.is_unchanged:
        raise typer.Exit(ExitCode.FINDINGS)


def judge_sources(
    before: str, after: str, mode: str | None, config: Path | None
) -> tuple[Verdict, LoadedContract, LoadedContract]:
    """Judge the change from one document to another, as the project's settings say."""
    from treaty.cli.inputs import STANDARD_INPUT, load_source
    from treaty.compatibility import diff, judge, parse_mode
    from treaty.settings import load_settings

    if before == after == STANDARD_INPUT:
        raise typer.BadParameter("only one of the two can be standard input")
    settings = load_settings(config)
    asked, grading = parse_mode(mode) if mode else settings.mode(), settings.grading()
    old = load_source(before, settings.limits)
    new = load_source(after, settings.limits)
    return judge(diff(old.contract, new.contract), asked, grading), old, new
