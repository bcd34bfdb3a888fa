"""`treaty docs`: the catalog as a folder of pages."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from treaty.cli.options import (
    AnswerFormat,
    AnswerFormatOption,
    ConfigOption,
    RegistryOption,
    TokenFileOption,
    command_group,
)

if TYPE_CHECKING:
    from treaty.catalog.site import BuildResult, Progress
    from treaty.cli.progress import Steps

app = command_group("Write the catalog as a static site.")
_PATIENCE = 60.0


@app.callback()
def _docs() -> None:
    """Keep `build` a command of its own while there is no other."""


@app.command("build")
def build(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder to write to: a new or empty one, or ours.")],
    name: Annotated[
        str | None,
        typer.Option("--name", help="What the pages are called: as set, Treaty by default.", show_default=False),
    ] = None,
    registry: RegistryOption = None,
    token_file: TokenFileOption = None,
    output: AnswerFormatOption = AnswerFormat.TEXT,
    config: ConfigOption = None,
) -> None:
    """Write the catalog as a static site.

    Its pages can be opened from the folder, or put on any web server. Only files that changed are rewritten.
    """
    from treaty.cli.progress import told_steps
    from treaty.cli.registry_connection import needing, opened
    from treaty.settings import load_settings

    settings = load_settings(config)
    with needing("catalog"):
        from treaty.catalog.site import build as build_site

        with opened(registry, token_file, settings) as it, told_steps() as steps:
            built = build_site(
                it,
                folder,
                name or settings.catalog_name,
                wait_seconds=_PATIENCE,
                on_progress=lambda at: _tell(steps, at),
            )
    _print(built, output)


def _tell(steps: Steps, at: Progress) -> None:
    steps.tell(f"{at.done}/{at.total}  {at.step}")


def _print(built: BuildResult, output: AnswerFormat) -> None:
    from treaty.cli.render.output import print_data
    from treaty.cli.render.printable import visible

    if output is AnswerFormat.JSON:
        print_data(asdict(built))
        return
    contracts = "1 contract" if built.contracts == 1 else f"{built.contracts:,} contracts"
    typer.echo(f"The catalog of {contracts} is in {visible(built.folder)}")
    typer.echo(f"  written    {built.written:,}")
    typer.echo(f"  unchanged  {built.unchanged:,}")
    typer.echo(f"  removed    {built.removed:,}")
    typer.echo(f"  took       {built.seconds:.1f} s")
    typer.echo(f"  open       {visible(built.open)}")
