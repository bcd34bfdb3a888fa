"""Tables, lists of facts, and formats of dates and numbers for the console."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date, datetime

from rich.table import Table
from rich.text import Text

from treaty.cli.render.console import text

STATUS_STYLES = {
    "active": "good",
    "draft": "quiet",
    "deprecated": "warning",
    "sunset": "warning",
    "retired": "quiet",
    "archived": "quiet",
}


def listing(columns: Sequence[str], rows: Iterable[Sequence[str | Text]]) -> Table:
    """Return a table with a dim header; long cells wrap."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="quiet")
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*(cell if isinstance(cell, Text) else text(cell) for cell in row))
    return table


def facts(rows: Iterable[tuple[str, str | Text]]) -> Table:
    """Return a two-column table of names and values; a row without a name continues the one above."""
    grid = Table.grid(padding=(0, 2), pad_edge=True)
    grid.add_column(style="quiet", no_wrap=True)
    grid.add_column(overflow="fold", ratio=1)
    for name, value in rows:
        grid.add_row(name, value if isinstance(value, Text) else text(value))
    return grid


def status_text(status: str) -> Text:
    """Return a life cycle status in its colour."""
    return text(status, style=STATUS_STYLES.get(status, ""))


def format_time(at: datetime) -> str:
    """Format a time to the minute."""
    return f"{at:%Y-%m-%d %H:%M}"


def format_date(at: date | None) -> str:
    """Format a date; empty for None."""
    return at.isoformat() if at else ""
