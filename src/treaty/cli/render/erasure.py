"""Rendering of an erasure: the tables, and the files outside of them that it cannot change."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.padding import Padding
from rich.table import Table

from treaty.cli.render.console import MARKS, STYLES, print_to_console, text
from treaty.cli.render.plain_text import pluralize
from treaty.contracts.findings import Severity
from treaty.pipeline.erasure import Erasure

MAX_LISTED_FILES = 20


def summarize_erasure(erasure: Erasure) -> str:
    """Summarize an erasure in one line, without the value of the key."""
    if not erasure.is_found:
        return f"{erasure.contract}: no row has this key"
    verb = "would be erased from" if erasure.is_dry_run else "erased from"
    result = f"{pluralize(erasure.raw_rows, 'raw row')} {verb} {pluralize(len(erasure.tables), 'table')}"
    return f"{erasure.contract}: {result}" + ("; not complete" if erasure.problems else "")


def print_erasure(erasure: Erasure) -> None:
    """Print what was erased, or would be, and what is left outside of the tables."""
    severity = Severity.ERROR if erasure.problems else Severity.INFO
    with print_to_console() as console:
        console.print(text(f"{MARKS[severity]} {summarize_erasure(erasure)}", style=STYLES[severity]), soft_wrap=True)
        _print_tables(console, erasure)
        _print_list(console, "not complete; fix the cause and repeat the command:", erasure.problems)
        _print_list(console, "read from these files, which still contain the key:", erasure.source_files)
        delivered = [file.path if file.contains else f"{file.path} (may contain it)" for file in erasure.delivered]
        _print_list(console, "delivered in these files, which cannot be recalled:", delivered)


def _print_tables(console: Console, erasure: Erasure) -> None:
    if not erasure.tables:
        return
    console.print()
    shown = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="quiet")
    shown.add_column("table")
    for name in ("rows", "older snapshots", "files removed"):
        shown.add_column(name, justify="right")
    for table in erasure.tables:
        numbers = (table.rows, table.snapshots, table.files)
        shown.add_row(text(table.table, style="accent"), *(text(f"{number:,}") for number in numbers))
    console.print(Padding.indent(shown, 2))


def _print_list(console: Console, title: str, lines: Sequence[str]) -> None:
    if not lines:
        return
    console.print()
    console.print(text(title, style="warning"))
    for line in lines[:MAX_LISTED_FILES]:
        console.print(Padding.indent(text(line), 2), soft_wrap=True)
    if len(lines) > MAX_LISTED_FILES:
        console.print(text(f"  and {len(lines) - MAX_LISTED_FILES:,} more; --format json lists all", style="quiet"))
