"""Sign-in in the browser with OpenID Connect: the authorization code flow with PKCE, state and nonce."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from secrets import token_urlsafe
from threading import Lock
from typing import Any, NamedTuple
from urllib.parse import quote_plus, urlencode, urlsplit, urlunsplit

from treaty.errors import Unavailable
from treaty.registry.access.actors import Actor, NotAuthenticated
from treaty.registry.access.oidc import (
    FAILURE_PAUSE,
    KEY_LIFETIME,
    Fetch,
    OidcVerifier,
    discover,
    endpoint,
    fetch_document,
    post_form,
)
from treaty.registry.access.oidc_settings import OidcSettings

MAX_DURATION = timedelta(minutes=10)
"""How long a user may take to sign in at the provider."""

_SECRET_BYTES = 32
_CODE = re.compile(r"[A-Za-z0-9_]{1,40}")
_MAX_DESCRIPTION = 200
_START_AGAIN = "start again from the sign-in page"
_EXPLANATIONS = {
    "access_denied": "the sign-in was cancelled, or you may not use this registry",
    "login_required": "the identity provider requires you to sign in there first",
    "consent_required": "the identity provider requires your consent",
    "temporarily_unavailable": "the identity provider is busy",
    "server_error": "the identity provider has an internal error",
}

Post = Callable[[str, Mapping[str, str], Mapping[str, str]], tuple[int, bytes]]
"""Sends a form with headers to an address and returns status and body, or raises Unavailable."""


@dataclass(frozen=True, slots=True)
class LoginAttempt:
    """A sign-in that began in one browser, which stores the secret; the other values follow from it.

    The provider sees the state, the nonce and the hash of the verifier, but cannot derive one from another.
    """

    secret: str
    expires: int
    """In seconds since 1970."""

    @classmethod
    def begin(cls, now: datetime) -> LoginAttempt:
        """Return a new attempt."""
        return cls(token_urlsafe(_SECRET_BYTES), int((now + MAX_DURATION).timestamp()))

    @property
    def state(self) -> str:
        """Binds the answer of the provider to the browser."""
        return self._derive("state")

    @property
    def nonce(self) -> str:
        """Binds the ID token to the browser."""
        return self._derive("nonce")

    @property
    def verifier(self) -> str:
        """Binds the authorization code to this server (PKCE)."""
        return self._derive("verifier")

    @property
    def challenge(self) -> str:
        """The hash of the verifier."""
        digest = hashlib.sha256(self.verifier.encode()).digest()
        return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()

    def _derive(self, purpose: str) -> str:
        return hmac.digest(self.secret.encode(), f"{purpose}\n{self.expires}".encode(), "sha256").hex()


@dataclass(frozen=True, slots=True)
class _Metadata:
    document: Mapping[str, Any] = field(default_factory=dict)
    fetched_at: datetime | None = None
    trouble: str | None = None

    def is_due(self, now: datetime) -> bool:
        lifetime = KEY_LIFETIME if self.trouble is None else FAILURE_PAUSE
        return self.fetched_at is None or abs(now - self.fetched_at) >= lifetime


class CallbackQuery(NamedTuple):
    """What the provider sends back through the browser."""

    state: str = ""
    code: str | None = None
    error: str | None = None
    description: str | None = None
    issuer: str | None = None


class OidcSignIn:
    """The client of one identity provider; any number of threads may share it."""

    def __init__(
        self,
        settings: OidcSettings,
        verifier: OidcVerifier,
        clock: Callable[[], datetime],
        fetch: Fetch = fetch_document,
        post: Post = post_form,
    ) -> None:
        assert settings.client_id is not None  # noqa: S101
        self.settings = settings
        self._client_id: str = settings.client_id
        self._verifier = verifier
        self._clock = clock
        self._fetch = fetch
        self._post = post
        self._lock = Lock()
        self._metadata = _Metadata()

    @property
    def provider(self) -> str:
        """The name of the provider on the sign-in page."""
        return self.settings.provider_name or urlsplit(self.settings.issuer).netloc

    def begin(self) -> LoginAttempt:
        """Begin a sign-in."""
        return LoginAttempt.begin(self._clock())

    def authorization_url(self, attempt: LoginAttempt, redirect_url: str) -> str:
        """Return the address at the provider to which the browser is sent."""
        parts = urlsplit(endpoint(self.settings, self._discovered(), "authorization_endpoint"))
        query = {
            "response_type": "code",
            "client_id": self._client_id,
            "redirect_uri": redirect_url,
            "scope": " ".join(dict.fromkeys(("openid", *self.settings.scopes))),
            "state": attempt.state,
            "nonce": attempt.nonce,
            "code_challenge": attempt.challenge,
            "code_challenge_method": "S256",
        }
        joined = "&".join(filter(None, (parts.query, urlencode(query))))
        return urlunsplit((parts.scheme, parts.netloc, parts.path, joined, ""))

    def complete(self, attempt: LoginAttempt | None, query: CallbackQuery, redirect_url: str) -> Actor:
        """Return who signed in; raise NotAuthenticated for an answer that does not belong to the attempt."""
        if attempt is None or not hmac.compare_digest(attempt.state.encode(), query.state.encode("utf-8", "replace")):
            raise NotAuthenticated(f"this sign-in did not begin in this browser, or took too long; {_START_AGAIN}")
        if self._clock().timestamp() >= attempt.expires:
            raise NotAuthenticated(f"the sign-in took more than {MAX_DURATION.seconds // 60} minutes; {_START_AGAIN}")
        self._check_issuer(query.issuer)
        if query.error is not None:
            raise NotAuthenticated(_explain(query.error, query.description))
        if not query.code:
            raise NotAuthenticated(f"the identity provider sent no code; {_START_AGAIN}")
        return self._verifier.verify_id_token(self._exchange(query.code, attempt, redirect_url), attempt.nonce)

    def _check_issuer(self, issuer: str | None) -> None:
        """Refuse an answer of another provider (RFC 9207)."""
        required = self._discovered().get("authorization_response_iss_parameter_supported") is True
        if (issuer is not None or required) and issuer != self.settings.issuer:
            raise NotAuthenticated(f"the answer came from another identity provider; {_START_AGAIN}")

    def _exchange(self, code: str, attempt: LoginAttempt, redirect_url: str) -> str:
        """Return the ID token for a code."""
        metadata = self._discovered()
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": redirect_url,
            "client_id": self._client_id,
            "code_verifier": attempt.verifier,
        }
        credentials, headers = self._credentials(metadata.get("token_endpoint_auth_methods_supported"))
        status, body = self._post(endpoint(self.settings, metadata, "token_endpoint"), {**form, **credentials}, headers)
        try:
            answer = json.loads(body)
        except (ValueError, RecursionError):
            answer = None
        if not isinstance(answer, dict):
            raise Unavailable(f"the token endpoint of the identity provider answers {status} without JSON; try again")
        token = answer.get("id_token")
        if status != 200 or not isinstance(token, str):
            raise NotAuthenticated(_explain(answer.get("error"), None))
        return token

    def _credentials(self, supported: object) -> tuple[dict[str, str], dict[str, str]]:
        """Return the form fields and headers that authenticate this client; none for a public client."""
        secret = self.settings.client_secret
        if secret is None:
            return {}, {}
        if isinstance(supported, list) and "client_secret_basic" not in supported and "client_secret_post" in supported:
            return {"client_secret": secret}, {}
        pair = f"{quote_plus(self._client_id)}:{quote_plus(secret)}"
        return {}, {"Authorization": f"Basic {base64.b64encode(pair.encode()).decode()}"}

    def _discovered(self) -> Mapping[str, Any]:
        """Return the metadata of the provider; it is fetched once an hour, and not again soon after a failure."""
        with self._lock:
            now = self._clock()
            if self._metadata.is_due(now):
                self._metadata = self._fetched(now)
            if self._metadata.trouble is not None:
                raise Unavailable(self._metadata.trouble)
            return self._metadata.document

    def _fetched(self, now: datetime) -> _Metadata:
        try:
            return _Metadata(discover(self.settings, self._fetch), now)
        except Unavailable as error:
            return _Metadata(fetched_at=now, trouble=str(error))


def _explain(error: object, description: str | None) -> str:
    """Describe an error of the provider, of which only a code and a short text are repeated."""
    code = error if isinstance(error, str) and _CODE.fullmatch(error) else "no reason given"
    text = "".join(character for character in description or "" if character.isprintable()).strip()
    said = f": {text[:_MAX_DESCRIPTION]}" if text else ""
    why = _EXPLANATIONS.get(code, "the identity provider did not accept the sign-in")
    return f"{why} ({code}{said}); {_START_AGAIN}"
