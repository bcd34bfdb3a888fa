"""Drawing access: tokens, and the audit log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rich.console import Console

from treaty.cli.render.console import text
from treaty.cli.render.tables import facts, listing, moment
from treaty.registry.model import AuditAnswer, AuditCheckAnswer, ChannelAnswer, NoticeAnswer, TokenAnswer


def draw_tokens(drawn: Console, tokens: Sequence[TokenAnswer]) -> None:
    """Draw tokens, without their secrets."""
    drawn.print(
        listing(
            ("id", "name", "role", "scopes", "created by", "expires (UTC)", ""),
            (
                (
                    one.id,
                    one.name,
                    f"{one.role}:{one.team}" if one.team else one.role,
                    ", ".join(one.scopes),
                    one.created_by,
                    moment(one.expires_at),
                    text("revoked", style="quiet") if one.revoked_at else "",
                )
                for one in tokens
            ),
        )
    )


def draw_revoked(drawn: Console, one: TokenAnswer) -> None:
    """Draw that a token is refused from now on."""
    drawn.print(text(f"token {one.id} ({one.name}) is revoked"))


def draw_audit(drawn: Console, entries: Sequence[AuditAnswer]) -> None:
    """Draw who did what."""
    drawn.print(
        listing(
            ("no", "at (UTC)", "who", "did", "to"),
            ((str(one.seq), moment(one.at), one.actor, one.action, one.subject) for one in entries),
        )
    )


def draw_audit_check(drawn: Console, check: AuditCheckAnswer) -> None:
    """Draw whether the audit log is whole, and the head to keep."""
    if check.whole:
        drawn.print(text(f"the audit log is whole: {_entries(check.entries)}", style="good"))
    else:
        drawn.print(text("the audit log does not hold", style="error"))
        drawn.print(facts([(f"entry {one.seq}", one.reason) for one in check.breaks]))
    drawn.print(facts([("Head", check.head)]))
    drawn.print(text("keep the head elsewhere, and check later with: treaty audit verify --head HEAD", style="quiet"))


def _entries(number: int) -> str:
    return "1 entry" if number == 1 else f"{number:,} entries"


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
