"""Sessions of browsers in the database, so that every worker can verify them and end them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Row, bindparam, delete, exists, or_, select, update

from treaty.errors import Conflict, NotFound
from treaty.registry.access.actors import Actor, Scope, parse_grant
from treaty.registry.access.tokens import TokenRecord, actor_of
from treaty.registry.store import tokens
from treaty.registry.store.tables import SESSION_ID_LENGTH, sessions
from treaty.registry.store.transaction import Transaction

_KEPT_AFTER_END = timedelta(hours=1)
"""How long ended sessions are kept: longer than a sign-in takes, so that none is repeated."""

_S = sessions.c
_REPEATED = "this sign-in was completed before; start again from the sign-in page"


@dataclass(frozen=True, slots=True)
class SessionRecord:
    """A session: the digest of its secret id, who signed in, and how long it lasts.

    The permissions of a session that began with an access token are those of the token, as long as the token is valid.
    """

    digest: str
    actor: Actor
    created_at: datetime
    expires_at: datetime
    seen_at: datetime
    login: str | None = None
    """The digest of the state of an OIDC sign-in, which is good for one session."""

    @property
    def id(self) -> str:
        """The name of the session in lists."""
        return self.digest[:SESSION_ID_LENGTH]


def add(transaction: Transaction, record: SessionRecord) -> None:
    """Store a new session; a sign-in that was completed before is refused."""
    if record.login is not None and transaction.read(select(exists().where(_S.login == record.login))).scalar_one():
        raise Conflict(_REPEATED)
    actor = record.actor
    row = {
        "digest": record.digest,
        "name": actor.name,
        "identity": actor.identity,
        "via": actor.via,
        "token": actor.token,
        "grants": [str(grant) for grant in actor.grants],
        "scopes": sorted(scope.value for scope in actor.scopes),
        "login": record.login,
        "created_at": record.created_at,
        "expires_at": record.expires_at,
        "seen_at": record.seen_at,
    }
    transaction.insert(sessions, row)
    transaction.record(actor.name, "session.begin", record.id)


def find(connection: Connection, digest: str, now: datetime) -> SessionRecord | None:
    """Return a session, unless it has ended; raise NotAuthenticated if its token expired or was revoked."""
    row = connection.execute(select(sessions).where(_S.digest == digest, _S.expires_at > now)).one_or_none()
    if row is None:
        return None
    if row.token is None:
        return _record(row)
    token = tokens.find(connection, row.token)
    return None if token is None else _record(row, token, now)


def listed(connection: Connection, now: datetime, after: str, limit: int) -> list[SessionRecord]:
    """Return the sessions that have not ended, in the order of their digests."""
    query = select(sessions).where(_S.expires_at > now, _S.digest > after).order_by(_S.digest).limit(limit)
    return [_record(row) for row in connection.execute(query)]


def named(connection: Connection, identity: str, now: datetime) -> SessionRecord:
    """Return the session with an id as in lists, or raise NotFound."""
    query = select(sessions).where(_S.digest.startswith(identity, autoescape=True), _S.expires_at > now)
    rows = connection.execute(query).all() if len(identity) == SESSION_ID_LENGTH else []
    if len(rows) != 1:
        raise NotFound(f"there is no session {identity[:40]!r}; list them with: treaty admin session list")
    return _record(rows[0])


def end(transaction: Transaction, digest: str, actor: str | None = None) -> None:
    """End a session for an actor, by default for its own; nothing happens if it has ended."""
    query = select(sessions).where(_S.digest == digest, _S.expires_at > transaction.now)
    row = transaction.read(query).one_or_none()
    if row is not None:
        transaction.update(sessions, {"digest": digest}, {"expires_at": transaction.now})
        transaction.record(actor or row.name, "session.end", digest[:SESSION_ID_LENGTH], details={"name": row.name})


def end_of_token(transaction: Transaction, token: str) -> None:
    """End the sessions that began with a token; the entry is that of the revocation."""
    digests = transaction.read(select(_S.digest).where(_S.token == token, _S.expires_at > transaction.now)).scalars()
    for digest in digests.all():
        transaction.update(sessions, {"digest": digest}, {"expires_at": transaction.now})


def mark_seen(connection: Connection, moments: Mapping[str, datetime]) -> None:
    """Store when sessions were last seen, by digest."""
    statement = update(sessions).where(_S.digest == bindparam("key"), _S.seen_at < bindparam("at"))
    parameters = [{"key": digest, "at": at, "seen": at} for digest, at in moments.items()]
    connection.execute(statement.values(seen_at=bindparam("seen")), parameters)


def delete_ended(connection: Connection, now: datetime, idle: timedelta) -> int:
    """Delete the sessions that ended a while ago, and return how many."""
    over = or_(_S.expires_at < now - _KEPT_AFTER_END, _S.seen_at < now - idle - _KEPT_AFTER_END)
    return connection.execute(delete(sessions).where(over)).rowcount


def any_over(connection: Connection, now: datetime, idle: timedelta) -> bool:
    """Return whether `delete_ended` has something to delete."""
    over = or_(_S.expires_at < now - _KEPT_AFTER_END, _S.seen_at < now - idle - _KEPT_AFTER_END)
    return bool(connection.execute(select(exists().where(over))).scalar_one())


def _record(row: Row[Any], token: TokenRecord | None = None, now: datetime | None = None) -> SessionRecord:
    grants, scopes = tuple(map(parse_grant, row.grants)), frozenset(map(Scope, row.scopes))
    actor = Actor(row.name, grants, scopes, row.via, row.token, row.identity)
    if token is not None and now is not None:
        actor = actor_of(token, now)
    return SessionRecord(row.digest, actor, row.created_at, row.expires_at, row.seen_at, row.login)
