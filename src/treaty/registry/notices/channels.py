"""Channels of notices and the validation of their targets."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from urllib.parse import quote, urlsplit

from treaty.errors import InvalidDocument
from treaty.registry.notices.addresses import (
    Address,
    AddressRefused,
    AddressRule,
    Resolve,
    checked_address,
    parse_host,
    system_resolve,
)


class ChannelKind(StrEnum):
    """The ways a notice travels."""

    WEBHOOK = "webhook"
    SLACK = "slack"
    EMAIL = "email"
    LOG = "log"


WEB_KINDS = frozenset({ChannelKind.WEBHOOK, ChannelKind.SLACK})
"""Kinds whose target is a URL, which may contain a secret."""

HIDDEN = "…"
"""What is shown in place of a secret."""


@dataclass(frozen=True, repr=False)
class Channel:
    """One place where a party wants its notices."""

    id: int
    party: str
    kind: ChannelKind
    target: str
    secret: str | None = None
    previous_secret: str | None = None
    previous_until: datetime | None = None

    def signing_secrets(self, now: datetime) -> tuple[str, ...]:
        """Return the secrets that sign a request now: while a secret is replaced, the new one and the previous one."""
        if self.secret is None:
            return ()
        is_live = self.previous_secret is not None and self.previous_until is not None and now < self.previous_until
        return (self.secret, self.previous_secret) if is_live and self.previous_secret else (self.secret,)

    def __repr__(self) -> str:
        """Show the channel without its secret and without the path of its URL, which may be one."""
        return f"Channel(id={self.id}, party={self.party!r}, kind={self.kind.value!r}, target={shown_target(self)!r})"


def shown_target(channel: Channel) -> str:
    """Return as much of the target as may be shown: of a URL only scheme and host."""
    if channel.kind not in WEB_KINDS:
        return channel.target
    try:
        return f"{parse_web_target(channel.target).origin}/{HIDDEN}"
    except InvalidDocument:
        return HIDDEN


def parse_channel_kind(text: str) -> ChannelKind:
    """Read the kind of a channel."""
    try:
        return ChannelKind(text)
    except ValueError:
        kinds = ", ".join(ChannelKind)
        raise InvalidDocument(f"unknown kind of channel {text[:40]!r}; use one of: {kinds}") from None


@dataclass(frozen=True)
class WebPolicy:
    """Which URLs a channel may have besides the rule on addresses: https, and hosts that are allowed.

    A host is allowed by its name or by a pattern such as `*.example.org`, which matches every name below it; without
    any pattern, every host is allowed. Plain http is allowed to loopback addresses if private addresses are.
    """

    allow_http: bool = False
    hosts: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "hosts", tuple(map(_parse_pattern, self.hosts)))

    def check(self, target: WebTarget, address: Address) -> None:
        """Raise AddressRefused if a URL is not allowed; the address is the one that its host resolved to."""
        if target.scheme != "https" and not self.allow_http and not address.is_loopback:
            raise AddressRefused("the URL is not https; use one that is, or set notices.allow_http")
        if self.hosts and not any(_matches_host(target.host, pattern) for pattern in self.hosts):
            raise AddressRefused(f"{target.host} is not among the allowed hosts; see notices.hosts")


def _parse_pattern(text: str) -> str:
    """Return a host or pattern in lower case."""
    below = text.removeprefix("*.")
    return f"*.{parse_host(below)}" if below != text else parse_host(text)


def _matches_host(host: str, pattern: str) -> bool:
    return host.endswith(pattern[1:]) if pattern.startswith("*.") else host == pattern


def check_channel(
    kind: ChannelKind,
    target: str,
    rule: AddressRule = AddressRule.PUBLIC_ONLY,
    resolve: Resolve = system_resolve,
    policy: WebPolicy | None = None,
) -> None:
    """Refuse a target that is malformed, or that leads to where the rule or the policy do not allow."""
    if kind in WEB_KINDS:
        web = parse_web_target(target)
        (policy or WebPolicy()).check(web, checked_address(web.host, web.port, rule, resolve))
    else:
        _CHECKS[kind](target)


_LOCAL_PART = re.compile(r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*")
_MAX_LOCAL_PART_LENGTH = 64
_MAX_EMAIL_LENGTH = 254
_LOGGER = re.compile(r"([A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*)?")
_MAX_LOGGER_LENGTH = 100


def _check_email(target: str) -> None:
    local, at, domain = target.rpartition("@")
    fits = len(target) <= _MAX_EMAIL_LENGTH and len(local) <= _MAX_LOCAL_PART_LENGTH
    if not (at and fits and domain.isascii() and "." in domain and _LOCAL_PART.fullmatch(local)):
        raise InvalidDocument(f"{target[:80]!r} is not an e-mail address; write one like data-team@example.org")
    parse_host(domain)


def _check_log(target: str) -> None:
    if len(target) > _MAX_LOGGER_LENGTH or not _LOGGER.fullmatch(target):
        raise InvalidDocument(f"{target[:80]!r} is not a logger name; use letters, digits, _ - and dots, or nothing")


_CHECKS: dict[ChannelKind, Callable[[str], None]] = {
    ChannelKind.EMAIL: _check_email,
    ChannelKind.LOG: _check_log,
}


_PORTS = {"http": 80, "https": 443}
_MAX_TARGET_LENGTH = 2000
_UNFIT = re.compile(r"[\x00-\x20\x7f\\\ud800-\udfff]")
_SAFE = "/:@!$&'()*+,;=~-._?%"


@dataclass(frozen=True)
class WebTarget:
    """Where a request goes; the path may be a secret and is never shown."""

    scheme: str
    host: str
    port: int
    path: str = field(repr=False)

    @property
    def authority(self) -> str:
        """Return the host, with the port where it is not the usual one."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def origin(self) -> str:
        """Return what may be shown: scheme and host."""
        return f"{self.scheme}://{self.authority}"


def parse_web_target(text: str) -> WebTarget:
    """Read an http or https URL; errors never repeat it, since it may hold a secret."""
    if len(text) > _MAX_TARGET_LENGTH:
        raise InvalidDocument(f"the URL is longer than {_MAX_TARGET_LENGTH} characters; use a shorter one")
    if _UNFIT.search(text):
        raise InvalidDocument("the URL holds a space, a backslash or a control character; percent-encode it")
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        raise InvalidDocument("the URL cannot be read; write it like https://hooks.example.org/treaty") from None
    if parts.scheme not in _PORTS or not parts.hostname:
        raise InvalidDocument(
            "the URL is not http or https with a host; write it like https://hooks.example.org/treaty"
        )
    if "@" in parts.netloc:
        raise InvalidDocument("the URL holds a user or password; leave them out and set a secret on the channel")
    if port == 0:
        raise InvalidDocument("the URL names port 0; use a port from 1 to 65535")
    path = quote(parts.path or "/", safe=_SAFE) + (f"?{quote(parts.query, safe=_SAFE)}" if parts.query else "")
    return WebTarget(parts.scheme, parse_host(parts.hostname), port or _PORTS[parts.scheme], path)


MIN_SECRET_LENGTH = 16
MAX_SECRET_LENGTH = 200


def check_secret(secret: str | None) -> None:
    """Refuse a secret that could be guessed, or that is too long to be one."""
    if secret is None:
        return
    if len(secret) < MIN_SECRET_LENGTH:
        raise InvalidDocument(f"the secret is shorter than {MIN_SECRET_LENGTH} characters; use a random one")
    if len(secret) > MAX_SECRET_LENGTH:
        raise InvalidDocument(f"the secret is longer than {MAX_SECRET_LENGTH} characters; use a shorter random one")
