"""Access tokens `treaty_<id>_<secret>`: stored as a digest, compared in constant time."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from treaty.errors import InvalidDocument
from treaty.registry.access.actors import Actor, Grant, NotAuthenticated, Role, Scope

DEFAULT_LIFETIME = timedelta(days=90)
MAX_LIFETIME = timedelta(days=366)

_MAX_NAME_LENGTH = 200
_ID_BYTES = 6
_SECRET_BYTES = 32
_TOKEN = re.compile(r"treaty_([0-9a-f]{12})_([0-9a-f]{64})")
_REDACTED = (
    # Broader than what is minted, so that a token mistyped or cut short is hidden too.
    (re.compile(r"treaty_([0-9A-Za-z]{1,32})_[0-9A-Za-z]{16,}"), r"treaty_\1_***"),
    (re.compile(r"(?<![\w-])eyJ[\w-]+(?:\.[\w-]*){1,4}", re.ASCII), "***"),
    (re.compile(r"\b(bearer\s{1,8})(?!treaty_|\*)[\w.~+/=-]{16,}", re.ASCII | re.IGNORECASE), r"\1***"),
)


@dataclass(frozen=True, slots=True)
class TokenRecord:
    """The record of a token, without its secret."""

    id: str
    name: str
    digest: str = field(repr=False)
    role: Role
    team: str | None
    scopes: frozenset[Scope]
    created_at: datetime
    created_by: str
    expires_at: datetime
    revoked_at: datetime | None = None
    holder: str | None = None
    """The identity that the token was created for, if it is not its own."""
    last_used_at: datetime | None = None

    @property
    def identity(self) -> str:
        """The identity that the token acts as."""
        return self.holder or token_identity(self.id)

    def is_unused(self, now: datetime, period: timedelta) -> bool:
        """Return whether a token that is in force was not used for a period."""
        in_force = self.revoked_at is None and now < self.expires_at
        return in_force and now - (self.last_used_at or self.created_at) >= period


def token_identity(identity: str) -> str:
    """Return the identity of a token that was not created for another one."""
    return f"token:{identity}"


@dataclass(frozen=True, slots=True)
class Minted:
    """A new token: the text that is shown once, and the stored record."""

    secret_text: str = field(repr=False)
    record: TokenRecord


def mint(
    now: datetime,
    name: str,
    role: Role,
    team: str | None,
    scopes: Iterable[Scope],
    created_by: str,
    lifetime: timedelta = DEFAULT_LIFETIME,
    randomness: Callable[[int], bytes] = secrets.token_bytes,
    holder: str | None = None,
) -> Minted:
    """Make a token that acts as `name` in one role, within its scopes, until it expires."""
    grant = Grant(role, team)
    within = frozenset(scopes)
    _check_name(name)
    if not within:
        raise InvalidDocument(f"a token needs a scope; use one or more of: {', '.join(Scope)}")
    if not timedelta(0) < lifetime <= MAX_LIFETIME:
        raise InvalidDocument(f"a token lives for more than 0 and at most {MAX_LIFETIME.days} days, not {lifetime}")
    identity, secret = randomness(_ID_BYTES).hex(), randomness(_SECRET_BYTES).hex()
    record = TokenRecord(
        id=identity,
        name=name,
        digest=_digest(secret),
        role=grant.role,
        team=grant.team,
        scopes=within,
        created_at=now,
        created_by=created_by,
        expires_at=now + lifetime,
        holder=holder,
    )
    return Minted(f"treaty_{identity}_{secret}", record)


def parse_token(text: str) -> tuple[str, str] | None:
    """Return the id and the secret of a token, or None if it is not one."""
    match = _TOKEN.fullmatch(text)
    return (match[1], match[2]) if match else None


def matches(record: TokenRecord, secret: str) -> bool:
    """Compare a secret with the record in constant time."""
    return hmac.compare_digest(_digest(secret), record.digest)


def check_unknown(secret: str) -> bool:
    """Take the time of `matches` for an unknown id, so that timing does not reveal ids; always False."""
    return matches(_NO_TOKEN, secret) and False


def actor_of(record: TokenRecord, now: datetime) -> Actor:
    """Return the actor of a token; raise Unknown if it is revoked or expired."""
    check_not_revoked(record)
    if now >= record.expires_at:
        raise NotAuthenticated(f"token {record.id} expired on {record.expires_at:%Y-%m-%d}; ask an admin for a new one")
    return Actor(record.name, (Grant(record.role, record.team),), record.scopes, "token", record.id, record.identity)


def check_not_revoked(record: TokenRecord) -> None:
    """Raise Unknown for a revoked token."""
    if record.revoked_at is not None:
        raise NotAuthenticated(
            f"token {record.id} was revoked on {record.revoked_at:%Y-%m-%d}; ask an admin for a new one"
        )


def in_force(identity: str) -> str:
    """Return the cache key of a token that is not revoked; no contract has such an id."""
    return f"\ntoken {identity}"


def redact(text: str) -> str:
    """Hide the secrets of tokens and bearer tokens in a text that is logged or shown."""
    if "treaty_" in text or "eyJ" in text or "bearer" in text.lower():  # hardly ever, and every request asks
        for pattern, instead in _REDACTED:
            text = pattern.sub(instead, text)
    return text


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def _check_name(name: str) -> None:
    if not name.strip() or not name.isprintable() or len(name) > _MAX_NAME_LENGTH:
        raise InvalidDocument(
            f"a token needs a name of at most {_MAX_NAME_LENGTH} printable characters, not {name[:40]!r}"
        )


_NO_TOKEN = TokenRecord(
    id="",
    name="",
    digest="0" * 64,  # matches no secret
    role=Role.VIEWER,
    team=None,
    scopes=frozenset(),
    created_at=datetime(1970, 1, 1, tzinfo=UTC),
    created_by="",
    expires_at=datetime(1970, 1, 1, tzinfo=UTC),
)
