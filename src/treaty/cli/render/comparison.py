"""Rendering of comparisons of two publishers: each difference with its first key, and the earlier comparisons."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console

from treaty.cli.options import AnswerFormat
from treaty.cli.render.console import print_to_console, text
from treaty.cli.render.output import print_data
from treaty.cli.render.plain_text import pluralize
from treaty.cli.render.tables import format_time

if TYPE_CHECKING:
    from treaty.events.comparison import ComparisonReport, Difference, Side


def print_report(report: ComparisonReport, output: AnswerFormat) -> None:
    """Print a report as text or JSON."""
    if output is AnswerFormat.JSON:
        print_data(report.as_data())
        return
    with print_to_console() as console:
        render_report(console, report)


def render_report(console: Console, report: ComparisonReport) -> None:
    """Render the newest comparison with its differences, then how often the publishers were compared."""
    last = report.last
    console.print(text(f"{last.left.publisher} and {last.right.publisher}", style="path"))
    console.print(text(f"under {', '.join(last.contracts)}", style="quiet"), soft_wrap=True)
    for side in (last.left, last.right):
        _render_side(console, side)
    if last.differences:
        console.print()
    for one in last.differences:
        console.print(text(describe_difference(one), style="error"), soft_wrap=True)
    console.print()
    if len(report.comparisons) > 1:
        agreed = sum(one.interchangeable for one in report.comparisons)
        first = format_time(report.comparisons[0].compared_at)
        console.print(
            text(f"interchangeable in {agreed} of {len(report.comparisons)} comparisons since {first}", style="quiet")
        )
    console.print(
        text("interchangeable for these contracts", style="good")
        if last.interchangeable
        else text("not interchangeable", style="error")
    )


def _render_side(console: Console, side: Side) -> None:
    console.print(
        text(f"{side.publisher}: {pluralize(side.events, 'event')} of {pluralize(side.keys, 'key')} from {side.source}")
    )
    if side.failed_checks:
        console.print(text(f"  does not keep the contracts: {', '.join(side.failed_checks)}", style="error"))


def describe_difference(one: Difference) -> str:
    """Return one line about a difference: where it is first, what differs, the values, and how many keys."""
    at = "event" if one.position is None else f"event {one.position}"
    place = [
        f"key {one.key}" if one.key else "",
        at if one.position is not None else "",
        " ".join(part for part in (one.event_type, one.field) if part),
    ]
    values = f" ({one.left or 'none'} and {one.right or 'none'})" if one.left or one.right else ""
    count = f"; {pluralize(one.count, 'key')}" if one.key else ""
    return f"{', '.join(part for part in place if part)}: {one.message}{values}{count}"
