"""Options that several commands share."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class OutputFormat(StrEnum):
    """How a result is printed."""

    TEXT = "text"
    JSON = "json"
    MARKDOWN = "markdown"
    SARIF = "sarif"


class PageFormat(StrEnum):
    """How reference pages are printed."""

    TEXT = "text"
    JSON = "json"
    MARKDOWN = "markdown"


FormatOption = Annotated[OutputFormat, typer.Option("--format", "-f", help="How to print the result.")]
PageFormatOption = Annotated[PageFormat, typer.Option("--format", "-f", help="How to print the pages.")]
ConfigOption = Annotated[
    Path | None,
    typer.Option("--config", help="The project file; by default treaty.yaml here or above.", show_default=False),
]
ModeOption = Annotated[
    str | None,
    typer.Option(
        "--mode",
        "-m",
        help="none, backward, forward, full, or one of these with _transitive. A contract's own pin holds at least.",
        show_default=False,
    ),
]
