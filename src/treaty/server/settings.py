"""Where the server listens, who must sign in, and what a request may cost."""

from __future__ import annotations

import ipaddress
import ssl
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from functools import lru_cache
from pathlib import Path

from treaty.errors import InvalidDocument

DEFAULT_HOST = "127.0.0.1"
DEFAULT_PORT = 8090


@dataclass(frozen=True)
class SessionLimits:
    """How long a browser session lasts, and how long without a request."""

    lifetime: timedelta = timedelta(hours=12)
    idle: timedelta = timedelta(hours=2)


@dataclass(frozen=True)
class AccessSettings:
    """Whether clients must sign in even if no token exists, whether anonymous clients may read, how sessions end."""

    required: bool = False
    open_reading: bool = True
    session: SessionLimits = SessionLimits()


class LimitedClients(StrEnum):
    """Which clients rate limits apply to."""

    REMOTE = "remote"  # all but those on this machine
    ALL = "all"
    NONE = "none"


@dataclass(frozen=True)
class RateLimits:
    """How many requests a client may send per minute, in one process."""

    clients: LimitedClients = LimitedClients.REMOTE
    expensive: int = 600
    failed_sign_ins: int = 60


@dataclass(frozen=True)
class Limits:
    """What a request and a connection may cost: sizes in bytes, times in seconds."""

    body: int = 4_000_000
    seconds: float = 60
    body_seconds: float = 30
    head: int = 32_768
    keep_alive: int = 5
    connections: int = 1_000
    metrics: int = 2_000  # measures, and lines, in /metrics
    rates: RateLimits = field(default_factory=RateLimits)


@dataclass(frozen=True)
class Tls:
    """The certificate of the server, with the chain that leads to its issuer, and the key."""

    certificate: Path
    key: Path
    password: str | None = field(default=None, repr=False)

    def context(self) -> ssl.SSLContext:
        """Return the TLS context of the server, for TLS 1.2 and later; raise InvalidDocument for unusable files."""
        for file, name in ((self.certificate, "certificate"), (self.key, "key")):
            try:
                file.read_bytes()
            except OSError as error:
                raise InvalidDocument(f"cannot read the TLS {name} {file}: {error.strerror}") from None
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        password = self.password or ""  # without one, OpenSSL would ask for it on the terminal
        try:
            context.load_cert_chain(self.certificate, self.key, lambda: password)
        except ssl.SSLError as error:
            raise InvalidDocument(self._describe(error)) from None
        return context

    def _describe(self, error: ssl.SSLError) -> str:
        if error.reason == "KEY_VALUES_MISMATCH":
            return f"the TLS key {self.key} does not belong to the certificate {self.certificate}"
        encrypted = b"ENCRYPTED" in self.key.read_bytes()
        if encrypted and self.password is None:
            return f"the TLS key {self.key} is encrypted; set TREATY_TLS_KEY_PASSWORD"
        if encrypted:
            return f"cannot decrypt the TLS key {self.key}; check TREATY_TLS_KEY_PASSWORD"
        files = f"{self.certificate} and {self.key}"
        return f"cannot use {files} for TLS; give a certificate and its key in PEM format"


@lru_cache(1_000)
def is_loopback(host: str) -> bool:
    """Return whether a host name or address can be reached from this machine only."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
