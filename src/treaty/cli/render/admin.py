"""Rendering of tokens, the audit log, channels and notices."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rich.console import Console

from treaty.cli.render.console import text
from treaty.cli.render.plain_text import pluralize
from treaty.cli.render.tables import facts, format_time, listing
from treaty.registry.model import AuditAnswer, AuditCheckAnswer, ChannelAnswer, NoticeAnswer, TokenAnswer


def render_tokens(console: Console, tokens: Sequence[TokenAnswer]) -> None:
    """Render tokens, without their secrets."""
    console.print(
        listing(
            ("id", "name", "role", "scopes", "created by", "expires (UTC)", ""),
            (
                (
                    one.id,
                    one.name,
                    f"{one.role}:{one.team}" if one.team else one.role,
                    ", ".join(one.scopes),
                    one.created_by,
                    format_time(one.expires_at),
                    text("revoked", style="quiet") if one.revoked_at else "",
                )
                for one in tokens
            ),
        )
    )


def render_revoked_token(console: Console, one: TokenAnswer) -> None:
    """Render the revocation of a token."""
    console.print(text(f"token {one.id} ({one.name}) is revoked"))


def render_audit_entries(console: Console, entries: Sequence[AuditAnswer]) -> None:
    """Render entries of the audit log."""
    console.print(
        listing(
            ("no", "time (UTC)", "actor", "action", "subject"),
            ((str(one.seq), format_time(one.at), one.actor, one.action, one.subject) for one in entries),
        )
    )


def render_audit_check(console: Console, check: AuditCheckAnswer) -> None:
    """Render the result of verifying the audit log, with its head."""
    if check.whole:
        console.print(text(f"the audit log is intact: {pluralize(check.entries, 'entry', 'entries')}", style="good"))
    else:
        console.print(text("the audit log is damaged", style="error"))
        console.print(facts([(f"entry {one.seq}", one.reason) for one in check.breaks]))
    console.print(facts([("Head", check.head)]))
    console.print(
        text("save the head elsewhere, and verify later with: treaty admin audit verify --head HEAD", style="quiet")
    )


def render_channels(console: Console, channels: Sequence[ChannelAnswer]) -> None:
    """Render channels."""
    console.print(
        listing(
            ("id", "party", "kind", "target", "signed", "added by", "added (UTC)"),
            (
                (
                    str(one.id),
                    one.party,
                    one.kind,
                    one.target,
                    "yes" if one.signed else "no",
                    one.added_by,
                    format_time(one.added_at),
                )
                for one in channels
            ),
        )
    )


def render_added_channel(console: Console, one: ChannelAnswer) -> None:
    """Render a new channel in one line."""
    console.print(text(f"channel {one.id}: {one.party} receives notices by {one.kind} {one.target}".rstrip()))


def render_removed_channel(console: Console, one: ChannelAnswer) -> None:
    """Render the removal of a channel in one line."""
    console.print(
        text(f"channel {one.id} is removed; {one.party} no longer receives notices by {one.kind} {one.target}".rstrip())
    )


def render_notices(console: Console, notices: Sequence[NoticeAnswer]) -> None:
    """Render notices with their recipients and deliveries."""
    for one in notices:
        console.print(text(f"{format_time(one.at)}  ", style="quiet").append_text(text(one.headline)))
        about = f"{one.kind} · to {', '.join(one.parties) or 'no recipients'} · {_describe_deliveries(one)}"
        console.print(facts([("", text(about, style="quiet"))]))


def _describe_deliveries(notice: NoticeAnswer) -> str:
    states = Counter(one.state for one in notice.deliveries)
    counts = ", ".join(f"{number} {state}" for state, number in sorted(states.items()))
    errors = [one.error for one in notice.deliveries if one.error and one.state != "delivered"]
    return (counts or "no channel") + (f": {errors[0]}" if errors else "")
