"""`treaty replay`: every table built anew from what has arrived."""

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


def run(
    folder: FolderArgument = Path(),
    select: SelectOption = None,
    wait: WaitOption = 0.0,
    output: Annotated[
        AnswerFormat, typer.Option("--format", "-f", help="How to print the summary.")
    ] = AnswerFormat.TEXT,
    master: MasterOption = None,
    remote: RemoteOption = None,
    config: ConfigOption = None,
) -> None:
    """Build tables anew from raw rows.

    Sources are left alone. Readers see the old tables until the new ones have passed their audit.
    """
    from treaty.cli.running import Asked, run_and_print
    from treaty.pipeline.run import Wish

    wish = Wish(tuple(select or ()), anew=True, from_raw=True, wait=wait)
    run_and_print(Asked(folder, config, master, remote, output), wish)
