"""Tokens: given out once, kept as digests, taken back."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta

from treaty.errors import Conflict, InvalidDocument
from treaty.registry.access import token_store
from treaty.registry.access.actors import Actor, Grant, Role, Scope
from treaty.registry.access.rules import Action, Resource, authorize, scopes_for
from treaty.registry.access.tokens import DEFAULT_LIFETIME, TokenRecord, in_force, mint
from treaty.registry.answers import MintedAnswer, TokenAnswer
from treaty.registry.names import check_name
from treaty.registry.store.transaction import Transaction

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
    if name in _RESERVED or token_store.is_taken(transaction.connection, name, transaction.now):
        raise Conflict(f"the name {name!r} is taken: the audit log tells people apart by it; choose another")
    wanted = _role(role)
    lifetime = timedelta(days=days) if days is not None else DEFAULT_LIFETIME
    within = [_scope(one) for one in scopes] or scopes_for([Grant(wanted, team)])
    minted = mint(transaction.now, name, wanted, team, within, actor.name, lifetime)
    record = minted.record
    transaction.record(
        actor.name,
        "token.create",
        record.id,
        after=answer(record).model_dump(),
        details={"name": name, "role": role, "team": team, "scopes": sorted(record.scopes)},
    )
    transaction.change(lambda connection: token_store.add(connection, record))
    return MintedAnswer(**answer(record).model_dump(), token=minted.secret_text)


def revoke_token(transaction: Transaction, actor: Actor, identity: str) -> TokenAnswer:
    """Take a token back; it is refused from now on."""
    authorize(actor, Action.MANAGE_TOKENS, Resource("token", identity))
    stood = token_store.find(transaction.connection, identity)
    revoked = transaction.change(lambda connection: token_store.revoke(connection, identity, transaction.now))
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
