"""Channels and notices as the registry answers them."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import Field

from treaty.registry.answers.answer import Answer


class ChannelAnswer(Answer):
    """Where a party gets its notices; the secret and what a URL may hold of it are not shown."""

    id: int
    party: str
    kind: str
    target: str
    signed: bool
    added_by: str
    added_at: datetime


class DeliveryAnswer(Answer):
    """How far a notice got on one channel."""

    channel: int
    state: Literal["pending", "delivered", "dead"]
    attempts: int
    next_at: datetime | None = None
    delivered_at: datetime | None = None
    error: str | None = None


class NoticeAnswer(Answer):
    """Something that parties were told."""

    id: str
    at: datetime
    kind: str
    contract: str
    version: str | None = None
    headline: str
    details: dict[str, Any]
    parties: list[str]
    deliveries: list[DeliveryAnswer] = Field(default=[])
