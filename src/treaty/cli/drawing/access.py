"""Drawing access: tokens, and the audit log."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from treaty.cli.drawing.console import text
from treaty.cli.drawing.grids import facts, listing, moment
from treaty.registry.answers import AuditAnswer, AuditCheckAnswer, TokenAnswer


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
