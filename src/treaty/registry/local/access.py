"""Access: tokens, and the audit log of who did what."""

from __future__ import annotations

from collections.abc import Sequence

from treaty.errors import InvalidDocument
from treaty.registry import auditing, issuing
from treaty.registry.access import token_store
from treaty.registry.access.rules import Action
from treaty.registry.answers import AuditAnswer, AuditCheckAnswer, MintedAnswer, Page, TokenAnswer
from treaty.registry.local.desk import Desk
from treaty.registry.pages import PAGE, after, check_limit, page_of


class Access:
    """Who may come in, and what they did."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def create_token(
        self, name: str, *, role: str, team: str | None = None, scopes: Sequence[str] = (), days: int | None = None
    ) -> MintedAnswer:
        """Give out a token; its secret is shown this once."""
        return self._desk.write(lambda it: issuing.create_token(it, self._desk.actor, name, role, team, scopes, days))

    def tokens(self, *, cursor: str | None = None, limit: int = PAGE) -> Page[TokenAnswer]:
        """List tokens, without their secrets."""
        check_limit(limit)
        (start,) = after(cursor, "")
        found = self._desk.read(lambda it: token_store.listed(it, str(start), limit + 1), Action.MANAGE_TOKENS)
        return page_of([issuing.answer(one) for one in found], limit, lambda one: (one.id,))

    def revoke_token(self, identity: str) -> TokenAnswer:
        """Take a token back."""
        return self._desk.write(lambda it: issuing.revoke_token(it, self._desk.actor, identity))

    def audit(
        self, *, subject: str | None = None, actor: str | None = None, cursor: str | None = None, limit: int = PAGE
    ) -> Page[AuditAnswer]:
        """List who did what; a subject stands for all that begins with it."""
        check_limit(limit)
        (start,) = after(cursor, 0)
        found = self._desk.read(lambda it: auditing.page(it, subject, actor, int(start), limit + 1), Action.AUDIT)
        return page_of(found, limit, lambda one: (one.seq,))

    def verify_audit(self, *, head: str | None = None) -> AuditCheckAnswer:
        """Check that the audit log is whole; a head that was kept must still be in it."""
        known = _head(head) if head is not None else None
        return self._desk.read(lambda it: auditing.verify(it, known), Action.AUDIT)


def _head(text: str) -> tuple[int, str]:
    seq, colon, digest = text.partition(":")
    if not colon or not seq.isascii() or not seq.isdigit() or len(seq) > 18:
        raise InvalidDocument(f"{text[:80]!r} is no head of an audit log; it is printed like 42:9f86d0…")
    return int(seq), digest
