"""`treaty register`: put contracts on record, if they may be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from treaty.cli.commands.check import FetchOption
from treaty.cli.exit_codes import ExitCode
from treaty.cli.options import (
    AnswerFormat,
    AnswerFormatOption,
    ConfigOption,
    ModeOption,
    RegistryOption,
    TokenFileOption,
)

if TYPE_CHECKING:
    from treaty.cli.inputs import Source
    from treaty.settings import Settings


def run(
    paths: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[PATH]...",
            help="Contract files, folders, git:REF:path, or - for standard input.",
            show_default=False,
        ),
    ] = None,
    changed: Annotated[
        bool, typer.Option("--changed", help="Register what the last commit changed, or all since --base.")
    ] = False,
    base: Annotated[
        str | None,
        typer.Option("--base", metavar="REF", help="With --changed: the commit before the merge.", show_default=False),
    ] = None,
    fetch: FetchOption = False,
    mode: ModeOption = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would happen, and register nothing.")] = False,
    registry: RegistryOption = None,
    token_file: TokenFileOption = None,
    output: AnswerFormatOption = AnswerFormat.TEXT,
    config: ConfigOption = None,
) -> None:
    """Register contracts.

    Policies come before those that inherit from them, upstreams before what is made from them, lower versions before
    higher ones. A version that is refused is shown with the consumers it would hit; exit code 3 says that there is one.
    """
    from treaty.cli.registration import (
        STANDING_AGAINST,
        Became,
        check_all,
        in_order,
        read_all,
        register_all,
        register_telling,
    )
    from treaty.cli.registry_connection import Absent, opened
    from treaty.cli.render.registration import print_outcomes
    from treaty.errors import Unavailable
    from treaty.settings import load_settings

    if changed == bool(paths):
        raise typer.BadParameter("name contracts, or say --changed for those of the last merge")
    if not changed and (base is not None or fetch):
        raise typer.BadParameter("--base and --fetch go with --changed")
    settings = load_settings(config)
    sources = _changed(base, fetch, settings, output) if changed else _named(paths or [], settings)
    documents, outcomes = read_all(sources, settings.limits)
    with opened(registry, token_file, settings, Absent.SAY_SO if dry_run else Absent.MAKE) as it:
        try:
            act = check_all if dry_run else register_telling if changed else register_all
            for one in act(it, in_order(documents), mode):
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


def _named(paths: list[str], settings: Settings) -> list[Source]:
    from treaty.cli.inputs import find_sources

    sources = list(find_sources(paths, settings.limits))
    if not sources:
        typer.echo(f"no contracts found in {', '.join(paths)}; make one with: treaty init", err=True)
        raise typer.Exit(ExitCode.FAILURE)
    return sources


def _changed(base: str | None, fetch: bool, settings: Settings, output: AnswerFormat) -> list[Source]:
    from treaty.cli.git.base import Fetching
    from treaty.cli.git.branch import changed_since
    from treaty.cli.render.printable import visible

    found = changed_since(base, Fetching.ALLOWED if fetch else Fetching.NEVER, settings)
    for path in found.removed:
        typer.echo(f"{visible(path)} is gone; what it registered stays until it is retired: treaty retire", err=True)
    if not found.sources:
        from treaty.cli.render.registration import print_outcomes

        if output is AnswerFormat.JSON:
            print_outcomes([], output)
        else:
            typer.echo(f"no contract changed since {visible(found.base.name)}; nothing to register")
        raise typer.Exit(ExitCode.FINE)
    return list(found.sources)
