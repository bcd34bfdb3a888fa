"""OIDC bearer tokens: issuer, audience and algorithms are pinned, and keys come from the issuer alone."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from treaty.errors import InvalidDocument, Unavailable
from treaty.registry.access.actors import Actor, Grant, Role, Unknown, parse_grant
from treaty.registry.access.fetching import Fetch, fetch_document
from treaty.registry.access.oidc_keys import IssuerKeys
from treaty.registry.access.oidc_settings import OidcSettings
from treaty.registry.access.rules import scopes_for

if TYPE_CHECKING:
    from joserfc.jwk import GuestProtocol, Key

__all__ = ["OidcSettings", "OidcVerifier"]

_LONGEST_NAME = 200
_WHY = {
    "bad_signature": "its signature does not match",
    "expired_token": "it has expired",
    "invalid_claim": "its claim {claim} is not accepted",
    "missing_claim": "its claim {claim} is missing",
    "unsupported_algorithm": "its algorithm is not one of {algorithms}",
}


def _now() -> datetime:
    return datetime.now(UTC)


class OidcVerifier:
    """Turns bearer tokens of one issuer into actors; any number of threads may share it."""

    def __init__(
        self, settings: OidcSettings, fetch: Fetch = fetch_document, clock: Callable[[], datetime] = _now
    ) -> None:
        self._settings = settings
        self._clock = clock
        self._keys = IssuerKeys(settings, fetch, clock)

    def verify(self, token: str) -> Actor:
        """Return who a bearer token was issued to; one that is not accepted is not allowed."""
        claims = self._claims(token)
        grants = _grants(claims.get(self._settings.roles_claim))
        return Actor(self._name(claims), grants, scopes_for(grants), "oidc")

    def _claims(self, token: str) -> Mapping[str, Any]:
        try:
            from joserfc import jws, jwt
            from joserfc.errors import JoseError
        except ImportError:
            raise Unavailable("OIDC needs the package joserfc; run: pip install 'treaty[server]'") from None

        pinned = self._settings
        # A header this does not know is ignored, as RFC 7515 says; one marked critical is refused.
        registry = jws.JWSRegistry(algorithms=pinned.algorithms, strict_check_header=False)
        expected = jwt.JWTClaimsRegistry(
            now=int(self._clock().timestamp()),
            leeway=pinned.leeway,
            iss={"essential": True, "value": pinned.issuer},
            aud={"essential": True, "value": pinned.audience},
            exp={"essential": True},
        )
        try:
            claims = jwt.decode(token, self._key, registry=registry).claims
            expected.validate(claims)
        except JoseError as error:
            raise Unknown(self._refusal(error)) from None
        except (AttributeError, KeyError, RecursionError, TypeError, ValueError):
            # What the parser stumbles on when a token is made to break it.
            raise Unknown("the bearer token cannot be read; sign in again") from None
        return claims

    def _key(self, signed: GuestProtocol) -> Key:
        header = signed.headers()
        return self._keys.find(header["alg"], header.get("kid"))

    def _refusal(self, error: Exception) -> str:
        why = _WHY.get(getattr(error, "error", ""), "it cannot be read")
        said = why.format(claim=getattr(error, "claim", ""), algorithms=", ".join(self._settings.algorithms))
        return f"the bearer token is not accepted: {said}; sign in again"

    def _name(self, claims: Mapping[str, Any]) -> str:
        claim = self._settings.name_claim
        name = claims.get(claim)
        if not isinstance(name, str) or not name.strip() or not name.isprintable() or len(name) > _LONGEST_NAME:
            raise Unknown(f"the bearer token names nobody: its claim {claim!r} is no name; set another name claim")
        if claim == "email" and claims.get("email_verified") is False:
            raise Unknown("the bearer token's email is not verified; verify it and sign in again")
        return name


def expiry_of(token: str) -> datetime | None:
    """Return when a bearer token ends, as it says itself; whether it is to be believed is another question."""
    try:
        payload = token.split(".")[1]
        claims = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
        return datetime.fromtimestamp(claims["exp"], UTC)
    except (IndexError, KeyError, OSError, OverflowError, RecursionError, TypeError, ValueError):
        return None


def _grants(claimed: object) -> tuple[Grant, ...]:
    """Read the roles that are known here; somebody without any is a viewer."""
    texts = claimed if isinstance(claimed, list) else []
    grants = tuple(grant for text in texts if isinstance(text, str) and (grant := _known(text)))
    return tuple(dict.fromkeys(grants)) or (Grant(Role.VIEWER),)


def _known(text: str) -> Grant | None:
    try:
        return parse_grant(text)
    except InvalidDocument:
        return None
