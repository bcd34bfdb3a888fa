"""`treaty run`: the pipeline of a project."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from treaty.cli.options import (
    AnswerFormat,
    ConfigOption,
    FolderArgument,
    MasterOption,
    RemoteOption,
    SelectOption,
    WaitOption,
)

_EVERY = 10.0


def run(
    folder: FolderArgument = Path(),
    select: SelectOption = None,
    full: Annotated[
        bool, typer.Option("--full", help="Build what is chosen anew, from all that its inputs have.")
    ] = False,
    follow: Annotated[bool, typer.Option("--follow", help="Go on: run again and again until it is stopped.")] = False,
    every: Annotated[
        float, typer.Option("--every", metavar="SECONDS", min=1, help="With --follow: how long to rest between runs.")
    ] = _EVERY,
    wait: WaitOption = 0.0,
    output: Annotated[
        AnswerFormat, typer.Option("--format", "-f", help="How to print the summary.")
    ] = AnswerFormat.TEXT,
    master: MasterOption = None,
    remote: RemoteOption = None,
    config: ConfigOption = None,
) -> None:
    """Run the pipeline of a project.

    Takes in what is new, computes what that touches, audits it by its contracts, and publishes it whole or not at all.
    """
    from treaty.cli.running import Asked, run_and_print
    from treaty.pipeline.run import Wish

    wish = Wish(tuple(select or ()), anew=full, wait=wait)
    run_and_print(Asked(folder, config, master, remote, output, every if follow else None), wish)
