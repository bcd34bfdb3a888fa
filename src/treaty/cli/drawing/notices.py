"""Drawing notices: where they go, and how far they got."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rich.console import Console

from treaty.cli.drawing.console import text
from treaty.cli.drawing.grids import facts, listing, moment
from treaty.registry.answers import ChannelAnswer, NoticeAnswer


def draw_channels(drawn: Console, channels: Sequence[ChannelAnswer]) -> None:
    """Draw where parties get their notices."""
    drawn.print(
        listing(
            ("id", "party", "kind", "target", "signed", "added by", "at (UTC)"),
            (
                (
                    str(one.id),
                    one.party,
                    one.kind,
                    one.target,
                    "yes" if one.signed else "no",
                    one.added_by,
                    moment(one.added_at),
                )
                for one in channels
            ),
        )
    )


def draw_added(drawn: Console, one: ChannelAnswer) -> None:
    """Draw that a channel is there, in a line."""
    drawn.print(text(f"channel {one.id}: {one.party} gets its notices by {one.kind} {one.target}".rstrip()))


def draw_removed(drawn: Console, one: ChannelAnswer) -> None:
    """Draw that a channel is gone, in a line."""
    drawn.print(text(f"channel {one.id} is removed; {one.party} gets nothing by {one.kind} {one.target}".rstrip()))


def draw_notices(drawn: Console, notices: Sequence[NoticeAnswer]) -> None:
    """Draw what parties were told."""
    for one in notices:
        drawn.print(text(f"{moment(one.at)}  ", style="quiet").append_text(text(one.headline)))
        about = f"{one.kind} · to {', '.join(one.parties) or 'nobody'} · {_delivered(one)}"
        drawn.print(facts([("", text(about, style="quiet"))]))


def _delivered(notice: NoticeAnswer) -> str:
    states = Counter(one.state for one in notice.deliveries)
    said = ", ".join(f"{number} {state}" for state, number in sorted(states.items()))
    errors = [one.error for one in notice.deliveries if one.error and one.state != "delivered"]
    return (said or "no channel") + (f": {errors[0]}" if errors else "")
