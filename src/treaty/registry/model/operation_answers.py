"""Answers about activity, audit, tokens, measures and notices."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any, Literal

from pydantic import Field

from treaty.registry.model.incidents import HealthWord
from treaty.registry.model.page import Answer

ActivityKind = Literal[
    "registration", "refusal", "proposal", "lifecycle", "migration", "subscription", "waiver", "breach"
]
UpcomingKind = Literal["deprecation", "sunset", "retirement", "expiry", "migration"]


class ActivityAnswer(Answer):
    """One thing that happened, in a sentence, and what it is about."""

    id: int = Field(examples=[42])
    at: datetime = Field(examples=["2026-11-03T14:05:00Z"])
    actor: str = Field(examples=["ci of growth-platform"])
    kind: ActivityKind = Field(examples=["registration"])
    did: str = Field(
        description="What was done, in a word: registered, refused, deprecated, moved …", examples=["registered"]
    )
    headline: str = Field(
        description="The same in a sentence; the contract stands beside it.",
        examples=["ci of growth-platform registered 1.1.0: optional field 'country' added"],
    )
    contract: str | None = Field(
        default=None, description="Null where it concerns more than one.", examples=["users.daily_active"]
    )
    version: str | None = Field(default=None, examples=["1.1.0"])
    before: str | None = Field(default=None, description="The version that it followed.", examples=["1.0.0"])
    line: str | None = Field(
        default=None, description="Null where there is none, or none yet.", examples=["users.daily_active@1"]
    )
    consumer: str | None = None
    migration: int | None = None
    proposal: int | None = None


class UpcomingAnswer(Answer):
    """A coming date of a line: the day, what happens, and the number of affected consumers."""

    on: date = Field(examples=["2027-03-31"])
    kind: UpcomingKind = Field(examples=["sunset"])
    headline: str = Field(examples=["users.daily_active@1 enters sunset: no new consumers can subscribe"])
    contract: str = Field(examples=["users.daily_active"])
    line: str = Field(examples=["users.daily_active@1"])
    versions: list[str] = Field(
        default=[], description="Of the line, those that it is about.", examples=[["1.0.0", "1.1.0"]]
    )
    owners: list[str] = Field(default=[], examples=[["growth-platform"]])
    consumers: int = Field(default=0, description="How many read the line.", examples=[2])
    migration: int | None = Field(default=None, examples=[7])
    link: str | None = Field(
        default=None,
        description="The plan or guide that was announced with it.",
        examples=["https://wiki.example.org/move-to-v2"],
    )


class TeamAnswer(Answer):
    """A team that owns or reads something; a consumer that names no team speaks for itself."""

    team: str = Field(examples=["growth-platform"])
    owns: int = Field(description="How many contracts it owns.", examples=[3])
    reads: int = Field(description="How many lines its consumers read.", examples=[5])
    consumers: int = Field(examples=[2])
    waiting: int = Field(default=0, description="How many moves to a next line wait for its consumers.", examples=[1])


class AuditAnswer(Answer):
    """Who did what, when; each entry contains the hash of the one before it."""

    seq: int = Field(examples=[1])
    at: datetime = Field(examples=["2026-11-03T14:05:00Z"])
    actor: str = Field(examples=["ci of growth-platform"])
    action: str = Field(examples=["contract.register"])
    subject: str = Field(examples=["users.daily_active 1.0.0"])
    before: str | None = None
    after: str | None = Field(
        default=None, examples=["9b31477b8c9c44d36a5027c44e2e15913ae44831ff1f77f37c9591a42eb97d34"]
    )
    details: dict[str, Any] = Field(examples=[{"mode": "backward", "compatible": True}])
    previous: str = Field(examples=["0000000000000000000000000000000000000000000000000000000000000000"])
    hash: str = Field(examples=["e9e0ff5283c011a587ec9eefc8f6a6f244ccefdad17629dc3a7f9a717159c766"])


class BreakAnswer(Answer):
    """A place where the audit log is not intact."""

    seq: int = Field(examples=[1])
    reason: str = Field(examples=["every reader of ltv has moved to revenue.lifetime"])


class HeadAnswer(Answer):
    """The newest entry of the audit log; it changes with every change of the registry except measures."""

    seq: int
    hash: str
    at: datetime


class CheckpointAnswer(Answer):
    """A signed entry of the audit log: HMAC-SHA256 over the JSON list of seq, hash and at, without blanks."""

    seq: int = Field(examples=[42])
    hash: str
    at: str
    signature: str


class DifferenceAnswer(Answer):
    """A row that differs from what the audit log records."""

    part: str = Field(description="The part of the registry.", examples=["versions"])
    subject: str = Field(examples=["version users.daily_active 1.0.0"])
    reason: str = Field(examples=["was changed outside the registry; entry 1 recorded it differently"])
    entry: int | None = Field(default=None, description="The entry that recorded the row last.", examples=[1])


class AuditCheckAnswer(Answer):
    """Whether the audit log is whole and the registry is as it records; keep the head to detect a cut log later."""

    whole: bool
    entries: int = Field(examples=[42])
    head: str = Field(examples=["42:e9e0ff5283c011a587ec9eefc8f6a6f244ccefdad17629dc3a7f9a717159c766"])
    breaks: list[BreakAnswer]
    differences: list[DifferenceAnswer] = Field(default=[], description="Rows that are not as the log records them.")
    rows: dict[str, int] = Field(
        default={}, description="Recorded rows that were compared, by part.", examples=[{"versions": 12, "tokens": 3}]
    )
    covered_since: int = Field(
        default=1,
        description="Rows are recorded since this entry; earlier ones were recorded by it as they were then.",
        examples=[1],
    )
    not_covered: list[str] = Field(
        default=[], description="Tables that the log does not record.", examples=[["notices", "measures"]]
    )
    checkpoints: int = Field(default=0, description="Signed checkpoints that were compared.", examples=[0])


class TokenAnswer(Answer):
    """A token, without its secret."""

    id: str = Field(examples=["e3da3c37ff84"])
    name: str = Field(examples=["ci of growth-platform"])
    identity: str = Field(
        default="",
        description="Who the token acts as; separation of duties compares it.",
        examples=["token:e3da3c37ff84"],
    )
    role: str = Field(examples=["contributor"])
    team: str | None = Field(default=None, examples=["growth-platform"])
    scopes: list[str] = Field(examples=[["read", "write"]])
    created_at: datetime = Field(examples=["2026-11-03T14:05:00Z"])
    created_by: str = Field(examples=["admin"])
    expires_at: datetime = Field(examples=["2027-02-01T14:05:00Z"])
    revoked_at: datetime | None = None
    last_used_at: datetime | None = Field(
        default=None, description="Within minutes; null if no use was recorded.", examples=["2026-11-03T14:05:00Z"]
    )
    unused: bool = Field(
        default=False, description="Whether it is valid and was not used for the days of `access.unused_token_days`."
    )


class SessionAnswer(Answer):
    """A browser session, without its secret."""

    id: str = Field(examples=["9f86d081884c7d65"])
    name: str = Field(examples=["sales-steward"])
    identity: str = Field(examples=["https://login.example.com#a1b2"])
    token: str | None = Field(default=None, description="The token that it began with.", examples=["e3da3c37ff84"])
    created_at: datetime = Field(examples=["2026-11-03T14:05:00Z"])
    seen_at: datetime = Field(description="Within minutes.", examples=["2026-11-03T14:25:00Z"])
    expires_at: datetime = Field(examples=["2026-11-04T02:05:00Z"])


class ErasureAnswer(Answer):
    """What the erasure of a name changed, or would change."""

    id: str = Field(description="The id that stays in place of the name.", examples=["a_5d41402abc4b"])
    entries: int = Field(description="Entries of the audit log that now show the id.", examples=[120])
    rows: int = Field(description="Rows of the other tables that now show the id.", examples=[48])
    notices: int = Field(description="Notices whose text contained the name.", examples=[2])
    sessions: int = Field(description="Browser sessions that were deleted.", examples=[1])
    dry_run: bool = Field(description="Whether nothing was changed.", examples=[False])
    overwritten: bool = Field(
        description="Whether the place in the database file where the name was is overwritten.", examples=[True]
    )


class KeyErasureAnswer(Answer):
    """The record of the erasure of a key from the tables of a pipeline, without the key."""

    line: str = Field(examples=["users.daily_active@1"])
    fields: list[str] = Field(description="The fields of the key.", examples=[["user_id"]])
    rows: int = Field(description="Raw rows that were erased.", examples=[12])
    tables: list[str] = Field(description="The tables that held the key.", examples=[["raw.signups"]])
    audit: int = Field(description="The number of the entry in the audit log.", examples=[1042])


class DetokenisationAnswer(Answer):
    """The permission to turn tokens of a field back into values, and its record, without tokens and values."""

    line: str = Field(examples=["users.daily_active@1"])
    field: str = Field(examples=["email"])
    purpose: str = Field(examples=["fraud review"])
    tokens: int = Field(description="How many tokens may be reversed.", examples=[12])
    key: str = Field(description="The name of the key that the tokens were made with.", examples=["customer"])
    audit: int = Field(description="The number of the entry in the audit log.", examples=[1042])


class MintedAnswer(TokenAnswer):
    """A new token; the secret is shown this once."""

    token: str = Field(
        examples=["treaty_e3da3c37ff84_0000000000000000000000000000000000000000000000000000000000000000"]
    )


Health = Literal["healthy", "warning", "failing"]


class MeasureAnswer(Answer):
    """One number about a contract's data at one moment, and how it compares with what is promised."""

    contract: str = Field(examples=["users.daily_active"])
    line: str = Field(description="The line that was measured.", examples=["users.daily_active@1"])
    name: str = Field(examples=["freshness"])
    at: datetime = Field(examples=["2026-11-03T14:05:00Z"])
    value: float = Field(examples=[720])
    unit: str = Field(examples=["s"])
    promise: float | None = Field(default=None, description="What is promised, in the same unit.", examples=[3600])
    state: Health | None = Field(default=None, description="Null where nothing is promised.", examples=["healthy"])
    details: dict[str, Any] = Field(default={}, examples=[{"newest": "2026-11-03T13:53:00Z"}])


