"""One console for all text: calm colours, no colour where nobody sees it, wide lines in logs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import typer
from rich.console import Console
from rich.theme import Theme

from treaty.contracts.findings import Severity

_LOG_WIDTH = 120
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


@contextmanager
def screen() -> Iterator[Console]:
    """Collect what is printed to a console, then write it without the spaces tables leave at line ends."""
    terminal = Console().is_terminal
    drawn = Console(
        theme=_THEME,
        highlight=False,
        emoji=False,
        markup=False,
        width=None if terminal else _LOG_WIDTH,
        force_terminal=terminal,
    )
    with drawn.capture() as captured:
        yield drawn
    for line in captured.get().splitlines():
        typer.echo(line.rstrip())
