"""Options that the commands on a pipeline share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

FolderArgument = Annotated[
    Path, typer.Argument(metavar="[FOLDER]", help="The project's folder; by default this one.", show_default=False)
]
SelectOption = Annotated[
    list[str] | None,
    typer.Option(
        "--select",
        "-s",
        metavar="NAME",
        help="Only this; NAME+ with all that follows from it, +NAME with all that it follows from. May be repeated.",
        show_default=False,
    ),
]
WaitOption = Annotated[
    float, typer.Option("--wait", metavar="SECONDS", min=0, help="How long to wait for another run to end.")
]
MasterOption = Annotated[
    str | None,
    typer.Option("--master", metavar="URL", help="Where Spark runs; by default as set, local[*].", show_default=False),
]
RemoteOption = Annotated[
    str | None,
    typer.Option("--remote", metavar="URL", help="A Spark Connect server, such as sc://host.", show_default=False),
]
