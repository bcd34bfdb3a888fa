"""`treaty diff`: what changed between two versions, what it breaks, and which version it requires."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from treaty.cli.exit_codes import ExitCode
from treaty.cli.options import ConfigOption, FormatOption, ModeOption, OutputFormat

if TYPE_CHECKING:
    from pathlib import Path

    from treaty.compatibility import Verdict
    from treaty.contracts import LoadedContract


def diff(
    before: Annotated[
        str, typer.Argument(metavar="BEFORE", help="A contract file, git:REF:path, or - for standard input.")
    ],
    after: Annotated[str, typer.Argument(metavar="AFTER", help="The same contract after the change.")],
    version_only: Annotated[
        bool, typer.Option("--version-only", help="Print only the version that the change requires, for scripts.")
    ] = False,
    mode: ModeOption = None,
    output: FormatOption = OutputFormat.TEXT,
    config: ConfigOption = None,
) -> None:
    """Compare two versions of a contract.

    Shows what changed, what breaks, which version the change requires, and what to do next.
    """
    from treaty.cli.render.verdict import print_required_version, print_verdict
    from treaty.compatibility import suggest_renames
    from treaty.compatibility.finding_places import locate_findings

    if version_only and output not in (OutputFormat.TEXT, OutputFormat.JSON):
        raise typer.BadParameter("--version-only prints text or JSON")
    verdict, old, new = _judge(before, after, mode, config)
    if version_only:
        print_required_version(verdict, before, output)
        return
    print_verdict(verdict, locate_findings(verdict, old, new), suggest_renames(old.contract, new.contract), output)
    if not verdict.admissible and not verdict.is_unchanged:
        raise typer.Exit(ExitCode.FINDINGS)


def _judge(
    before: str, after: str, mode: str | None, config: Path | None
) -> tuple[Verdict, LoadedContract, LoadedContract]:
    """Load both documents and judge the change with the settings of the project."""
    from treaty.cli.inputs import STANDARD_INPUT, load_source
    from treaty.compatibility import diff as diff_contracts
    from treaty.compatibility import judge, parse_mode
    from treaty.settings import load_settings

    if before == after == STANDARD_INPUT:
        raise typer.BadParameter("only one of the two documents can come from standard input")
    settings = load_settings(config)
    old = load_source(before, settings.limits)
    new = load_source(after, settings.limits)
    changes = diff_contracts(old.contract, new.contract)
    return judge(changes, parse_mode(mode) if mode else settings.mode(), settings.grading()), old, new
