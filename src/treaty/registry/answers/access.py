"""Tokens and the audit log as the registry answers them."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from treaty.registry.answers.answer import Answer


class AuditAnswer(Answer):
    """Who did what, when; each entry holds the hash of the one before it."""

    seq: int
    at: datetime
    actor: str
    action: str
    subject: str
    before: str | None = None
    after: str | None = None
    details: dict[str, Any]
    previous: str
    hash: str


class BreakAnswer(Answer):
    """Where the audit log does not hold."""

    seq: int
    reason: str


class AuditCheckAnswer(Answer):
    """Whether the audit log is whole; keep the head to see later that nothing was cut off."""

    whole: bool
    entries: int
    head: str
    breaks: list[BreakAnswer]


class TokenAnswer(Answer):
    """A token, without its secret."""

    id: str
    name: str
    role: str
    team: str | None = None
    scopes: list[str]
    created_at: datetime
    created_by: str
    expires_at: datetime
    revoked_at: datetime | None = None


class MintedAnswer(TokenAnswer):
    """A new token; the secret is shown this once."""

    token: str
