"""What the registry answers: the same values from a local registry, over HTTP and on the command line."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, model_serializer

from treaty.registry.report import CompatibilityIssue, CompatibilityReport

T = TypeVar("T")


class Answer(BaseModel):
    """An answer never changes once it is given."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Page(Answer, Generic[T]):
    """A part of a list; `next` is where the following part begins, or null at the end."""

    items: list[T]
    next: str | None = None


class Registration(Answer):
    """What became of a version that was handed in."""

    status: Literal["registered", "proposed"]
    dataset_id: str
    version: str
    compatibility: CompatibilityReport
    proposal: int | None = Field(default=None, description="Set where the version waits for somebody's approval.")

    @model_serializer(mode="wrap")
    def _without_nothing(self, handler: Any) -> Any:
        data = handler(self)
        if data.get("proposal") is None:
            data.pop("proposal", None)
        return data


class OwnerAnswer(Answer):
    """A team that answers for a contract, and where to reach it."""

    team: str
    contact: str | None = None


class VersionAnswer(Answer):
    """One version: what was registered, and where it stands in its life."""

    contract: str
    version: str
    line: str
    status: str
    form: str
    digest: str
    mode: str
    owners: list[OwnerAnswer]
    registered_at: datetime
    registered_by: str
    deprecation_uri: str | None = None
    announced_on: date | None = None
    sunset_on: date | None = None
    retire_on: date | None = None


class DocumentAnswer(VersionAnswer):
    """One version with its document, in the form it was registered in, at its present status."""

    document: dict[str, Any]


class ContractAnswer(Answer):
    """A contract as a search finds it."""

    id: str
    version: str
    name: str | None = None
    domain: str | None = None
    tier: str | None = None
    parent: str | None = None
    summary: str | None = None
    updated_at: datetime


class LineAnswer(Answer):
    """A line of a contract: the versions that share a MAJOR."""

    line: str
    namespace: str
    status: str
    versions: int
    latest: str
    latest_active: str | None = None
    sunset_on: date | None = None
    retire_on: date | None = None
    consumers: int


class ChangeAnswer(Answer):
    """One term that differs between two versions."""

    kind: str
    path: str
    field: str | None
    direction: str
    before: Any = None
    after: Any = None
    bump: str
    breaks: list[str]
    severity: str
    message: str


class DiffAnswer(Answer):
    """What judging two versions says."""

    contract: str
    before: str | None
    after: str
    mode: str
    compatible: bool
    admissible: bool
    required_bump: str
    required_version: str | None
    changes: list[ChangeAnswer]
    issues: list[CompatibilityIssue]


class SubscriptionAnswer(Answer):
    """Who depends on which line, which fields, for what; without fields it is unknown which are read."""

    consumer: str
    line: str
    consumer_class: str
    fields: list[str]
    purpose: str | None = None
    latency: str | None = None
    contact: str | None = None
    team: str | None = None
    since: datetime
    warnings: list[str] = []


class NodeAnswer(Answer):
    """A line or consumer that is reached, how far away it is, and by which way."""

    name: str
    kind: Literal["line", "consumer"]
    distance: int
    path: list[str]


class GraphAnswer(Answer):
    """Who depends on a line or consumer, or what it rests on."""

    node: str
    direction: Literal["upstream", "downstream"]
    nodes: list[NodeAnswer]
    more: int = Field(default=0, description="How many more are reached than are listed.")


class AffectedAnswer(Answer):
    """What a change means for one consumer or one line that is made from this one."""

    name: str
    kind: Literal["consumer", "line"]
    effect: Literal["hit", "unknown", "safe", "exposed"]
    consumer_class: str | None = None
    contact: str | None = None
    critical: bool = False
    fields: list[str] = Field(default=[], description="The changed fields that it reads.")
    reasons: list[str] = []
    path: list[str] = []


class ImpactAnswer(Answer):
    """Whom a change hits, by field."""

    contract: str
    line: str
    before: str | None
    after: str
    compatible: bool
    required_version: str | None
    affected: list[AffectedAnswer]
    more: int = Field(default=0, description="How many more are affected than are listed.")

    def having(self, *effects: str) -> list[AffectedAnswer]:
        """Return those for whom the change has one of these effects."""
        return [one for one in self.affected if one.effect in effects]


class ReasonAnswer(Answer):
    """One thing that speaks against, or that somebody should know."""

    kind: str
    message: str
    severity: Literal["error", "warning"] = "error"


class DecisionAnswer(Answer):
    """Yes or no to one question, with every reason."""

    question: str
    answer: bool
    reasons: list[ReasonAnswer]
    affected: list[AffectedAnswer] = []
    required_version: str | None = None


class ViolationAnswer(Answer):
    """One term that is weaker than a policy asks, and the policy it came from."""

    policy: str
    kind: str
    path: str
    message: str
    waived_by: str | None = None


class ChildAnswer(Answer):
    """A child that a policy would find in breach."""

    contract: str
    version: str
    violations: list[ViolationAnswer]


class PolicyCheckAnswer(Answer):
    """What the policies above a contract say to it, and what it would say to those below it."""

    contract: str
    version: str
    policies: list[str]
    violations: list[ViolationAnswer]
    children: list[ChildAnswer] = []

    @property
    def holds(self) -> bool:
        """Whether nothing that stands is weaker than a policy asks."""
        return all(one.waived_by for one in self.violations)


class WaiverAnswer(Answer):
    """Who sets which finding aside, where, why and until when."""

    id: int
    rule: str
    contract: str
    path: str
    owner: str
    reason: str
    until: date
    granted_by: str
    granted_at: datetime
    revoked_at: datetime | None = None


class ProposalAnswer(Answer):
    """A breaking change that waits, or waited, for somebody else's approval."""

    id: int
    contract: str
    version: str
    state: Literal["open", "approved", "declined"]
    proposed_by: str
    proposed_at: datetime
    decided_by: str | None = None
    decided_at: datetime | None = None
    reason: str | None = None


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
    deliveries: list[DeliveryAnswer] = []


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


class StepAnswer(Answer):
    """One version that moved from one status to another."""

    contract: str
    version: str
    before: str
    after: str
    reason: str
