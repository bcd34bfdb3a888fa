"""Who sends a request: the holder of an access token, of an OIDC token, or an anonymous client."""

from __future__ import annotations

import threading
from dataclasses import replace
from datetime import datetime, timedelta
from urllib.parse import urlsplit

from treaty.errors import NotAllowed
from treaty.registry.access.actors import ANONYMOUS, NO_ACCESS, Actor, NotAuthenticated, local_actor
from treaty.registry.access.oidc import OidcVerifier, expiry_of
from treaty.registry.access.permissions import RULES, Action, who_may
from treaty.registry.access.tokens import actor_of, parse_token
from treaty.registry.store import tokens
from treaty.registry.store.database import Database
from treaty.server.sessions import Sessions
from treaty.server.settings import AccessSettings
from treaty.server.token_cache import TokenCache
from treaty.server.usage import UsageRecorder

_BEARER = "bearer "
_TOKEN_PREFIX = "treaty_"  # noqa: S105
_RECHECK_INTERVAL = timedelta(seconds=1)
_LOCAL = local_actor("local")


class Authenticator:
    """Turns an Authorization header into an actor.

    Until a token exists or OIDC is configured, every client that reaches the server is an administrator. The
    middleware lets only this machine reach such a server.
    """

    def __init__(self, database: Database, settings: AccessSettings, oidc: OidcVerifier | None = None) -> None:
        self._database = database
        self._settings = settings
        self._oidc = oidc
        self._lock = threading.Lock()
        self._sign_in_required = settings.required or oidc is not None
        self._checked_at: datetime | None = None
        self._tokens = TokenCache(database.read_cache)
        self.usage = UsageRecorder(database)
        self.sessions = Sessions(database, settings.session, self.usage)

    def actor(self, authorization: str | None) -> Actor:
        """Return who sends the request; raise Unknown for credentials that are invalid."""
        if authorization is None:
            return self._without_credentials(self.requires_sign_in())
        return self.cached_actor(authorization) or self._verify(authorization)

    def cached_actor(self, authorization: str | None) -> Actor | None:
        """Return what `actor` does if neither the database nor a key server is needed for it; None otherwise."""
        actor = self.unconfirmed_actor(authorization)
        return actor if actor is not None and self._tokens.is_current(actor) else None

    def unconfirmed_actor(self, authorization: str | None) -> Actor | None:
        """Return a cached actor whose token may have been revoked: for writes, whose transaction checks for that."""
        if authorization is not None:
            text = _bearer_token(authorization)
            if text is None:
                return None
            now = self._database.clock()
            actor = self._tokens.find(text, now)
            if actor is not None and actor.token is not None:
                self.usage.note_token(actor.token, now)
            return actor
        checked_at = self._checked_at
        if self._sign_in_required or (
            checked_at is not None and self._database.clock() - checked_at < _RECHECK_INTERVAL
        ):
            return self._without_credentials(self._sign_in_required)
        return None

    def expires_at(self, text: str) -> datetime | None:
        """Return when a verified token expires, if it states that."""
        parts = parse_token(text)
        if parts is None:
            return expiry_of(text)
        with self._database.read() as connection:
            record = tokens.find(connection, parts[0])
        return None if record is None else record.expires_at

    def requires_sign_in(self) -> bool:
        """Return whether clients must sign in: because of the settings, or because a token exists."""
        with self._lock:
            now = self._database.clock()
            if not self._sign_in_required and (self._checked_at is None or now - self._checked_at >= _RECHECK_INTERVAL):
                with self._database.read() as connection:
                    self._sign_in_required = tokens.any_ever(connection)
                self._checked_at = now
            return self._sign_in_required

    @property
    def sign_in_required(self) -> bool:
        """What `requires_sign_in` returned last, without a query."""
        return self._sign_in_required

    def recheck(self) -> None:
        """Look for tokens with the next request: one was created."""
        with self._lock:
            self._checked_at = None

    def unmistakable(self, actor: Actor) -> Actor:
        """Return a user of the identity provider, with the issuer in the name if tokens of others have that name."""
        with self._database.read() as connection:
            if not tokens.belongs_to_other(connection, actor.name, actor.identity):
                return actor
        issuer = urlsplit(actor.identity.partition("#")[0]).netloc
        return replace(actor, name=f"{actor.name} ({issuer})")

    def _without_credentials(self, sign_in_required: bool) -> Actor:
        if not sign_in_required:
            return _LOCAL
        return ANONYMOUS if self._settings.open_reading else NO_ACCESS

    def _verify(self, authorization: str) -> Actor:
        text = _bearer_token(authorization)
        if text is None:
            raise NotAuthenticated("sign in with 'Authorization: Bearer <token>'")
        if self._oidc is not None and not text.startswith(_TOKEN_PREFIX):
            return self.unmistakable(self._oidc.verify(text))
        stamp = self._database.read_cache.stamp()
        with self._database.read() as connection:
            record = tokens.believed(connection, text)
        now = self._database.clock()
        actor = actor_of(record, now)
        self._tokens.add(record, actor, stamp)
        self.usage.note_token(record.id, now)
        return actor


def _bearer_token(authorization: str) -> str | None:
    return authorization[len(_BEARER) :].strip() if authorization.lower().startswith(_BEARER) else None


def check_permission(actor: Actor, action: Action | None) -> None:
    """Refuse an actor without any role and scope for an action, before the request is read."""
    rule = RULES.get(action) if action is not None else None
    roles = {grant.role for grant in actor.grants}
    if rule is not None and rule.scope in actor.scopes and roles & (rule.anywhere | rule.in_team):
        return
    if actor.via == "anonymous":
        raise NotAuthenticated(
            "sign in to do this: send 'Authorization: Bearer <token>'; tokens come from: treaty admin token create"
        )
    reason = f"{actor.name} may not {action}: none of its roles and scopes allows it"
    raise NotAllowed(
        f"{reason}; ask an admin for a token of {who_may(rule)}: treaty admin token create" if rule else reason
    )
