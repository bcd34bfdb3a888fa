"""Access tokens and the audit log."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import timedelta

from treaty.errors import Conflict, InvalidDocument
from treaty.registry.access.actors import Actor, Grant, Role, Scope
from treaty.registry.access.permissions import Action, Resource, authorize, scopes_for
from treaty.registry.access.tokens import DEFAULT_LIFETIME, TokenRecord, in_force, mint
from treaty.registry.api import AccessApi
from treaty.registry.documents import check_name
from treaty.registry.model import AuditAnswer, AuditCheckAnswer, MintedAnswer, Page, TokenAnswer
from treaty.registry.model.page import PAGE, after, check_limit, page_of
from treaty.registry.service.checkpoints import read_checkpoints
from treaty.registry.service.context import EVERYTHING, Context
from treaty.registry.store import audit_check, audit_log, tokens
from treaty.registry.store.audit_check import Head
from treaty.registry.store.transaction import Transaction


class Access(AccessApi):
    """Access tokens and the audit log."""

    def __init__(self, context: Context) -> None:
        self._context = context

    def create_token(
        self, name: str, *, role: str, team: str | None = None, scopes: Sequence[str] = (), days: int | None = None
    ) -> MintedAnswer:
        """Create a token; its secret is returned only here."""
        return self._context.write(
            lambda transaction: create_token(transaction, self._context.actor, name, role, team, scopes, days)
        )

    def tokens(self, *, cursor: str | None = None, limit: int = PAGE) -> Page[TokenAnswer]:
        """List tokens without their secrets."""
        check_limit(limit)
        (start,) = after(cursor, "")
        rows = self._context.read(
            lambda connection: tokens.listed(connection, str(start), limit + 1), Action.MANAGE_TOKENS
        )
        return page_of([answer(token) for token in rows], limit, lambda token: (token.id,))

    def revoke_token(self, identity: str) -> TokenAnswer:
        """Revoke a token."""
        return self._context.write(lambda transaction: revoke_token(transaction, self._context.actor, identity))

    def audit(
        self, *, subject: str | None = None, actor: str | None = None, cursor: str | None = None, limit: int = PAGE
    ) -> Page[AuditAnswer]:
        """List audit entries, optionally of one actor or of subjects that begin with a text."""
        check_limit(limit)
        (start,) = after(cursor, 0)
        rows = self._context.read(
            lambda connection: audit_log.page(connection, subject, actor, int(start), limit + 1), Action.AUDIT
        )
        return page_of(rows, limit, lambda row: (row.seq,))

    def verify_audit(self, *, head: str | None = None) -> AuditCheckAnswer:
        """Check the audit log, the registry against it, and a noted head and the signed checkpoints against the log."""
        noted = [_head(head)] if head is not None else []
        authorize(self._context.actor, Action.AUDIT, EVERYTHING)
        checkpoints, unsigned = read_checkpoints(self._context.rules.checkpoints)
        with self._context.database.snapshot() as connection:
            result = audit_check.verify(connection, [*noted, *checkpoints])
        return result.model_copy(
            update={
                "whole": result.whole and not unsigned,
                "breaks": [*result.breaks, *unsigned],
                "checkpoints": len(checkpoints),
            }
        )


def _head(text: str) -> Head:
    seq, colon, digest = text.partition(":")
    if not colon or not seq.isascii() or not seq.isdigit() or len(seq) > 18:
        raise InvalidDocument(f"{text[:80]!r} is no head of an audit log; it is printed like 42:9f86d0…")
    return Head(int(seq), digest)


_RESERVED = frozenset({"local", "calendar", "anonymous"})
"""Names that the registry itself acts under."""


def create_token(
    transaction: Transaction,
    actor: Actor,
    name: str,
    role: str,
    team: str | None = None,
    scopes: Iterable[str] = (),
    days: int | None = None,
) -> MintedAnswer:
    """Give out a token; its secret is in this answer and nowhere else."""
    check_name(name, "token")
    authorize(actor, Action.MANAGE_TOKENS, Resource("token", name))
    if name in _RESERVED or tokens.is_taken(transaction.connection, name, transaction.now):
        raise Conflict(f"the name {name!r} is taken: the audit log tells people apart by it; choose another")
    wanted = _role(role)
    lifetime = timedelta(days=days) if days is not None else DEFAULT_LIFETIME
    within = [_scope(scope) for scope in scopes] or scopes_for([Grant(wanted, team)])
    minted = mint(transaction.now, name, wanted, team, within, actor.name, lifetime)
    record = minted.record
    transaction.record(
        actor.name,
        "token.create",
        record.id,
        after=answer(record).model_dump(),
        details={"name": name, "role": role, "team": team, "scopes": sorted(record.scopes)},
    )
    tokens.add(transaction, record)
    return MintedAnswer(**answer(record).model_dump(), token=minted.secret_text)


def revoke_token(transaction: Transaction, actor: Actor, identity: str) -> TokenAnswer:
    """Take a token back; it is refused from now on."""
    authorize(actor, Action.MANAGE_TOKENS, Resource("token", identity))
    stood = tokens.find(transaction.connection, identity)
    revoked = tokens.revoke(transaction, identity)
    transaction.forget(in_force(identity))
    transaction.record(
        actor.name,
        "token.revoke",
        identity,
        before=answer(stood or revoked).model_dump(),
        after=answer(revoked).model_dump(),
        details={"name": revoked.name},
    )
    return answer(revoked)


def answer(record: TokenRecord) -> TokenAnswer:
    """Return a token without its secret or its digest."""
    return TokenAnswer(
        id=record.id,
        name=record.name,
        role=record.role.value,
        team=record.team,
        scopes=sorted(record.scopes),
        created_at=record.created_at,
        created_by=record.created_by,
        expires_at=record.expires_at,
        revoked_at=record.revoked_at,
    )


def _role(text: str) -> Role:
    try:
        return Role(text)
    except ValueError:
        raise InvalidDocument(f"unknown role {text[:40]!r}; use one of: {', '.join(Role)}") from None


def _scope(text: str) -> Scope:
    try:
        return Scope(text)
    except ValueError:
        raise InvalidDocument(f"unknown scope {text[:40]!r}; use one of: {', '.join(Scope)}") from None