class RecordedAnswer(Answer):
    """How many measures are new; those of contracts that are not registered were passed over."""

    recorded: int = Field(examples=[1])
    unknown: list[str] = Field(
        default=[], description="Contracts that are not registered.", examples=[["growth.signups"]]
    )


class DayAnswer(Answer):
    """How one day went, and by which measures it was no better."""

    day: date = Field(examples=["2026-11-03"])
    state: Health = Field(examples=["healthy"])
    by: list[str] = Field(examples=[["freshness"]])


class GridRowAnswer(Answer):
    """One contract, how it is now, and how its days went; a day without judged measures is left out."""

    contract: str = Field(examples=["users.daily_active"])
    name: str | None = Field(default=None, examples=["Daily active users"])
    domain: str | None = Field(default=None, examples=["growth"])
    health: HealthWord | None = Field(default=None, examples=["healthy"])
    cause: str = Field(default="", description="Why it is not healthy.", examples=["freshness 31 h > 24 h"])
    days: list[DayAnswer]


class UpgradeStepAnswer(Answer):
    """One migration of the database, and the statements that it runs."""

    revision: str = Field(examples=["0013"])
    summary: str = Field(examples=["A second signing secret of a channel."])
    statements: list[str] = Field(examples=[["ALTER TABLE channels ADD COLUMN previous_secret TEXT"]])


