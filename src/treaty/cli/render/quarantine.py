"""Rendering of quarantined rows: counts by reason, rows with marked cells, exports, and the result of a retry."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from rich.table import Table

from treaty.cli.render.console import print_to_console, text
from treaty.cli.render.plain_text import pluralize
from treaty.cli.render.tables import listing

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from treaty.pipeline.quarantine import QuarantinedRow, ReasonCount

_REASONS, _FILE = "_reasons", "_source_file"
MAX_ORIGINAL_CHARACTERS = 400


def print_counts(counted: Sequence[tuple[str, int, Sequence[ReasonCount]]]) -> None:
    """Print how many rows of each folder or table are quarantined, by reason."""
    with print_to_console() as console:
        if not counted:
            console.print(text("no events yet; start with: treaty run"))
        for name, rows, reasons in counted:
            console.print(text(f"{name}: {pluralize(rows, 'quarantined row')}", style="path"))
            if reasons:
                lines = [(f"{reason.rows:,}", reason.rule, reason.message, _values(reason)) for reason in reasons]
                console.print(listing(("Rows", "Rule", "Requirement", "Values"), lines))


def _values(reason: ReasonCount) -> str:
    return ", ".join(f"{'null' if value is None else value} ({count:,})" for value, count in reason.values)


def print_rows(name: str, rows: Sequence[QuarantinedRow], *, is_complete: bool) -> None:
    """Print rows, each cell on a line, with the offending ones marked."""
    with print_to_console() as console:
        if not rows:
            console.print(text(f"{name} has no quarantined rows"))
        for row in rows:
            _print_row(console, row)
        if not is_complete:
            hint = "show more with --limit, or all with treaty quarantine export"
            console.print(text(f"first {pluralize(len(rows), 'row')} of {name}; {hint}", style="quiet"))


def _print_row(console: Console, row: QuarantinedRow) -> None:
    run = f", run {row.run}" if row.run is not None else ""
    console.print(text(f"{row.place or 'row'}{run}", style="path"))
    grid = Table.grid(padding=(0, 2, 0, 0))
    for name, value in row.cells.items():
        grid.add_row(*_cell(row, name, value))
    if row.cells:
        console.print(grid)
    elif row.original is not None:
        console.print(text(f"    {row.original[:MAX_ORIGINAL_CHARACTERS]}"))
    for violation in row.violations:
        if not set(row.cells) & set(violation.columns):
            console.print(text(f"  ✗ {violation.rule}: {violation.message}", style="error"))
    console.print()


def _cell(row: QuarantinedRow, name: str, value: str | None) -> tuple[Text, Text, Text, Text]:
    problems = row.problems_of(name)
    style = "error" if problems else ""
    shown = text("null", style="quiet") if value is None and not problems else text(value or "null", style=style)
    reason = "; ".join(problem.message for problem in problems)
    return (
        text("  ✗" if problems else "", style=style),
        text(name, style=style or "quiet"),
        shown,
        text(reason, style=style),
    )


def render_csv(rows: Sequence[QuarantinedRow]) -> str:
    """Return rows as CSV: the original columns, then the reasons and the origin."""
    names = list(dict.fromkeys(name for row in rows for name in row.cells))
    originals = ["_original"] if any(not row.cells for row in rows) else []
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow([*names, *originals, _REASONS, _FILE, f"_{rows[0].unit if rows else 'row'}"])
    for row in rows:
        unparsed = [row.original if not row.cells else None] if originals else []
        writer.writerow([*(row.cells.get(name) for name in names), *unparsed, row.reasons, row.file, row.number])
    return buffer.getvalue()


def render_json_lines(rows: Sequence[QuarantinedRow]) -> str:
    """Return rows as JSON lines, each with its violations and origin."""
    return "".join(json.dumps(row.as_data(), ensure_ascii=False) + "\n" for row in rows)


def describe_retry(name: str, before: Collection[object], after: Collection[object]) -> str:
    """Describe how many of the quarantined rows passed when they were judged again."""
    released = len(set(before) - set(after))
    added = len(set(after) - set(before))
    also = f"; {pluralize(added, 'other row')} no longer passed" if added else ""
    return (
        f"{name}: judged {pluralize(len(before), 'quarantined row')} again: {released:,} passed, "
        f"{len(before) - released:,} remain{also}"
    )
