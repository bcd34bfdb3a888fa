"""Rows of a table, and which run, contract and snapshot they are of."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING

import typer

from treaty.cli.render.console import screen, text
from treaty.cli.render.tables import count, listing

if TYPE_CHECKING:
    from treaty.pipeline.tables.table_reader import Shown


def print_text(shown: Shown) -> None:
    """Print rows as a table under a line that says what they are."""
    with screen() as drawn:
        drawn.print(text(origin(shown), style="quiet"))
        if not shown.rows:
            drawn.print(text("no rows"))
            return
        nothing = text("null", style="quiet")
        drawn.print(listing(shown.columns, [[nothing if cell is None else cell for cell in row] for row in shown.rows]))
        if not shown.is_all:
            drawn.print(text(f"the first {count(len(shown.rows), 'row')}; --limit shows more", style="quiet"))


def print_json(shown: Shown) -> None:
    """Print one JSON document; rows are written by Spark, so that a number keeps its digits."""
    about = {
        "table": shown.table,
        "run": shown.stamp.run,
        "contract": shown.stamp.contract,
        "snapshot": shown.stamp.snapshot or None,
        "published_at": shown.stamp.committed_at.isoformat(),
        "columns": list(shown.columns),
        "complete": shown.is_all,
    }
    head = json.dumps(about, ensure_ascii=False, indent=2).removesuffix("\n}")
    typer.echo(f'{head},\n  "rows": [' + ",".join(f"\n    {record}" for record in shown.records) + "\n  ]\n}")


def print_csv(shown: Shown) -> None:
    """Print rows as CSV; what they are is said on standard error."""
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow(shown.columns)
    writer.writerows(shown.rows)
    typer.echo(written.getvalue(), nl=False)
    typer.echo(origin(shown) + ("" if shown.is_all else f"; the first {count(len(shown.rows), 'row')}"), err=True)


def origin(shown: Shown) -> str:
    """Return which state of which table rows are of."""
    stamp = shown.stamp
    contract = f", contract {stamp.contract}" if stamp.contract else ""
    when = f"{stamp.committed_at:%Y-%m-%d %H:%M:%S} UTC"
    state = f", snapshot {stamp.snapshot}" if stamp.snapshot else ", a view"
    return f"{shown.table} as of run {stamp.run} ({when}){contract}{state}"