class UpgradeAnswer(Answer):
    """What an upgrade of the database did, or would do, and whether the audit log is whole afterwards."""

    before: str | None = Field(examples=["0012"])
    after: str = Field(examples=["0013"])
    dry_run: bool
    steps: list[UpgradeStepAnswer]
    audit: AuditCheckAnswer


class RetentionAnswer(Answer):
    """How many rows were deleted because they are old, or would be."""

    dry_run: bool
    notices: int = Field(examples=[12])
    deliveries: int = Field(examples=[30])
    measures: int = Field(examples=[4_000])
    secrets: int = Field(examples=[1])
    lineage_events: int = Field(default=0, examples=[2_000])
    evidence: int = Field(default=0, description="Closed incidents without their evidence now.", examples=[3])
    schema_uses: int = Field(default=0, description="Counts of clients of the schema registry.", examples=[700])
    accesses: int = Field(default=0, description="Entries of the log of accesses to rows.", examples=[90_000])


class ChannelAnswer(Answer):
    """Where a party receives its notices; the secret, and parts of a URL that may contain it, are not shown."""

    id: int = Field(examples=[5])
    party: str = Field(examples=["growth-platform"])
    kind: str = Field(examples=["webhook"])
    target: str = Field(examples=["https://hooks.example.org"])
    signed: bool
    rotates_until: datetime | None = Field(default=None, examples=["2026-11-10T14:05:00Z"])
    added_by: str = Field(examples=["ci of growth-platform"])
    added_at: datetime = Field(examples=["2026-11-03T14:05:00Z"])


class DeliveryAnswer(Answer):
    """How far a notice got on one channel."""

    channel: int = Field(examples=[5])
    state: Literal["pending", "delivered", "dead"] = Field(examples=["delivered"])
    attempts: int = Field(examples=[1])
    next_at: datetime | None = None
    delivered_at: datetime | None = Field(default=None, examples=["2026-11-03T14:05:00Z"])
    error: str | None = None


class NoticeAnswer(Answer):
    """A notice that was sent to parties."""

    id: str = Field(examples=["34fb5eddfff65eeaeb91ed0000000007"])
    at: datetime = Field(examples=["2026-11-03T14:05:00Z"])
    kind: str = Field(examples=["contract.sla_breach"])
    contract: str = Field(examples=["users.daily_active"])
    version: str | None = Field(default=None, examples=["1.1.0"])
    headline: str = Field(examples=["freshness is 31 h; the contract promises 24 h"])
    details: dict[str, Any] = Field(examples=[{"measured": "31 h", "promised": "24 h"}])
    parties: list[str] = Field(examples=[["analytics", "growth-platform", "ltv-dashboard"]])
    deliveries: list[DeliveryAnswer] = Field(default=[])
