"""Access tokens in the database."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, bindparam, exists, or_, select, update
from sqlalchemy.exc import IntegrityError

from treaty.errors import Conflict, NotFound
from treaty.registry.access.actors import Actor, NotAuthenticated, Role, Scope
from treaty.registry.access.tokens import (
    TokenRecord,
    actor_of,
    check_not_revoked,
    check_unknown,
    matches,
    parse_token,
)
from treaty.registry.store.tables import id_of_actor, tokens
from treaty.registry.store.transaction import Transaction

_NOT_A_TOKEN = "the token is not known here; check it, or ask an admin for a new one"  # noqa: S105


def add(transaction: Transaction, record: TokenRecord) -> None:
    """Store the record of a new token."""
    row = {
        "id": record.id,
        "name": record.name,
        "digest": record.digest,
        "role": record.role.value,
        "team": record.team,
        "scopes": sorted(scope.value for scope in record.scopes),
        "created_at": record.created_at,
        "created_by": record.created_by,
        "expires_at": record.expires_at,
        "revoked_at": record.revoked_at,
        "holder": record.holder,
    }
    try:
        transaction.insert(tokens, row)
    except IntegrityError:
        raise Conflict(f"there is a token {record.id} already; make another") from None


def find(connection: Connection, identity: str) -> TokenRecord | None:
    """Return the record with this id, if there is one."""
    row = connection.execute(select(tokens).where(tokens.c.id == identity)).one_or_none()
    return None if row is None else _record(row)


def listed(connection: Connection, after_id: str | None, limit: int) -> tuple[TokenRecord, ...]:
    """Return the records that follow an id, in the order of their ids."""
    query = select(tokens).order_by(tokens.c.id).limit(limit)
    if after_id is not None:
        query = query.where(tokens.c.id > after_id)
    return tuple(_record(row) for row in connection.execute(query))


def revoke(transaction: Transaction, identity: str) -> TokenRecord:
    """Revoke a token; a token that was revoked before keeps its time."""
    record = find(transaction.connection, identity)
    if record is None:
        raise NotFound(f"there is no token {identity!r}; list them with: treaty admin token list")
    if record.revoked_at is not None:
        return record
    transaction.update(tokens, {"id": identity}, {"revoked_at": transaction.now})
    return replace(record, revoked_at=transaction.now)


def any_ever(connection: Connection) -> bool:
    """Return whether a token was ever created; from then on sign-in is required."""
    return connection.execute(select(tokens.c.id).limit(1)).first() is not None


def is_taken(connection: Connection, name: str, now: datetime) -> bool:
    """Return whether a token with this name is valid."""
    in_force = exists().where(_has_name(name), tokens.c.revoked_at.is_(None), tokens.c.expires_at > now)
    return bool(connection.execute(select(in_force)).scalar_one())


def newest_named(connection: Connection, name: str) -> TokenRecord | None:
    """Return the newest token with this name, in force or not."""
    query = select(tokens).where(_has_name(name)).order_by(tokens.c.created_at.desc(), tokens.c.id).limit(1)
    row = connection.execute(query).one_or_none()
    return None if row is None else _record(row)


def _has_name(name: str) -> ColumnElement[bool]:
    return tokens.c.name == id_of_actor(name)


def mark_used(connection: Connection, moments: Mapping[str, datetime]) -> None:
    """Store when tokens were last used, by id."""
    earlier = or_(tokens.c.last_used_at.is_(None), tokens.c.last_used_at < bindparam("at"))
    statement = update(tokens).where(tokens.c.id == bindparam("key"), earlier).values(last_used_at=bindparam("used"))
    connection.execute(statement, [{"key": token, "at": at, "used": at} for token, at in moments.items()])


def belongs_to_other(connection: Connection, name: str, identity: str) -> bool:
    """Return whether tokens with this name were created and none of them for this identity."""
    holders = set(connection.execute(select(tokens.c.holder).where(_has_name(name))).scalars())
    return bool(holders) and identity not in holders


def sign_in(connection: Connection, text: str, now: datetime) -> Actor:
    """Return the actor of a token; that it expired or was revoked is reported only to the owner of the secret."""
    return actor_of(believed(connection, text), now)


def believed(connection: Connection, text: str) -> TokenRecord:
    """Return the record of a token if the secret matches, or raise Unknown."""
    parts = parse_token(text)
    if parts is None:
        raise NotAuthenticated(_NOT_A_TOKEN)
    identity, secret = parts
    record = find(connection, identity)
    if record is None:
        check_unknown(secret)
        raise NotAuthenticated(_NOT_A_TOKEN)
    if not matches(record, secret):
        raise NotAuthenticated(_NOT_A_TOKEN)
    return record


def check_in_force(connection: Connection, identity: str) -> None:
    """Raise Unknown for a token that was verified before and revoked since."""
    record = find(connection, identity)
    if record is None:
        raise NotAuthenticated(_NOT_A_TOKEN)
    check_not_revoked(record)


def _record(row: Row[Any]) -> TokenRecord:
    return TokenRecord(
        id=row.id,
        name=row.name,
        digest=row.digest,
        role=Role(row.role),
        team=row.team,
        scopes=frozenset(Scope(scope) for scope in row.scopes),
        created_at=row.created_at,
        created_by=row.created_by,
        expires_at=row.expires_at,
        revoked_at=row.revoked_at,
        holder=row.holder,
        last_used_at=row.last_used_at,
    )
