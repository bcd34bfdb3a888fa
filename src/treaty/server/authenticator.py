"""Who is asking: a token, an OIDC bearer token, or nobody in particular."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from datetime import datetime, timedelta

from treaty.errors import NotAllowed
from treaty.registry.access import token_store
from treaty.registry.access.actors import ANONYMOUS, NOBODY, Actor, Unknown, local_actor
from treaty.registry.access.oidc import OidcVerifier, expiry_of
from treaty.registry.access.rules import RULES, Action, who_may
from treaty.registry.access.tokens import actor_of, parse_token
from treaty.registry.store.database import Database
from treaty.server.token_cache import TokenCache

_BEARER = "bearer "
_TOKEN = "treaty_"  # noqa: S105
_LOOKED = timedelta(seconds=1)
_LOCAL = local_actor("local")


@dataclass(frozen=True)
class AccessSettings:
    """How people come in: whether they must sign in, and whether everybody may read."""

    required: bool = False
    open_reading: bool = True


class Authenticator:
    """Says who is asking; as long as nobody could sign in, whoever reaches a loopback server may do everything."""

    def __init__(self, database: Database, settings: AccessSettings, oidc: OidcVerifier | None = None) -> None:
        self._database = database
        self._settings = settings
        self._oidc = oidc
        self._lock = threading.Lock()
        self._guarded = settings.required or oidc is not None
        self._looked_at: datetime | None = None
        self._acquaintances = TokenCache(database.at_hand)

    def actor(self, authorization: str | None) -> Actor:
        """Return who is asking; what cannot be believed is refused, not ignored."""
        if authorization is None:
            return self._unnamed(self.is_guarded())
        return self.actor_for_sure(authorization) or self._signed_in(authorization)

    def ends_at(self, text: str) -> datetime | None:
        """Return when a token that was believed just now ends, if it says so."""
        parts = parse_token(text)
        if parts is None:
            return expiry_of(text)
        with self._database.read() as connection:
            record = token_store.find(connection, parts[0])
        return None if record is None else record.expires_at

    def actor_for_sure(self, authorization: str | None) -> Actor | None:
        """Return who is asking, where nothing has to be asked of the database or a key server."""
        known = self.actor_at_hand(authorization)
        return known if known is not None and self._acquaintances.are_sure_of(known) else None

    def actor_at_hand(self, authorization: str | None) -> Actor | None:
        """Return who seems to be asking: whether a token was taken back is seen once they act."""
        if authorization is not None:
            text = _token_in(authorization)
            return None if text is None else self._acquaintances.recognized(text, self._database.clock())
        looked = self._looked_at
        if self._guarded or (looked is not None and self._database.clock() - looked < _LOOKED):
            return self._unnamed(self._guarded)
        return None

    def is_guarded(self) -> bool:
        """Tell whether one must sign in: it is asked for, or there is a token to sign in with."""
        with self._lock:
            now = self._database.clock()
            if not self._guarded and (self._looked_at is None or now - self._looked_at >= _LOOKED):
                with self._database.read() as connection:
                    self._guarded = token_store.any_ever(connection)
                self._looked_at = now
            return self._guarded

    @property
    def guarded_as_far_as_known(self) -> bool:
        """Whether one must sign in, as it was when somebody last looked."""
        return self._guarded

    def look_again(self) -> None:
        """Forget that nobody could sign in: a token was given out just now."""
        with self._lock:
            self._looked_at = None

    def _unnamed(self, guarded: bool) -> Actor:
        if not guarded:
            return _LOCAL
        return ANONYMOUS if self._settings.open_reading else NOBODY

    def _signed_in(self, authorization: str) -> Actor:
        text = _token_in(authorization)
        if text is None:
            raise Unknown("sign in with 'Authorization: Bearer <token>'")
        if self._oidc is not None and not text.startswith(_TOKEN):
            return self._oidc.verify(text)
        mark = self._database.at_hand.mark()
        with self._database.read() as connection:
            record = token_store.believed(connection, text)
        actor = actor_of(record, self._database.clock())
        self._acquaintances.meet(record, actor, mark)
        return actor


def _token_in(authorization: str) -> str | None:
    """Return the token that somebody signs in with."""
    return authorization[len(_BEARER) :].strip() if authorization.lower().startswith(_BEARER) else None


def check_permission(actor: Actor, action: Action | None) -> None:
    """Turn away who could never do this, before anything else is looked at."""
    rule = RULES.get(action) if action is not None else None
    roles = {grant.role for grant in actor.grants}
    if rule is not None and rule.scope in actor.scopes and roles & (rule.anywhere | rule.in_team):
        return
    if actor.via == "anonymous":
        raise Unknown("sign in to do this: send 'Authorization: Bearer <token>'; tokens come from: treaty token create")
    against = f"{actor.name} may not {action}: no role or scope of theirs allows it"
    raise NotAllowed(
        f"{against}; ask an admin for a token of {who_may(rule)}: treaty token create" if rule else against
    )
