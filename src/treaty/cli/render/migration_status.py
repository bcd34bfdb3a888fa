"""Rendering of migrations in a registry."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console

from treaty.cli.render.console import text
from treaty.cli.render.tables import facts, format_date, listing
from treaty.registry.model import BoardAnswer, MigrationAnswer

_STYLES = {"waiting": "warning", "acknowledged": "accent", "moved": "good", "waived": "quiet"}
_STATES = {"proposed": "warning", "open": "accent", "closed": "good", "withdrawn": "quiet"}


def render_migrations(console: Console, migrations: Sequence[MigrationAnswer]) -> None:
    """Render migrations with the number of consumers in each state."""
    rows = [
        (
            str(one.id),
            f"{one.before} → {one.after}",
            text(one.state, style=_STATES[one.state]),
            format_date(one.ends_on),
            ", ".join(f"{number} {state}" for state, number in one.counts.items()),
            "" if one.proven is None else "proven" if one.proven else "not proven",
            one.owner or "",
        )
        for one in migrations
    ]
    console.print(listing(("id", "lines", "state", "ends", "consumers", "proof", "owner"), rows))


def render_migration(console: Console, board: BoardAnswer) -> None:
    """Render one migration with its dates and the state of each consumer."""
    title = text(f"migration {board.id}", style="path")
    title.append_text(text(f"  {board.before} → {board.after}", style="accent"))
    title.append_text(text(f"  {board.state}", style=_STATES[board.state]))
    console.print(title)
    console.print(facts(list(_facts(board))))
    rows = [
        (
            text(one.state, style=_STYLES[one.state]),
            one.consumer,
            one.consumer_class + (" · critical" if one.critical else ""),
            one.effect,
            " · ".join(part for part in (one.reason or "", f"until {one.until}" if one.until else "") if part),
        )
        for one in board.consumers
    ]
    if rows:
        console.print(listing(("", "consumer", "class", "effect", ""), rows))
    else:
        console.print(text("  the old line has no consumers", style="quiet"))


def _facts(board: BoardAnswer) -> Iterator[tuple[str, str]]:
    yield "versions", f"{board.before_version} → {board.after_version}"
    if board.window:
        ends = f", until {board.ends_on}" if board.ends_on else ""
        yield "window", f"{board.window}{ends}"
    if board.owner:
        yield "owner", board.owner
    if board.guide:
        yield "guide", board.guide
    if board.proof is not None:
        yield "proof", f"{'proven' if board.proven else 'not proven'} on {str(board.proof.get('at', ''))[:10]}"
    if board.state == "proposed":
        yield "waiting for", ", ".join(board.missing) or f"approval: treaty proposal approve {board.proposal}"
    if board.missing:
        yield "next", f"treaty migrate acknowledge {board.id} {board.missing[0]}"
