"""Settings of an OIDC issuer."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from treaty.errors import InvalidDocument

ALGORITHMS: dict[str, str] = {
    "RS256": "RSA",
    "RS384": "RSA",
    "RS512": "RSA",
    "PS256": "RSA",
    "PS384": "RSA",
    "PS512": "RSA",
    "ES256": "EC",
    "ES384": "EC",
    "ES512": "EC",
    "Ed25519": "OKP",
}
"""The signatures that may be accepted, and the kind of key of each: no `none`, and nothing with a shared secret."""

CALLBACK_PATH = "/catalog/sign-in/callback"
"""Where the provider sends the browser back to."""

_MAX_LEEWAY = 300


@dataclass(frozen=True, slots=True)
class OidcSettings:
    """Issuer, audience, algorithms and claims of accepted bearer tokens."""

    issuer: str
    audience: str
    algorithms: tuple[str, ...] = ("RS256", "ES256")
    jwks_url: str | None = None
    name_claim: str = "sub"
    roles_claim: str = "treaty_roles"
    leeway: int = 30
    client_id: str | None = None
    """The id of this server at the provider; with it, users sign in to the pages there."""
    client_secret: str | None = field(default=None, repr=False)
    redirect_url: str | None = None
    provider_name: str | None = None
    scopes: tuple[str, ...] = ("openid", "profile", "email")

    def __post_init__(self) -> None:
        """Refuse settings that would accept tokens of another issuer."""
        check_address(self.issuer, "the OIDC issuer")
        if self.jwks_url is not None:
            check_address(self.jwks_url, "the OIDC key address")
        if self.redirect_url is not None:
            check_address(self.redirect_url, "the OIDC redirect URL")
            if urlsplit(self.redirect_url).path != CALLBACK_PATH:
                raise InvalidDocument(f"the path of the OIDC redirect URL is {CALLBACK_PATH}")
        if not self.audience:
            raise InvalidDocument("the OIDC audience is missing; name the one that tokens for this registry carry")
        unknown = [name for name in self.algorithms if name not in ALGORITHMS]
        if unknown or not self.algorithms:
            named = repr(unknown[0]) if unknown else "none"
            raise InvalidDocument(f"OIDC algorithm {named} is not accepted; use one of: {', '.join(ALGORITHMS)}")
        if not 0 <= self.leeway <= _MAX_LEEWAY:
            raise InvalidDocument(f"the OIDC leeway is from 0 to {_MAX_LEEWAY} seconds, not {self.leeway}")


def check_address(url: str, what: str) -> None:
    """Refuse an address that is not https, unless it is on this machine."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise InvalidDocument(
            f"{what} {url[:200]!r} is not an address; write it like https://login.example.com"
        ) from None
    plain = not url.isprintable() or " " in url or parts.username is not None or parts.fragment
    if plain or not host or not (parts.scheme == "https" or (parts.scheme == "http" and _is_loopback(host))):
        raise InvalidDocument(f"{what} {url[:200]!r} must be an https address; write it like https://login.example.com")


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
