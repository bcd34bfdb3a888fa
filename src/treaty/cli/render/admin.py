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
                    token.id,
                    token.name,
                    f"{token.role}:{token.team}" if token.team else token.role,
                    ", ".join(token.scopes),
                    token.created_by,
                    format_time(token.expires_at),
                    text("revoked", style="quiet") if token.revoked_at else "",
                )
                for token in tokens
            ),
        )
    )


def render_revoked_token(console: Console, token: TokenAnswer) -> None:
    """Render the revocation of a token."""
    console.print(text(f"token {token.id} ({token.name}) is revoked"))


def render_audit_entries(console: Console, entries: Sequence[AuditAnswer]) -> None:
    """Render entries of the audit log."""
    console.print(
        listing(
            ("no", "time (UTC)", "actor", "action", "subject"),
            ((str(entry.seq), format_time(entry.at), entry.actor, entry.action, entry.subject) for entry in entries),
        )
    )


def render_audit_check(console: Console, check: AuditCheckAnswer) -> None:
    """Render the result of verifying the audit log, with its head."""
    if check.whole:
        console.print(text(f"the audit log is intact: {pluralize(check.entries, 'entry', 'entries')}", style="good"))
    else:
        damaged = "the audit log is damaged" if check.breaks else "the registry is not as the audit log records it"
        console.print(text(damaged, style="error"))
        console.print(facts([(f"entry {place.seq}", place.reason) for place in check.breaks]))
        for difference in check.differences:
            console.print(text(f"{difference.subject} {difference.reason}"))
    _render_coverage(console, check)
    console.print(facts([("Head", check.head)]))
    console.print(
        text("save the head elsewhere, and verify later with: treaty admin audit verify --head HEAD", style="quiet")
    )


def _render_coverage(console: Console, check: AuditCheckAnswer) -> None:
    """Render what was compared with the log, and what the log cannot vouch for."""
    compared = [(part.replace("_", " "), str(count)) for part, count in check.rows.items() if count]
    if compared:
        console.print(facts([("Compared", ", ".join(f"{count} {part}" for part, count in compared))]))
    if check.checkpoints:
        console.print(facts([("Checkpoints", f"{check.checkpoints} signed, compared")]))
    if check.covered_since > 1:
        since = f"entries before {check.covered_since} record no rows; their rows are known as they were at the upgrade"
        console.print(facts([("Not covered", since)]))
    if check.not_covered:
        tables = ", ".join(name.replace("_", " ") for name in check.not_covered)
        console.print(facts([("Not covered", tables)]))


def render_channels(console: Console, channels: Sequence[ChannelAnswer]) -> None:
    """Render channels."""
    console.print(
        listing(
            ("id", "party", "kind", "target", "signed", "added by", "added (UTC)"),
            (
                (
                    str(channel.id),
                    channel.party,
                    channel.kind,
                    channel.target,
                    "yes" if channel.signed else "no",
                    channel.added_by,
                    format_time(channel.added_at),
                )
                for channel in channels
            ),
        )
    )


def render_added_channel(console: Console, channel: ChannelAnswer) -> None:
    """Render a new channel in one line."""
    console.print(
        text(f"channel {channel.id}: {channel.party} receives notices by {channel.kind} {channel.target}".rstrip())
    )


def render_removed_channel(console: Console, channel: ChannelAnswer) -> None:
    """Render the removal of a channel in one line."""
    console.print(
        text(
            f"channel {channel.id} is removed; "
            f"{channel.party} no longer receives notices by {channel.kind} {channel.target}".rstrip()
        )
    )


def render_notices(console: Console, notices: Sequence[NoticeAnswer]) -> None:
    """Render notices with their recipients and deliveries."""
    for notice in notices:
        console.print(text(f"{format_time(notice.at)}  ", style="quiet").append_text(text(notice.headline)))
        about = f"{notice.kind} · to {', '.join(notice.parties) or 'no recipients'} · {_describe_deliveries(notice)}"
        console.print(facts([("", text(about, style="quiet"))]))


def _describe_deliveries(notice: NoticeAnswer) -> str:
    states = Counter(delivery.state for delivery in notice.deliveries)
    counts = ", ".join(f"{number} {state}" for state, number in sorted(states.items()))
    errors = [delivery.error for delivery in notice.deliveries if delivery.error and delivery.state != "delivered"]
    return (counts or "no channel") + (f": {errors[0]}" if errors else "")
