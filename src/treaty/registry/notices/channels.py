"""Channels of notices and the validation of their targets."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from urllib.parse import quote, urlsplit

from treaty.errors import InvalidDocument
from treaty.registry.notices.addresses import AddressRule, Resolve, checked_address, parse_host, system_resolve


class ChannelKind(StrEnum):
    """The ways a notice travels."""

    WEBHOOK = "webhook"
    SLACK = "slack"
    EMAIL = "email"
    LOG = "log"


@dataclass(frozen=True, repr=False)
class Channel:
    """One place where a party wants its notices."""

    id: int
    party: str
    kind: ChannelKind
    target: str
    secret: str | None = None

    def __repr__(self) -> str:
        """Show the channel without its secret and without the path of its URL, which may be one."""
        return f"Channel(id={self.id}, party={self.party!r}, kind={self.kind.value!r}, target={shown_target(self)!r})"


def shown_target(channel: Channel) -> str:
    """Return as much of the target as may be shown: of a URL only scheme and host."""
    if channel.kind not in (ChannelKind.WEBHOOK, ChannelKind.SLACK):
        return channel.target
    try:
        return f"{parse_web_target(channel.target).origin}/…"
    except InvalidDocument:
        return "…"


def parse_channel_kind(text: str) -> ChannelKind:
    """Read the kind of a channel."""
    try:
        return ChannelKind(text)
    except ValueError:
        kinds = ", ".join(ChannelKind)
        raise InvalidDocument(f"unknown kind of channel {text[:40]!r}; use one of: {kinds}") from None


def check_channel(
    kind: ChannelKind, target: str, rule: AddressRule = AddressRule.PUBLIC_ONLY, resolve: Resolve = system_resolve
) -> None:
    """Refuse a target that is malformed, or that leads to where the rule does not allow."""
    _CHECKS[kind](target, rule, resolve)


_LOCAL_PART = re.compile(r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*")
_MAX_LOCAL_PART_LENGTH = 64
_MAX_EMAIL_LENGTH = 254
_LOGGER = re.compile(r"([A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*)?")
_MAX_LOGGER_LENGTH = 100


def _check_web(target: str, rule: AddressRule, resolve: Resolve) -> None:
    web = parse_web_target(target)
    checked_address(web.host, web.port, rule, resolve)


def _check_email(target: str, rule: AddressRule, resolve: Resolve) -> None:
    local, at, domain = target.rpartition("@")
    fits = len(target) <= _MAX_EMAIL_LENGTH and len(local) <= _MAX_LOCAL_PART_LENGTH
    if not (at and fits and domain.isascii() and "." in domain and _LOCAL_PART.fullmatch(local)):
        raise InvalidDocument(f"{target[:80]!r} is not an e-mail address; write one like data-team@example.org")
    parse_host(domain)


def _check_log(target: str, rule: AddressRule, resolve: Resolve) -> None:
    if len(target) > _MAX_LOGGER_LENGTH or not _LOGGER.fullmatch(target):
        raise InvalidDocument(f"{target[:80]!r} is not a logger name; use letters, digits, _ - and dots, or nothing")


_CHECKS: dict[ChannelKind, Callable[[str, AddressRule, Resolve], None]] = {
    ChannelKind.WEBHOOK: _check_web,
    ChannelKind.SLACK: _check_web,
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
