"""Rendering of housekeeping: one line for the summary of a run, and the tables of `treaty maintain`."""

from __future__ import annotations

from rich.padding import Padding
from rich.table import Table

from treaty.cli.render.console import MARKS, STYLES, print_to_console, text
from treaty.cli.render.plain_text import pluralize
from treaty.contracts.findings import Severity
from treaty.pipeline.maintenance import TableUpkeep, Upkeep

_KIBIBYTE = 1024


def summarize_upkeep(upkeep: Upkeep) -> str:
    """Summarize housekeeping in one line."""
    removed = upkeep.removed
    done = []
    if removed.snapshots:
        done.append(f"{pluralize(removed.snapshots, 'old snapshot')} expired")
    if removed.files:
        done.append(f"{pluralize(removed.files, 'file')} removed ({format_bytes(removed.bytes)})")
    if upkeep.compacted:
        done.append(f"{pluralize(len(upkeep.compacted), 'table')} compacted")
    done += upkeep.problems
    if upkeep.postponed:
        done.append(f"{pluralize(upkeep.postponed, 'table')} left to the next run")
    result = ", ".join(done) or "nothing to do"
    return f"would be: {result}" if upkeep.is_dry_run and done else result


def format_bytes(size: int) -> str:
    """Format a size."""
    amount = float(size)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if amount < _KIBIBYTE:
            return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= _KIBIBYTE
    return f"{amount:.1f} TiB"


def print_upkeep(upkeep: Upkeep) -> None:
    """Print what was done to each table."""
    severity = Severity.ERROR if upkeep.problems else Severity.INFO
    treated = [table for table in upkeep.tables if _is_treated(table)]
    with print_to_console() as console:
        console.print(text(f"{MARKS[severity]} {summarize_upkeep(upkeep)}", style=STYLES[severity]), soft_wrap=True)
        if not treated:
            return
        console.print()
        shown = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="quiet")
        shown.add_column("table")
        for name in ("snapshots", "files", "size"):
            shown.add_column(name, justify="right")
        shown.add_column("compacted")
        shown.add_column("kept since")
        for table in treated:
            since = f"{table.kept_since:%Y-%m-%d %H:%M} UTC" if table.kept_since else ""
            cells = (
                f"-{table.removed.snapshots:,}",
                f"-{table.removed.files:,}",
                f"-{format_bytes(table.removed.bytes)}",
                "yes" if table.is_compacted else "",
                since,
            )
            shown.add_row(text(table.table, style="accent"), *map(text, cells))
        console.print(Padding.indent(shown, 2))


def _is_treated(table: TableUpkeep) -> bool:
    return bool(table.removed.snapshots or table.removed.files or table.is_compacted)
