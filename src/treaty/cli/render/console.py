"""One console for all text: calm colours, no colour where nobody sees it, wide lines in logs."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager

import typer
from rich.console import Console
from rich.text import Text
from rich.theme import Theme

from treaty.cli.render.printable import visible
from treaty.contracts.findings import Severity

_LOG_WIDTH = 120
_COMMAND = re.compile(r"^(\s*)::")
"""How a line begins that GitHub takes for a command, wherever a long text was folded."""

_THEME = Theme(
    {
        "error": "bold red",
        "warning": "yellow",
        "info": "dim",
        "good": "green",
        "path": "bold",
        "quiet": "dim",
        "accent": "blue",
    }
)
MARKS = {Severity.ERROR: "✗", Severity.WARNING: "!", Severity.INFO: "✓"}
STYLES = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "good"}


def text(content: str, style: str = "") -> Text:
    """Return text for a console; what comes from a document cannot act on the terminal."""
    return Text(visible(content), style=style)


@contextmanager
def screen() -> Iterator[Console]:
    """Collect what is printed to a console, then write it without the spaces tables leave at line ends."""
    with captured() as (drawn, lines):
        yield drawn
    for line in lines:
        typer.echo(line)


@contextmanager
def captured() -> Iterator[tuple[Console, list[str]]]:
    """Give a console, and at the end the lines printed to it; none is a command to a CI that reads the log."""
    terminal = Console().is_terminal
    coloured = terminal and not os.environ.get("NO_COLOR")
    drawn = Console(
        theme=_THEME,
        highlight=False,
        emoji=False,
        markup=False,
        width=None if terminal else _LOG_WIDTH,
        force_terminal=coloured,
    )
    lines: list[str] = []
    with drawn.capture() as found:
        yield drawn, lines
    lines += [_COMMAND.sub(r"\1: :", line.rstrip()) for line in found.get().splitlines()]
