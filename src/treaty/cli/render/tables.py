"""Tables of text: lists with a quiet header, and facts beside their names."""

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
    """Return a table with a quiet header; long cells fold, the first column least."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="quiet")
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*(cell if isinstance(cell, Text) else text(cell) for cell in row))
    return table


def facts(rows: Iterable[tuple[str, str | Text]]) -> Table:
    """Return names and what they stand for; a row without a name goes on with the one before."""
    grid = Table.grid(padding=(0, 2), pad_edge=True)
    grid.add_column(style="quiet", no_wrap=True)
    grid.add_column(overflow="fold", ratio=1)
    for name, said in rows:
        grid.add_row(name, said if isinstance(said, Text) else text(said))
    return grid


def status_text(status: str) -> Text:
    """Return a status in its colour."""
    return text(status, style=STATUS_STYLES.get(status, ""))


def moment(at: datetime) -> str:
    """Write a moment to the minute, in UTC."""
    return f"{at:%Y-%m-%d %H:%M}"


def day_or_nothing(at: date | None) -> str:
    """Write a day, or nothing."""
    return at.isoformat() if at else ""


def count(number: int, noun: str) -> str:
    """Write how many there are of something."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
