"""Rendering of the effective view of a consumer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from treaty.cli.render.console import text
from treaty.contracts.values import Json

if TYPE_CHECKING:
    from rich.console import Console

    from treaty.policy import EffectiveView


def render_effective_view(console: Console, view: EffectiveView) -> None:
    """Render each field with the decision and its rule, then the rules on rows."""
    from rich.table import Table

    title = text(view.contract, style="path")
    title.append_text(text(f"  {view.version}", style="accent"))
    title.append_text(text(f"  for {view.consumer}: {view.purpose or 'no purpose'}", style="quiet"))
    console.print(title)
    if view.refusal is not None:
        console.print(text(f"refused: {view.refusal}"))
    console.print()
    grid = Table.grid(padding=(0, 2), pad_edge=True)
    grid.add_column(overflow="fold")
    grid.add_column(overflow="fold")
    grid.add_column(style="quiet", overflow="fold")
    for field in view.fields:
        grid.add_row(text(str(field.path)), text(field.decision.value), text(field.reason))
    console.print(grid)
    for reason in view.row_reasons:
        console.print(text(f"rows: {reason}"))


def view_as_data(view: EffectiveView) -> dict[str, Json]:
    """Return the view as JSON."""
    return {
        "contract": view.contract,
        "version": view.version,
        "consumer": view.consumer,
        "purpose": view.purpose,
        "region": view.region,
        "refusal": view.refusal,
        "fields": [
            {
                "field": str(field.path),
                "decision": field.decision.value,
                "mask": str(field.mask) if field.mask else None,
                "rule": field.rule,
                "origin": field.origin,
            }
            for field in view.fields
        ],
        "rows": list(view.row_reasons),
    }
