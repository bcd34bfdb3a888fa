"""Drawing what running the shims on rows showed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from treaty.cli.render.console import text
from treaty.cli.render.migration_plan import MARKS
from treaty.cli.render.tables import count, listing
from treaty.compatibility.migration.proof import FieldProof, Proof, ShimProof

if TYPE_CHECKING:
    from rich.console import Console


def draw_proof(drawn: Console, proof: Proof) -> None:
    """Draw the proof: each shape, field by field, and whether it bears out what the path says."""
    title = text(proof.before.id, style="path")
    title.append_text(text(f"  {proof.before.version} → {proof.after.version}", style="accent"))
    drawn.print(title)
    for shim in proof.shims:
        drawn.print()
        _draw_shim(drawn, shim)
    drawn.print()
    if proof.holds:
        drawn.print(text("✓ proven: what is called exact is exact, and what is lossy is counted above", style="good"))
        return
    drawn.print(text("✗ not proven:", style="error"))
    for shim, field in proof.failures:
        drawn.print(text(f"  {field.field}: {_failure(field)} ({shim.way.meaning})", style="error"))
    for shim in proof.shims:
        if shim.blocked and not shim.holds:
            said = f"  {', '.join(shim.blocked)} cannot be served, so there is no view of {shim.way.meaning}"
            drawn.print(text(said, style="error"))


def _draw_shim(drawn: Console, shim: ShimProof) -> None:
    heading = text(f"{shim.way.meaning.capitalize()}", style="path")
    drawn.print(heading)
    if shim.rows is None:
        drawn.print(text(f"  not run: {', '.join(shim.blocked)} cannot be served", style="quiet"))
    else:
        left_out = shim.rows.given - shim.rows.used
        said = f"  {count(shim.rows.used, 'row')} of {shim.rows.line}, {shim.rows.origin}"
        said += f"; {count(left_out, 'row')} left out that broke it" if left_out else ""
        said += f"; {shim.conforming:,} keep the contract they are served under"
        drawn.print(text(said, style="quiet"))
    rows = []
    for one in shim.fields:
        mark, style = MARKS[one.fidelity]
        mark, style = (mark, style) if one.holds else ("✗", "error")
        name = text(f"{mark} ", style=style).append_text(text(one.field))
        rows.append((name, text(one.fidelity.value, style=style), _number(one.broken), _returned(one)))
    drawn.print(listing(("  field", "", "break the contract", "differ after a round trip"), rows))


def _number(amount: int | None) -> str:
    return "–" if amount is None else f"{amount:,}"


def _returned(field: FieldProof) -> str:
    return _number(field.differing) + ("" if field.differing is None or field.must_return else ", as may be")


def _failure(field: FieldProof) -> str:
    if field.broken and field.fidelity == "exact":
        return f"called exact, yet {count(field.broken, 'row')} break its contract"
    return f"called exact both ways, yet {count(field.differing or 0, 'row')} came back different"
