"""OIDC bearer tokens: issuer, audience and algorithms are pinned, and keys come from the issuer alone."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, Any

from treaty.errors import InvalidDocument, Unavailable
from treaty.registry.access.actors import RESERVED_NAMES, Actor, Grant, NotAuthenticated, Role, parse_grant
from treaty.registry.access.oidc_settings import ALGORITHMS, OidcSettings, check_address
from treaty.registry.access.permissions import scopes_for

if TYPE_CHECKING:
    from joserfc.jwk import GuestProtocol, Key
    from joserfc.jwt import ClaimsOption


KEY_LIFETIME = timedelta(hours=1)
UNKNOWN_KEY_PAUSE = timedelta(
    minutes=1
)  # between fetches because of keys that are not known: tokens cannot make us hammer
FAILURE_PAUSE = timedelta(seconds=5)  # after a failure: a key server that is down holds up one request, not all

_PUBLIC = ("kty", "kid", "use", "alg", "key_ops", "n", "e", "crv", "x", "y")
_LEAST_RSA_BITS = 2048


@dataclass(frozen=True, slots=True)
class _Keys:
    keys: tuple[Key, ...] = ()
    fetched: datetime | None = None
    tried: datetime | None = None
    trouble: str | None = None

    def fresh(self, now: datetime) -> bool:
        return self.fetched is not None and abs(now - self.fetched) < KEY_LIFETIME

    def due(self, now: datetime) -> bool:
        if self.tried is None or (self.trouble is None and not self.fresh(now)):
            return True
        return abs(now - self.tried) >= (UNKNOWN_KEY_PAUSE if self.fresh(now) else FAILURE_PAUSE)

    def pick(self, algorithm: str, identity: str | None) -> Key | None:
        kind = ALGORITHMS[algorithm]
        candidates = [key for key in self.keys if key.key_type == kind and identity in (None, key.kid)]
        return candidates[0] if len(candidates) == 1 else None  # a token without a key id must match one key only


class IssuerKeys:
    """The keys of one issuer; a known key is found without a request."""

    def __init__(self, settings: OidcSettings, fetch: Fetch, clock: Callable[[], datetime]) -> None:
        self._settings = settings
        self._fetch = fetch
        self._clock = clock
        self._lock = Lock()
        self._state = _Keys()

    def find(self, algorithm: str, identity: str | None) -> Key:
        """Return the key that a token names."""
        state = self._state
        if state.fresh(self._clock()) and (key := state.pick(algorithm, identity)):
            return key
        state = self._renewed(state)
        if state.fresh(self._clock()) and (key := state.pick(algorithm, identity)):
            return key
        if state.trouble is not None:
            raise Unavailable(state.trouble)
        raise NotAuthenticated("the bearer token is not accepted: its issuer has no such key; sign in again")

    def _renewed(self, seen: _Keys) -> _Keys:
        with self._lock:
            now = self._clock()
            if self._state is seen and seen.due(now):
                self._state = self._fetched(now)
            return self._state

    def _fetched(self, now: datetime) -> _Keys:
        try:
            return _Keys(load_keys(self._settings, self._fetch), fetched=now, tried=now)
        except Unavailable as error:
            return replace(self._state, tried=now, trouble=str(error))


def load_keys(settings: OidcSettings, fetch: Fetch) -> tuple[Key, ...]:
    """Fetch the keys of an issuer that its pinned algorithms can use."""
    url = settings.jwks_url or endpoint(settings, discover(settings, fetch), "jwks_uri")
    published = _document(url, fetch).get("keys")
    kinds = [ALGORITHMS[name] for name in settings.algorithms]
    entries = published if isinstance(published, list) else []
    keys = tuple(
        key
        for entry in entries
        if isinstance(entry, dict) and entry.get("kty") in kinds and (key := _public_key(entry))
    )
    if not keys:
        raise Unavailable(f"{url} has no key for {', '.join(settings.algorithms)}; check the OIDC settings")
    return keys


def discover(settings: OidcSettings, fetch: Fetch) -> Mapping[str, Any]:
    """Return the metadata of an issuer, which must name the same issuer."""
    url = _metadata_url(settings)
    document = _document(url, fetch)
    if document.get("issuer") != settings.issuer:
        raise Unavailable(f"{url} speaks for another issuer than {settings.issuer}; check the OIDC settings")
    return document


def endpoint(settings: OidcSettings, metadata: Mapping[str, Any], name: str) -> str:
    """Return an address from the metadata of an issuer, which must be as safe as that of the issuer."""
    url, address = _metadata_url(settings), metadata.get(name)
    try:
        check_address(str(address), name)
    except InvalidDocument as error:
        raise Unavailable(f"{url}: {error}") from None
    if settings.issuer.startswith("https:") and not str(address).startswith("https:"):
        what = "keys over plain http; set the address of the keys" if name == "jwks_uri" else f"a plain http {name}"
        raise Unavailable(f"{url} leads to {what}")
    return str(address)


def _metadata_url(settings: OidcSettings) -> str:
    return f"{settings.issuer.rstrip('/')}/.well-known/openid-configuration"


def _document(url: str, fetch: Fetch) -> Mapping[str, Any]:
    try:
        document = json.loads(fetch(url))
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        raise Unavailable(f"{url} is not a JSON document; check the OIDC settings")
    return document


def _public_key(entry: Mapping[str, Any]) -> Key | None:
    """Read the public part of a key; one that is weak, not for signatures or not understood is left out."""
    from joserfc.errors import JoseError
    from joserfc.jwk import JWKRegistry
    from joserfc.util import base64_to_int

    public = {name: entry[name] for name in _PUBLIC if name in entry}
    try:
        if public.get("use", "sig") != "sig":
            return None
        if public["kty"] == "RSA" and base64_to_int(public["n"]).bit_length() < _LEAST_RSA_BITS:
            return None
        return JWKRegistry.import_key(public)
    except (AttributeError, JoseError, KeyError, TypeError, ValueError):
        return None


Fetch = Callable[[str], bytes]
"""Returns what is at an address, or raises Unavailable."""

FETCH_TIMEOUT_S = 5.0
MAX_DOCUMENT_BYTES = 1_000_000


def fetch_document(url: str) -> bytes:
    """Return the document at an address; proxies and certificates named in the environment are not used."""
    status, body = _request("GET", url, {})
    if status != 200:
        raise Unavailable(f"{url} answers {status}, not 200; check the address")
    return body


def post_form(url: str, form: Mapping[str, str], headers: Mapping[str, str]) -> tuple[int, bytes]:
    """Send a form and return the status and body of the answer; redirects are not followed."""
    return _request("POST", url, headers, form)


def _request(
    method: str, url: str, headers: Mapping[str, str], form: Mapping[str, str] | None = None
) -> tuple[int, bytes]:
    try:
        import httpx2
    except ImportError:
        raise Unavailable("OIDC needs the package httpx2; run: pip install 'treaty[server]'") from None

    deadline = monotonic() + FETCH_TIMEOUT_S
    # Not compressed, so that the size read is the size sent.
    sent = {"accept": "application/json", "accept-encoding": "identity", **headers}
    body = bytearray()
    try:
        with httpx2.stream(method, url, headers=sent, data=form, timeout=FETCH_TIMEOUT_S, trust_env=False) as response:
            for chunk in response.iter_raw():
                body += chunk
                if len(body) > MAX_DOCUMENT_BYTES:
                    raise Unavailable(f"{url} sends more than {MAX_DOCUMENT_BYTES} bytes; check the address")
                if monotonic() > deadline:
                    raise Unavailable(f"{url} takes more than {FETCH_TIMEOUT_S:.0f} s; try again")
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
        raise Unavailable(f"cannot reach {url}: {error or type(error).__name__}; try again") from None
    return response.status_code, bytes(body)


_MAX_NAME_LENGTH = 200
_MAX_SUBJECT_LENGTH = 255  # OpenID Connect Core, 2
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
        """Return the actor of a bearer token, or raise Unknown."""
        return self._actor(self._claims(token, "bearer token", self._settings.audience))

    def verify_id_token(self, token: str, nonce: str) -> Actor:
        """Return the actor of an ID token for this client and this sign-in, or raise NotAuthenticated."""
        client = self._settings.client_id or ""
        claims = self._claims(token, "ID token", client, nonce={"essential": True, "value": nonce})
        if claims.get("azp", client) != client:
            raise NotAuthenticated("the ID token is not accepted: it was issued for another client; sign in again")
        return self._actor(claims)

    def _actor(self, claims: Mapping[str, Any]) -> Actor:
        grants = _grants(claims.get(self._settings.roles_claim))
        name, identity = self._name(claims), f"{self._settings.issuer}#{self._subject(claims)}"
        return Actor(name, grants, scopes_for(grants), "oidc", identity=identity)

    def _claims(self, token: str, noun: str, audience: str, **others: ClaimsOption) -> Mapping[str, Any]:
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
            aud={"essential": True, "value": audience},
            exp={"essential": True},
            **others,
        )
        try:
            claims = jwt.decode(token, self._key, registry=registry).claims
            expected.validate(claims)
        except JoseError as error:
            raise NotAuthenticated(self._refusal(noun, error)) from None
        except (AttributeError, KeyError, RecursionError, TypeError, ValueError):
            # Errors of the parser on malformed tokens.
            raise NotAuthenticated(f"the {noun} cannot be read; sign in again") from None
        return claims

    def _key(self, signed: GuestProtocol) -> Key:
        header = signed.headers()
        return self._keys.find(header["alg"], header.get("kid"))

    def _refusal(self, noun: str, error: Exception) -> str:
        why = _WHY.get(getattr(error, "error", ""), "it cannot be read")
        reason = why.format(claim=getattr(error, "claim", ""), algorithms=", ".join(self._settings.algorithms))
        return f"the {noun} is not accepted: {reason}; sign in again"

    def _name(self, claims: Mapping[str, Any]) -> str:
        claim = self._settings.name_claim
        name = claims.get(claim)
        if not isinstance(name, str) or not name.strip() or not name.isprintable() or len(name) > _MAX_NAME_LENGTH:
            raise NotAuthenticated(
                f"the bearer token has no user name: its claim {claim!r} is no name; set another name claim"
            )
        if name in RESERVED_NAMES:
            raise NotAuthenticated(f"the name {name!r} belongs to the registry itself; set another name claim")
        if claim == "email" and claims.get("email_verified") is False:
            raise NotAuthenticated("the bearer token's email is not verified; verify it and sign in again")
        return name

    def _subject(self, claims: Mapping[str, Any]) -> str:
        subject = claims.get("sub")
        if (
            not isinstance(subject, str)
            or not subject.strip()
            or not subject.isprintable()
            or len(subject) > _MAX_SUBJECT_LENGTH
        ):
            raise NotAuthenticated(
                "the bearer token has no subject: its claim 'sub' is missing, too long or not printable"
            )
        return subject


def expiry_of(token: str) -> datetime | None:
    """Return the expiry that a bearer token claims, without verifying it."""
    try:
        payload = token.split(".")[1]
        claims = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
        return datetime.fromtimestamp(claims["exp"], UTC)
    except (IndexError, KeyError, OSError, OverflowError, RecursionError, TypeError, ValueError):
        return None


def _grants(claimed: object) -> tuple[Grant, ...]:
    """Read the known roles; without any, the actor is a viewer."""
    texts = claimed if isinstance(claimed, list) else []
    grants = tuple(grant for text in texts if isinstance(text, str) and (grant := _known(text)))
    return tuple(dict.fromkeys(grants)) or (Grant(Role.VIEWER),)


def _known(text: str) -> Grant | None:
    try:
        return parse_grant(text)
    except InvalidDocument:
        return None


__all__ = [
    "OidcSettings",
    "OidcVerifier",
]
