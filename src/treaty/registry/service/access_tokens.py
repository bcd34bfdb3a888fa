"""Access tokens and the audit log."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from treaty.errors import Conflict, InvalidDocument
from treaty.registry.access.actors import RESERVED_NAMES, Actor, Grant, Role, Scope
from treaty.registry.access.oidc_settings import check_address
from treaty.registry.access.permissions import Action, Resource, authorize, scopes_for
from treaty.registry.access.tokens import DEFAULT_LIFETIME, TokenRecord, in_force, mint, token_identity
from treaty.registry.api import AccessApi
from treaty.registry.documents import check_name
from treaty.registry.model import (
    AuditAnswer,
    AuditCheckAnswer,
    ErasureAnswer,
    MintedAnswer,
    Page,
    SessionAnswer,
    TokenAnswer,
)
from treaty.registry.model.page import PAGE, after, check_limit, page_of
from treaty.registry.service.checkpoints import read_checkpoints
from treaty.registry.service.context import EVERYTHING, Context
from treaty.registry.service.erasure import erase_actor
from treaty.registry.store import audit_check, audit_log, sessions, tokens
from treaty.registry.store.audit_check import Head
from treaty.registry.store.sessions import SessionRecord
from treaty.registry.store.transaction import Transaction


class Access(AccessApi):
    """Access tokens and the audit log."""

    def __init__(self, context: Context) -> None:
        self._context = context

    def create_token(
        self,
        name: str,
        *,
        role: str,
        team: str | None = None,
        scopes: Sequence[str] = (),
        days: int | None = None,
        holder: str | None = None,
    ) -> MintedAnswer:
        """Create a token, optionally for another identity; its secret is returned only here."""
        return self._context.write(
            lambda transaction: create_token(transaction, self._context.actor, name, role, team, scopes, days, holder)
        )

    def tokens(self, *, cursor: str | None = None, limit: int = PAGE) -> Page[TokenAnswer]:
        """List tokens without their secrets."""
        check_limit(limit)
        (start,) = after(cursor, "")
        rows = self._context.read(
            lambda connection, _: tokens.listed(connection, str(start), limit + 1), Action.MANAGE_TOKENS
        )
        unused = timedelta(days=self._context.rules.unused_token_days)
        answers = [_with_usage(token, self._context.now, unused) for token in rows]
        return page_of(answers, limit, lambda token: (token.id,))

    def revoke_token(self, identity: str) -> TokenAnswer:
        """Revoke a token."""
        return self._context.write(lambda transaction: revoke_token(transaction, self._context.actor, identity))

    def sessions(self, *, cursor: str | None = None, limit: int = PAGE) -> Page[SessionAnswer]:
        """List the browser sessions that have not ended."""
        check_limit(limit)
        (start,) = after(cursor, "")
        rows = self._context.read(
            lambda connection, _: sessions.listed(connection, self._context.now, str(start), limit + 1),
            Action.MANAGE_TOKENS,
        )
        page = page_of(rows, limit, lambda row: (row.digest,))
        return Page(items=[_session_answer(row) for row in page.items], next=page.next)

    def end_session(self, identity: str) -> SessionAnswer:
        """End a browser session."""
        return self._context.write(lambda transaction: end_session(transaction, self._context.actor, identity))

    def erase_actor(self, name: str, *, dry_run: bool = False) -> ErasureAnswer:
        """Erase the name of an actor from the registry; the audit log keeps its id."""
        return erase_actor(self._context, name, dry_run=dry_run)

    def audit(
        self, *, subject: str | None = None, actor: str | None = None, cursor: str | None = None, limit: int = PAGE
    ) -> Page[AuditAnswer]:
        """List audit entries, optionally of one actor or of subjects that begin with a text."""
        check_limit(limit)
        (start,) = after(cursor, 0)
        rows = self._context.read(
            lambda connection, _: audit_log.page(connection, subject, actor, int(start), limit + 1), Action.AUDIT
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


def create_token(
    transaction: Transaction,
    actor: Actor,
    name: str,
    role: str,
    team: str | None = None,
    scopes: Iterable[str] = (),
    days: int | None = None,
    holder: str | None = None,
) -> MintedAnswer:
    """Give out a token; its secret is in this answer and nowhere else."""
    check_name(name, "token")
    authorize(actor, Action.MANAGE_TOKENS, Resource("token", name))
    if name in RESERVED_NAMES or tokens.is_taken(transaction.connection, name, transaction.now):
        raise Conflict(f"the name {name!r} is taken: the audit log tells people apart by it; choose another")
    wanted = _role(role)
    lifetime = timedelta(days=days) if days is not None else DEFAULT_LIFETIME
    within = _scopes(Grant(wanted, team), scopes)
    owner = _holder(transaction, name, holder)
    minted = mint(transaction.now, name, wanted, team, within, actor.name, lifetime, holder=owner)
    record = minted.record
    transaction.record(
        actor.name,
        "token.create",
        record.id,
        after=_state(record),
        details={"name": name, "role": role, "team": team, "scopes": sorted(record.scopes)},
    )
    tokens.add(transaction, record)
    return MintedAnswer(**answer(record).model_dump(), token=minted.secret_text)


def _holder(transaction: Transaction, name: str, requested: str | None) -> str | None:
    """Return the identity that a token acts as; None for one of its own.

    A token with the name of an earlier one is taken for its renewal: the holder still cannot approve proposals made
    with the earlier token.
    """
    if requested is None:
        earlier = tokens.newest_named(transaction.connection, name)
        return None if earlier is None else earlier.identity
    if requested.startswith(token_identity("")):
        other = tokens.find(transaction.connection, requested.removeprefix(token_identity("")))
        if other is None:
            raise InvalidDocument(f"there is no token {requested[:40]!r}; list them with: treaty admin token list")
        return other.identity
    issuer, separator, subject = requested.partition("#")
    if not separator or not subject.strip() or not requested.isprintable():
        raise InvalidDocument(f"{requested[:80]!r} is no identity; write token:ID, or ISSUER#SUBJECT of an OIDC user")
    check_address(issuer, "the issuer")
    return requested


def revoke_token(transaction: Transaction, actor: Actor, identity: str) -> TokenAnswer:
    """Take a token back; it is refused from now on."""
    authorize(actor, Action.MANAGE_TOKENS, Resource("token", identity))
    stood = tokens.find(transaction.connection, identity)
    revoked = tokens.revoke(transaction, identity)
    sessions.end_of_token(transaction, identity)
    transaction.forget(in_force(identity))
    transaction.record(
        actor.name,
        "token.revoke",
        identity,
        before=_state(stood or revoked),
        after=_state(revoked),
        details={"name": revoked.name},
    )
    return answer(revoked)


def _state(record: TokenRecord) -> dict[str, object]:
    """Return what the audit log digests of a token: no names, which could be guessed from the digest."""
    return answer(record).model_dump(exclude={"name", "identity", "created_by"})


def end_session(transaction: Transaction, actor: Actor, identity: str) -> SessionAnswer:
    """End a session of any user; the browser has to sign in again."""
    authorize(actor, Action.MANAGE_TOKENS, Resource("session", identity))
    record = sessions.named(transaction.connection, identity, transaction.now)
    sessions.end(transaction, record.digest, actor.name)
    return _session_answer(record)


def _session_answer(record: SessionRecord) -> SessionAnswer:
    return SessionAnswer(
        id=record.id,
        name=record.actor.name,
        identity=record.actor.identity,
        token=record.actor.token,
        created_at=record.created_at,
        seen_at=record.seen_at,
        expires_at=record.expires_at,
    )


def _with_usage(record: TokenRecord, now: datetime, period: timedelta) -> TokenAnswer:
    usage = {"last_used_at": record.last_used_at, "unused": record.is_unused(now, period)}
    return answer(record).model_copy(update=usage)


def answer(record: TokenRecord) -> TokenAnswer:
    """Return a token without its secret or its digest."""
    return TokenAnswer(
        id=record.id,
        name=record.name,
        identity=record.identity,
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


def _scopes(grant: Grant, requested: Iterable[str]) -> frozenset[Scope]:
    """Return the requested scopes, by default all that the role has a use for; more than those are refused."""
    allowed = scopes_for([grant])
    wanted = frozenset(_scope(scope) for scope in requested)
    if more := sorted(wanted - allowed):
        raise InvalidDocument(
            f"the role {grant.role} has no use for the scope {more[0]}; use one of: {', '.join(sorted(allowed))}"
        )
    return wanted or allowed


def _scope(text: str) -> Scope:
    try:
        return Scope(text)
    except ValueError:
        raise InvalidDocument(f"unknown scope {text[:40]!r}; use one of: {', '.join(Scope)}") from None
