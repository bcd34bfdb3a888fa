"""What is answered about exceptions."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from treaty.registry.answers.answer import Answer


class ExceptionAnswer(Answer):
    """One exception: what about which key is in doubt, why, since when, and whose it is."""

    reconciliation: str
    key: str
    """The values of the key, with commas between them."""
    key_fields: dict[str, Any]
    assertion: str
    reason_class: str
    statement: str
    claims: dict[str, Any]
    """What each claim says; decimals are texts, so that no digit is lost."""
    claims_digest: str
    owner: str | None
    state: str
    first_seen: datetime
    last_seen: datetime
    age_seconds: int
    """How long it has stood, or had when data settled it."""
    accepted_by: str | None
    accepted_reason: str | None


class AcceptanceAnswer(Answer):
    """Somebody's word that a key may resolve although an exception stands."""

    reconciliation: str
    key: str
    assertion: str
    reason: str
    actor: str
    accepted_at: datetime
    claims_digest: str
    lapsed: bool
    """Whether the claims have changed since, so that it holds no longer."""


class KeyAnswer(Answer):
    """All that is known about one key of one reconciliation."""

    reconciliation: str
    key: str
    outcome: str | None
    """Resolved, held or deleted; nothing where no run has settled it."""
    exceptions: list[ExceptionAnswer]
    acceptances: list[AcceptanceAnswer]
