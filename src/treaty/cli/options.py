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


class AnswerFormat(StrEnum):
    """How a short answer is printed."""

    TEXT = "text"
    JSON = "json"


class PageFormat(StrEnum):
    """How reference pages are printed."""

    TEXT = "text"
    JSON = "json"
    MARKDOWN = "markdown"


def _known_mode(mode: str | None) -> str | None:
    """Refuse a mode that is none; the judgement is loaded only where a mode is given."""
    if mode is not None:
        from treaty.compatibility import parse_mode
        from treaty.errors import InvalidDocument

        try:
            parse_mode(mode)
        except InvalidDocument as error:
            raise typer.BadParameter(str(error)) from None
    return mode


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
        callback=_known_mode,
    ),
]
