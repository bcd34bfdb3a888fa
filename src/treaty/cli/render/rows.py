"""Rendering of table rows with their run, contract and snapshot."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING

import typer

from treaty.cli.render.console import print_to_console, text
from treaty.cli.render.plain_text import pluralize
from treaty.cli.render.tables import listing

if TYPE_CHECKING:
    from treaty.pipeline.tables.table_reader import TableRows


def print_text(shown: TableRows) -> None:
    """Print rows as a table, with their origin above."""
    with print_to_console() as console:
        console.print(text(describe_origin(shown), style="quiet"))
        if not shown.rows:
            console.print(text("no rows"))
            return
        null = text("null", style="quiet")
        console.print(listing(shown.columns, [[null if cell is None else cell for cell in row] for row in shown.rows]))
        if not shown.is_complete:
            console.print(text(f"first {pluralize(len(shown.rows), 'row')}; show more with --limit", style="quiet"))


def print_json(shown: TableRows) -> None:
    """Print one JSON document; Spark has formatted the rows, so that numbers keep all their digits."""
    about = {
        "table": shown.table,
        "run": shown.stamp.run,
        "contract": shown.stamp.contract,
        "snapshot": shown.stamp.snapshot or None,
        "published_at": shown.stamp.committed_at.isoformat(),
        "columns": list(shown.columns),
        "complete": shown.is_complete,
    }
    head = json.dumps(about, ensure_ascii=False, indent=2).removesuffix("\n}")
    typer.echo(f'{head},\n  "rows": [' + ",".join(f"\n    {record}" for record in shown.records) + "\n  ]\n}")


def print_csv(shown: TableRows) -> None:
    """Print rows as CSV, and their origin on standard error."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(shown.columns)
    writer.writerows(shown.rows)
    typer.echo(buffer.getvalue(), nl=False)
    typer.echo(
        describe_origin(shown) + ("" if shown.is_complete else f"; first {pluralize(len(shown.rows), 'row')}"), err=True
    )


def describe_origin(shown: TableRows) -> str:
    """Return the table, run, time, contract and snapshot of rows."""
    stamp = shown.stamp
    contract = f", contract {stamp.contract}" if stamp.contract else ""
    when = f"{stamp.committed_at:%Y-%m-%d %H:%M:%S} UTC"
    state = f", snapshot {stamp.snapshot}" if stamp.snapshot else ", a view"
    return f"{shown.table} as of run {stamp.run} ({when}){contract}{state}"
