"""Rendering of tokens, the audit log, channels, namespaces and notices."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from treaty.cli.render.console import text
from treaty.cli.render.plain_text import pluralize
from treaty.cli.render.tables import facts, format_time, listing
from treaty.registry.model import (
    AuditAnswer,
    AuditCheckAnswer,
    ChannelAnswer,
    ErasureAnswer,
    NamespaceAnswer,
    NoticeAnswer,
    RetentionAnswer,
    SessionAnswer,
    TokenAnswer,
    UpgradeAnswer,
)


def render_tokens(console: Console, tokens: Sequence[TokenAnswer]) -> None:
    """Render tokens, without their secrets."""
    console.print(
        listing(
            ("id", "name", "role", "scopes", "created by", "last used (UTC)", "expires (UTC)", ""),
            (
                (
                    token.id,
                    token.name,
                    f"{token.role}:{token.team}" if token.team else token.role,
                    ", ".join(token.scopes),
                    token.created_by,
                    format_time(token.last_used_at) if token.last_used_at else "",
                    format_time(token.expires_at),
                    _token_state(token),
                )
                for token in tokens
            ),
        )
    )


def _token_state(token: TokenAnswer) -> Text | str:
    if token.revoked_at:
        return text("revoked", style="quiet")
    return text("unused", style="warning") if token.unused else ""


def render_sessions(console: Console, sessions: Sequence[SessionAnswer]) -> None:
    """Render sessions of browsers."""
    console.print(
        listing(
            ("id", "name", "identity", "since (UTC)", "last seen (UTC)", "ends (UTC)"),
            (
                (
                    session.id,
                    session.name,
                    session.identity,
                    format_time(session.created_at),
                    format_time(session.seen_at),
                    format_time(session.expires_at),
                )
                for session in sessions
            ),
        )
    )


def render_ended_session(console: Console, session: SessionAnswer) -> None:
    """Render the end of a session."""
    console.print(text(f"session {session.id} ({session.name}) is ended"))


def render_erasure(console: Console, erasure: ErasureAnswer) -> None:
    """Render what the erasure of a name changed or would change."""
    counts = [
        pluralize(erasure.entries, "audit entry", "audit entries"),
        pluralize(erasure.rows, "row"),
        pluralize(erasure.notices, "notice"),
        pluralize(erasure.sessions, "session"),
    ]
    done = "would become" if erasure.dry_run else "is now"
    console.print(text(f"the name {done} 'erased user {erasure.id}' in {', '.join(counts)}"))
    if not erasure.dry_run and not erasure.overwritten:
        console.print(text("the database is busy: run VACUUM on it later, so that no file contains the name"))


def describe_retention(answer: RetentionAnswer) -> str | None:
    """Return in one line what was deleted or would be; None if it is nothing."""
    counts = [
        pluralize(answer.notices, "notice"),
        pluralize(answer.deliveries, "delivery", "deliveries"),
        pluralize(answer.measures, "measure"),
        pluralize(answer.secrets, "replaced secret"),
        *([pluralize(answer.lineage_events, "lineage event")] if answer.lineage_events else []),
        *([f"the evidence of {pluralize(answer.evidence, 'incident')}"] if answer.evidence else []),
        *(
            [pluralize(answer.schema_uses, "count of schema clients", "counts of schema clients")]
            if answer.schema_uses
            else []
        ),
        *([pluralize(answer.accesses, "access", "accesses")] if answer.accesses else []),
    ]
    if not any(answer.model_dump(exclude={"dry_run", "deliveries"}).values()):
        return None
    return f"{'would delete' if answer.dry_run else 'deleted'} {', '.join(counts)}"


def render_upgrade(console: Console, answer: UpgradeAnswer) -> None:
    """Render the steps of an upgrade with their statements, and the result of the audit check."""
    if not answer.steps:
        console.print(text(f"the database is at revision {answer.after}; nothing is to be upgraded"))
    else:
        done = "dry run, nothing was changed" if answer.dry_run else "done"
        console.print(text(f"upgrade from revision {answer.before or 'none'} to {answer.after}: {done}"))
    for step in answer.steps:
        console.print(text(f"{step.revision}  {step.summary}"))
        for statement in step.statements:
            console.print(text(f"      {' '.join(statement.split())}"))
    render_audit_check(console, answer.audit)


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


def render_rotated_channel(console: Console, channel: ChannelAnswer) -> None:
    """Render which secrets sign the requests of a channel now."""
    if channel.rotates_until is None:
        console.print(text(f"channel {channel.id} is signed with its new secret only"))
    else:
        until = format_time(channel.rotates_until)
        console.print(text(f"channel {channel.id} is signed with the new and the previous secret until {until}"))


def render_removed_channel(console: Console, channel: ChannelAnswer) -> None:
    """Render the removal of a channel in one line."""
    console.print(
        text(
            f"channel {channel.id} is removed; "
            f"{channel.party} no longer receives notices by {channel.kind} {channel.target}".rstrip()
        )
    )


def render_namespaces(console: Console, namespaces: Sequence[NamespaceAnswer]) -> None:
    """Render namespaces with their teams."""
    console.print(
        listing(
            ("prefix", "team", "assigned by", "assigned (UTC)"),
            ((one.prefix, one.team, one.assigned_by, format_time(one.assigned_at)) for one in namespaces),
        )
    )


def render_assigned_namespace(console: Console, namespace: NamespaceAnswer) -> None:
    """Render the new owner of a namespace, and the contracts of other teams in it."""
    console.print(text(f"{namespace.prefix} belongs to {namespace.team}"))
    if namespace.other_contracts:
        count = len(namespace.other_contracts) + namespace.more
        more = f" and {namespace.more:,} more" if namespace.more else ""
        console.print(
            text(f"contracts of other teams in it, which stay with their owners ({count:,}):", style="warning"),
            text(", ".join(namespace.other_contracts) + more),
        )


def render_released_namespace(console: Console, namespace: NamespaceAnswer) -> None:
    """Render the release of a namespace."""
    console.print(text(f"{namespace.prefix} no longer belongs to {namespace.team}"))


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
