"""`treaty register`: put contracts on record, if they may be."""

from __future__ import annotations

from typing import Annotated

import typer

from treaty.cli.exit_codes import ExitCode
from treaty.cli.options import (
    AnswerFormat,
    AnswerFormatOption,
    ConfigOption,
    ModeOption,
    RegistryOption,
    TokenFileOption,
)


def run(
    paths: Annotated[
        list[str],
        typer.Argument(metavar="PATH...", help="Contract files, folders, git:REF:path, or - for standard input."),
    ],
    mode: ModeOption = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would happen, and register nothing.")] = False,
    registry: RegistryOption = None,
    token_file: TokenFileOption = None,
    output: AnswerFormatOption = AnswerFormat.TEXT,
    config: ConfigOption = None,
) -> None:
    """Register contracts.

    Policies come before those that inherit from them, lower versions before higher ones. A version that is refused
    is shown with the consumers it would hit; exit code 3 says that there is one.
    """
    from treaty.cli.drawing.registering import print_outcomes
    from treaty.cli.inputs import find_sources
    from treaty.cli.registering import STANDING_AGAINST, Became, check_all, in_order, read_all, register_all
    from treaty.cli.registries import Absent, opened
    from treaty.errors import Unavailable
    from treaty.settings import load_settings

    settings = load_settings(config)
    sources = list(find_sources(paths, settings.limits))
    if not sources:
        typer.echo(f"no contracts found in {', '.join(paths)}; make one with: treaty init", err=True)
        raise typer.Exit(ExitCode.FAILURE)
    documents, outcomes = read_all(sources, settings.limits)
    with opened(registry, token_file, settings, Absent.SAY_SO if dry_run else Absent.MAKE) as it:
        try:
            for one in (check_all if dry_run else register_all)(it, in_order(documents), mode):
                outcomes.append(one)
        except Unavailable:
            if outcomes:
                print_outcomes(outcomes, output)
            raise
    print_outcomes(outcomes, output)
    became = {one.became for one in outcomes}
    if became & STANDING_AGAINST:
        raise typer.Exit(ExitCode.FINDINGS)
    if Became.NOT_ALLOWED in became:
        raise typer.Exit(ExitCode.FAILURE)
