"""Who is asking: a token, an OIDC bearer token, or nobody in particular."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from datetime import datetime, timedelta

from treaty.errors import NotAllowed
from treaty.registry.access import token_store
from treaty.registry.access.actors import ANONYMOUS, NOBODY, Actor, local_actor
from treaty.registry.access.oidc import OidcVerifier, expiry_of
from treaty.registry.access.rules import RULES, Action
from treaty.registry.access.tokens import parse_token
from treaty.registry.store.database import Database

_BEARER = "bearer "
_TOKEN = "treaty_"  # noqa: S105
_LOOKED = timedelta(seconds=1)
_LOCAL = local_actor("local")


class Unknown(NotAllowed):
    """Nobody signed in, or not so that it can be believed."""


@dataclass(frozen=True)
class AccessSettings:
    """How people come in: whether they must sign in, and whether everybody may read."""

    required: bool = False
    open_reading: bool = True


class Doorman:
    """Says who is asking; as long as nobody could sign in, whoever reaches a loopback server may do everything."""

    def __init__(self, database: Database, settings: AccessSettings, oidc: OidcVerifier | None = None) -> None:
        self._database = database
        self._settings = settings
        self._oidc = oidc
        self._lock = threading.Lock()
        self._guarded = settings.required or oidc is not None
        self._looked_at: datetime | None = None

    def actor(self, authorization: str | None) -> Actor:
        """Return who is asking; what cannot be believed is refused, not ignored."""
        if authorization is not None:
            return self._signed_in(authorization)
        return self._unnamed(self.is_guarded())

    def ends_at(self, text: str) -> datetime | None:
        """Return when a token that was believed just now ends, if it says so."""
        parts = parse_token(text)
        if parts is None:
            return expiry_of(text)
        with self._database.read() as connection:
            record = token_store.find(connection, parts[0])
        return None if record is None else record.expires_at

    def knows_without_asking(self, authorization: str | None) -> bool:
        """Tell whether the answer is at hand, without the database or a key server."""
        if authorization is not None:
            return False
        return self._guarded or (self._looked_at is not None and self._database.clock() - self._looked_at < _LOOKED)

    def actor_at_hand(self) -> Actor | None:
        """Return who asks without signing in, where that is known without the database."""
        if not self.knows_without_asking(None):
            return None
        return self._unnamed(self._guarded)

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
        if not authorization.lower().startswith(_BEARER):
            raise Unknown("sign in with 'Authorization: Bearer <token>'")
        text = authorization[len(_BEARER) :].strip()
        try:
            if text.startswith(_TOKEN) or self._oidc is None:
                with self._database.read() as connection:
                    return token_store.sign_in(connection, text, self._database.clock())
            return self._oidc.verify(text)
        except NotAllowed as error:
            raise Unknown(str(error)) from None


def check_entrance(actor: Actor, action: Action | None) -> None:
    """Turn away who could never do this, before anything else is looked at."""
    rule = RULES.get(action) if action is not None else None
    roles = {grant.role for grant in actor.grants}
    if rule is not None and rule.scope in actor.scopes and roles & (rule.anywhere | rule.in_team):
        return
    if actor.via == "anonymous":
        raise Unknown("sign in to do this: send 'Authorization: Bearer <token>'; tokens come from: treaty token create")
    raise NotAllowed(f"{actor.name} may not {action}: no role or scope of theirs allows it")
