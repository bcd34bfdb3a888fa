"""The public keys of an issuer: kept for an hour, and fetched again when a token names another."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from threading import Lock
from typing import TYPE_CHECKING, Any

from treaty.errors import InvalidDocument, Unavailable
from treaty.registry.access.actors import Unknown
from treaty.registry.access.fetching import Fetch
from treaty.registry.access.oidc_settings import ALGORITHMS, OidcSettings, check_address

if TYPE_CHECKING:
    from joserfc.jwk import Key

KEPT_FOR = timedelta(hours=1)
PAUSE = timedelta(minutes=1)  # between fetches because of keys that are not known: tokens cannot make us hammer
RETRY = timedelta(seconds=5)  # after a failure: a key server that is down holds up one request, not all

_PUBLIC = ("kty", "kid", "use", "alg", "key_ops", "n", "e", "crv", "x", "y")
_LEAST_RSA_BITS = 2048


@dataclass(frozen=True, slots=True)
class _Keys:
    keys: tuple[Key, ...] = ()
    fetched: datetime | None = None
    tried: datetime | None = None
    trouble: str | None = None

    def fresh(self, now: datetime) -> bool:
        return self.fetched is not None and abs(now - self.fetched) < KEPT_FOR

    def due(self, now: datetime) -> bool:
        if self.tried is None or (self.trouble is None and not self.fresh(now)):
            return True
        return abs(now - self.tried) >= (PAUSE if self.fresh(now) else RETRY)

    def pick(self, algorithm: str, identity: str | None) -> Key | None:
        kind = ALGORITHMS[algorithm]
        found = [key for key in self.keys if key.key_type == kind and identity in (None, key.kid)]
        return found[0] if len(found) == 1 else None  # a token that does not say which key must leave no doubt


class IssuerKeys:
    """The keys of one issuer; known keys are found without waiting for anybody."""

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
        raise Unknown("the bearer token is not accepted: its issuer has no such key; sign in again")

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
    url = settings.jwks_url or _discovered(settings, fetch)
    published = _document(url, fetch).get("keys")
    kinds = [ALGORITHMS[name] for name in settings.algorithms]
    given = published if isinstance(published, list) else []
    keys = tuple(
        key for one in given if isinstance(one, dict) and one.get("kty") in kinds and (key := _public_key(one))
    )
    if not keys:
        raise Unavailable(f"{url} has no key for {', '.join(settings.algorithms)}; check the OIDC settings")
    return keys


def _discovered(settings: OidcSettings, fetch: Fetch) -> str:
    """Return where an issuer says its keys are; it must speak for itself, and not lead from https to plain http."""
    url = f"{settings.issuer.rstrip('/')}/.well-known/openid-configuration"
    document = _document(url, fetch)
    if document.get("issuer") != settings.issuer:
        raise Unavailable(f"{url} speaks for another issuer than {settings.issuer}; check the OIDC settings")
    address = document.get("jwks_uri")
    try:
        check_address(str(address), "jwks_uri")
    except InvalidDocument as error:
        raise Unavailable(f"{url}: {error}") from None
    if settings.issuer.startswith("https:") and not str(address).startswith("https:"):
        raise Unavailable(f"{url} leads to keys over plain http; set the address of the keys")
    return str(address)


def _document(url: str, fetch: Fetch) -> Mapping[str, Any]:
    try:
        document = json.loads(fetch(url))
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        raise Unavailable(f"{url} is not a JSON document; check the OIDC settings")
    return document


def _public_key(given: Mapping[str, Any]) -> Key | None:
    """Read the public part of a key; one that is weak, not for signatures or not understood is left out."""
    from joserfc.errors import JoseError
    from joserfc.jwk import JWKRegistry
    from joserfc.util import base64_to_int

    public = {name: given[name] for name in _PUBLIC if name in given}
    try:
        if public.get("use", "sig") != "sig":
            return None
        if public["kty"] == "RSA" and base64_to_int(public["n"]).bit_length() < _LEAST_RSA_BITS:
            return None
        return JWKRegistry.import_key(public)
    except (AttributeError, JoseError, KeyError, TypeError, ValueError):
        return None
