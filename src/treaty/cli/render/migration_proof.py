"""Rendering of migration proofs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from treaty.cli.render.console import text
from treaty.cli.render.migration_plan import MARKS
from treaty.cli.render.plain_text import pluralize
from treaty.cli.render.tables import listing
from treaty.compatibility.migration.proof import FieldProof, Proof, ShimProof

if TYPE_CHECKING:
    from rich.console import Console


def render_proof(console: Console, proof: Proof) -> None:
    """Render a proof: both directions field by field, and whether the path is proven."""
    title = text(proof.before.id, style="path")
    title.append_text(text(f"  {proof.before.version} → {proof.after.version}", style="accent"))
    console.print(title)
    for shim in proof.shims:
        console.print()
        _render_shim(console, shim)
    console.print()
    if proof.holds:
        console.print(
            text(
                "✓ proven: exact fields returned unchanged; differences in lossy fields are counted above", style="good"
            )
        )
        return
    console.print(text("✗ not proven:", style="error"))
    for shim, field in proof.failures:
        console.print(text(f"  {field.field}: {_describe_failure(field)} ({shim.way.meaning})", style="error"))
    for shim in proof.shims:
        if shim.blocked and not shim.holds:
            problem = f"  {', '.join(shim.blocked)} cannot be computed, so there is no view of {shim.way.meaning}"
            console.print(text(problem, style="error"))


def _render_shim(console: Console, shim: ShimProof) -> None:
    heading = text(f"{shim.way.meaning.capitalize()}", style="path")
    console.print(heading)
    if shim.rows is None:
        console.print(text(f"  not run: {', '.join(shim.blocked)} cannot be computed", style="quiet"))
    else:
        left_out = shim.rows.given - shim.rows.used
        summary = f"  {pluralize(shim.rows.used, 'row')} of {shim.rows.line}, {shim.rows.origin}"
        summary += f"; {pluralize(left_out, 'invalid row')} left out" if left_out else ""
        summary += f"; {shim.conforming:,} valid after conversion"
        console.print(text(summary, style="quiet"))
    rows = []
    for one in shim.fields:
        mark, style = MARKS[one.fidelity]
        mark, style = (mark, style) if one.holds else ("✗", "error")
        name = text(f"{mark} ", style=style).append_text(text(one.field))
        rows.append((name, text(one.fidelity.value, style=style), _format_number(one.broken), _format_differences(one)))
    console.print(listing(("  field", "", "invalid", "changed by the round trip"), rows))


def _format_number(amount: int | None) -> str:
    return "–" if amount is None else f"{amount:,}"


def _format_differences(field: FieldProof) -> str:
    return _format_number(field.differing) + ("" if field.differing is None or field.must_return else " (allowed)")


def _describe_failure(field: FieldProof) -> str:
    if field.broken and field.fidelity == "exact":
        return f"declared exact, but {pluralize(field.broken, 'row')} violate the contract"
    return f"declared exact in both directions, but {pluralize(field.differing or 0, 'row')} returned different"
