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


def print_text(rows: TableRows) -> None:
    """Print rows as a table, with their origin above."""
    with print_to_console() as console:
        console.print(text(describe_origin(rows), style="quiet"))
        if not rows.rows:
            console.print(text("no rows"))
            return
        null = text("null", style="quiet")
        console.print(listing(rows.columns, [[null if cell is None else cell for cell in row] for row in rows.rows]))
        if not rows.is_complete:
            console.print(text(f"first {pluralize(len(rows.rows), 'row')}; show more with --limit", style="quiet"))


def print_json(rows: TableRows) -> None:
    """Print one JSON document; Spark has formatted the rows, so that numbers keep all their digits."""
    about = {
        "table": rows.table,
        "run": rows.stamp.run,
        "contract": rows.stamp.contract,
        "snapshot": rows.stamp.snapshot or None,
        "published_at": rows.stamp.committed_at.isoformat(),
        "columns": list(rows.columns),
        "complete": rows.is_complete,
    }
    head = json.dumps(about, ensure_ascii=False, indent=2).removesuffix("\n}")
    typer.echo(f'{head},\n  "rows": [' + ",".join(f"\n    {record}" for record in rows.records) + "\n  ]\n}")


def print_csv(rows: TableRows) -> None:
    """Print rows as CSV, and their origin on standard error."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(rows.columns)
    writer.writerows(rows.rows)
    typer.echo(buffer.getvalue(), nl=False)
    typer.echo(
        describe_origin(rows) + ("" if rows.is_complete else f"; first {pluralize(len(rows.rows), 'row')}"), err=True
    )


def describe_origin(rows: TableRows) -> str:
    """Return the table, run, time, contract and snapshot of rows."""
    stamp = rows.stamp
    contract = f", contract {stamp.contract}" if stamp.contract else ""
    when = f"{stamp.committed_at:%Y-%m-%d %H:%M:%S} UTC"
    state = f", snapshot {stamp.snapshot}" if stamp.snapshot else ", a view"
    return f"{rows.table} as of run {stamp.run} ({when}){contract}{state}"
