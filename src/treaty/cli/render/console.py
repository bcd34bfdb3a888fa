"""The console for all text output: colours only on a terminal, wide lines in logs."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager

import typer
from rich.console import Console
from rich.text import Text
from rich.theme import Theme

from treaty.cli.render.plain_text import printable
from treaty.contracts.findings import Severity

LOG_WIDTH = 120
_COMMAND = re.compile(r"^(\s*)::")
"""The start of a line that GitHub reads as a workflow command."""

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
    """Return styled text with control characters escaped, so that a document cannot control the terminal."""
    return Text(printable(content), style=style)


@contextmanager
def print_to_console() -> Iterator[Console]:
    """Collect what is printed to a console, then print it without trailing spaces."""
    with capture_console() as (console, lines):
        yield console
    for line in lines:
        typer.echo(line)


@contextmanager
def capture_console() -> Iterator[tuple[Console, list[str]]]:
    """Yield a console and, filled at the end, its lines. No line starts with a GitHub workflow command."""
    terminal = Console().is_terminal
    use_colour = terminal and not os.environ.get("NO_COLOR")
    console = Console(
        theme=_THEME,
        highlight=False,
        emoji=False,
        markup=False,
        width=None if terminal else LOG_WIDTH,
        force_terminal=use_colour,
    )
    lines: list[str] = []
    with console.capture() as capture:
        yield console, lines
    lines += [_COMMAND.sub(r"\1: :", line.rstrip()) for line in capture.get().splitlines()]
