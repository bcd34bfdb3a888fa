"""Drawing migrations as they stand in a registry."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console

from treaty.cli.render.console import text
from treaty.cli.render.tables import day_or_nothing, facts, listing
from treaty.registry.model import BoardAnswer, MigrationAnswer

_STYLES = {"waiting": "warning", "acknowledged": "accent", "moved": "good", "waived": "quiet"}
_STATES = {"proposed": "warning", "open": "accent", "closed": "good", "withdrawn": "quiet"}


def draw_migrations(drawn: Console, migrations: Sequence[MigrationAnswer]) -> None:
    """Draw which migrations there are, and how many consumers stand where."""
    rows = [
        (
            str(one.id),
            f"{one.before} → {one.after}",
            text(one.state, style=_STATES[one.state]),
            day_or_nothing(one.ends_on),
            ", ".join(f"{number} {state}" for state, number in one.counts.items()),
            "" if one.proven is None else "proven" if one.proven else "not proven",
            one.owner or "",
        )
        for one in migrations
    ]
    drawn.print(listing(("id", "lines", "state", "ends", "consumers", "shims", "owner"), rows))


def draw_board(drawn: Console, board: BoardAnswer) -> None:
    """Draw one migration: its window, and where each consumer stands."""
    title = text(f"migration {board.id}", style="path")
    title.append_text(text(f"  {board.before} → {board.after}", style="accent"))
    title.append_text(text(f"  {board.state}", style=_STATES[board.state]))
    drawn.print(title)
    drawn.print(facts(list(_told(board))))
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
        drawn.print(listing(("", "consumer", "class", "effect", ""), rows))
    else:
        drawn.print(text("  nobody reads the old line", style="quiet"))


def _told(board: BoardAnswer) -> Iterator[tuple[str, str]]:
    yield "versions", f"{board.before_version} → {board.after_version}"
    if board.window:
        ends = f", until {board.ends_on}" if board.ends_on else ""
        yield "window", f"{board.window}{ends}"
    if board.owner:
        yield "owner", board.owner
    if board.guide:
        yield "guide", board.guide
    if board.proof is not None:
        yield "shims", f"{'proven' if board.proven else 'not proven'} on {str(board.proof.get('at', ''))[:10]}"
    if board.state == "proposed":
        yield "waits for", ", ".join(board.missing) or f"an approval: treaty approve {board.proposal}"
    if board.missing:
        yield "next", f"treaty migrate acknowledge {board.id} {board.missing[0]}"
