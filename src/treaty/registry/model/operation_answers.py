"""What happened lately, what is coming, and for which teams, as the registry answers it."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any, Literal

from pydantic import Field

from treaty.registry.model.page import Answer

ActivityKind = Literal[
    "registration", "refusal", "proposal", "lifecycle", "migration", "subscription", "waiver", "breach"
]
UpcomingKind = Literal["deprecation", "sunset", "retirement", "expiry", "migration"]


class ActivityAnswer(Answer):
    """One thing that happened, in a sentence, and what it is about."""

    id: int
    at: datetime
    actor: str
    kind: ActivityKind
    did: str = Field(description="What was done, in a word: registered, refused, deprecated, moved …")
    headline: str = Field(description="The same in a sentence; the contract stands beside it.")
    contract: str | None = Field(default=None, description="Null where it concerns more than one.")
    version: str | None = None
    before: str | None = Field(default=None, description="The version that it followed.")
    line: str | None = Field(default=None, description="Null where there is none, or none yet.")
    consumer: str | None = None
    migration: int | None = None
    proposal: int | None = None


class UpcomingAnswer(Answer):
    """A day in the life of a line that is near: when, what then, and whom it concerns."""

    on: date
    kind: UpcomingKind
    headline: str
    contract: str
    line: str
    versions: list[str] = Field(default=[], description="Of the line, those that it is about.")
    owners: list[str] = Field(default=[])
    consumers: int = Field(default=0, description="How many read the line.")
    migration: int | None = None
    link: str | None = Field(default=None, description="The plan or guide that was announced with it.")


class TeamAnswer(Answer):
    """A team that owns or reads something; a consumer that names no team speaks for itself."""

    team: str
    owns: int = Field(description="How many contracts it owns.")
    reads: int = Field(description="How many lines its consumers read.")
    consumers: int
    waiting: int = Field(default=0, description="How many moves to a next line wait for its consumers.")


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


class HeadAnswer(Answer):
    """The newest entry of the audit log; it changes with every change of the registry except measures."""

    seq: int
    hash: str
    at: datetime


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


Health = Literal["healthy", "warning", "failing"]


class MeasureAnswer(Answer):
    """One number about a contract's data at one moment, and how it stands to what is promised."""

    contract: str
    name: str
    at: datetime
    value: float
    unit: str
    promise: float | None = Field(default=None, description="What is promised, in the same unit.")
    state: Health | None = Field(default=None, description="Null where nothing is promised.")
    details: dict[str, Any] = Field(default={})


class RecordedAnswer(Answer):
    """How many measures are new; those of contracts that are not registered were passed over."""

    recorded: int
    unknown: list[str] = Field(default=[], description="Contracts that are not registered.")


class DayAnswer(Answer):
    """How one day went, and by which measures it was no better."""

    day: date
    state: Health
    by: list[str]


class GridRowAnswer(Answer):
    """One contract, how it is now, and how its days went; a day without judged measures is left out."""

    contract: str
    name: str | None = None
    domain: str | None = None
    health: Health | None = None
    days: list[DayAnswer]


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
