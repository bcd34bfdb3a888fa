"""Answers about contracts, versions, policies, waivers and proposals."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from operator import not_
from typing import Any, Literal

from pydantic import Field

from treaty.registry.model.incidents import HealthWord
from treaty.registry.model.page import Answer
from treaty.registry.report import CompatibilityIssue, CompatibilityReport


class Registration(Answer):
    """The result of a submission."""

    status: Literal["registered", "proposed", "updated"] = Field(
        description="`updated`: the version was registered before, and the document changed its status or deprecation."
    )
    dataset_id: str = Field(examples=["users.daily_active"])
    version: str = Field(examples=["1.1.0"])
    compatibility: CompatibilityReport
    proposal: int | None = Field(
        default=None,
        exclude_if=not_,
        description="Set if the version waits for approval or acknowledgement.",
        examples=[3],
    )
    waits_for: list[str] = Field(
        default_factory=list,
        exclude_if=not_,
        description="The critical consumers that are to acknowledge it first.",
        examples=[["ltv-dashboard"]],
    )
    unconfirmed: list[str] = Field(
        default_factory=list,
        exclude_if=not_,
        description="The critical consumers that it does not wait for, because their teams have not confirmed them.",
        examples=[["audit-export"]],
    )
    lifecycle: str | None = Field(
        default=None,
        exclude_if=not_,
        description="What became of the line if the document changed its status or deprecation.",
        examples=["users.daily_active@1 is deprecated; sunset on 2027-03-31, retirement from 2027-04-07."],
    )
    unchanged: bool = Field(default=False, exclude=True)
    """Whether the same document was registered before; over HTTP the status code shows it, and the body is the same."""


class OwnerAnswer(Answer):
    """A team that answers for a contract, and where to reach it."""

    team: str = Field(examples=["growth-platform"])
    contact: str | None = Field(default=None, examples=["#growth-platform"])


class NamespaceAnswer(Answer):
    """A prefix of ids and the team that it belongs to."""

    prefix: str = Field(examples=["pay."])
    team: str = Field(examples=["payments"])
    assigned_at: datetime = Field(examples=["2026-11-03T14:05:00Z"])
    assigned_by: str = Field(examples=["platform-steward"])
    other_contracts: list[str] = Field(
        default=[],
        description="When it is assigned: the contracts in it that belong to other teams, and stay with them.",
        examples=[["pay.fraud_scores"]],
    )
    more: int = Field(default=0, description="How many more of these there are than are listed.", examples=[0])


class VersionAnswer(Answer):
    """A registered version with its status and dates."""

    contract: str = Field(examples=["users.daily_active"])
    version: str = Field(examples=["1.0.0"])
    line: str = Field(examples=["users.daily_active@1"])
    status: str = Field(examples=["deprecated"])
    form: str = Field(examples=["short"])
    digest: str = Field(examples=["9b31477b8c9c44d36a5027c44e2e15913ae44831ff1f77f37c9591a42eb97d34"])
    mode: str = Field(examples=["backward"])
    owners: list[OwnerAnswer]
    registered_at: datetime = Field(examples=["2026-11-03T14:05:00Z"])
    registered_by: str = Field(examples=["ci of growth-platform"])
    deprecation_uri: str | None = Field(default=None, examples=["https://wiki.example.org/move-to-v2"])
    announced_on: date | None = Field(default=None, examples=["2026-11-03"])
    sunset_on: date | None = Field(default=None, examples=["2027-03-31"])
    retire_on: date | None = Field(default=None, examples=["2027-04-07"])
    replacement: str | None = Field(default=None, examples=["users.daily_active@2"])
    reason: str | None = Field(
        default=None, description="Why it is deprecated.", examples=["one model of users for all teams"]
    )


class DocumentAnswer(VersionAnswer):
    """One version with its document, in the form it was registered in, at its present status."""

    document: dict[str, Any] = Field(
        examples=[
            {
                "dataset_id": "users.daily_active",
                "version": "1.0.0",
                "status": "active",
                "owners": [{"team": "growth-platform"}],
                "fields": [{"name": "user_id", "type": "string"}],
                "primary_key": ["user_id"],
            }
        ]
    )


class EffectiveValueAnswer(Answer):
    """One value of an effective contract, and the policy that it comes from."""

    path: str = Field(examples=["sla.freshness"])
    value: Any = Field(examples=["24 h"])
    origin: str | None = Field(
        default=None,
        description="The policy and its version; null if the contract states it.",
        examples=["policy 1.0.0"],
    )


class EffectiveAnswer(DocumentAnswer):
    """One version with its effective document: what it states itself and what it inherits from its policies."""

    policies: list[str] = Field(
        description="The policies that bind it, nearest first.", examples=[["policy/sales 1.0.0"]]
    )
    values: list[EffectiveValueAnswer]


class MatchAnswer(Answer):
    """Where a word of a search was found, case-folded."""

    part: Literal["name", "field", "owner", "domain", "tag", "meaning"] = Field(examples=["field"])
    word: str = Field(description="The word that matched; not the one sent if that has a typo.", examples=["plan"])
    text: str = Field(description="The name or text that contains it.", examples=["plan"])


class ContractAnswer(Answer):
    """A contract as a search finds it."""

    id: str = Field(examples=["users.daily_active"])
    version: str = Field(examples=["1.1.0"])
    name: str | None = Field(default=None, examples=["Daily active users"])
    domain: str | None = Field(default=None, examples=["growth"])
    tier: str | None = Field(default=None, examples=["product"])
    parent: str | None = Field(default=None, examples=["policy/enterprise"])
    summary: str | None = Field(default=None, examples=["One row for each user who was active on a day."])
    status: str = Field(description="Of the version that is named.", examples=["active"])
    owners: list[OwnerAnswer] = Field(default=[])
    consumers: int = Field(default=0, description="How many read one of its lines.", examples=[2])
    health: HealthWord | None = Field(
        default=None, description="The health of its worst line; null where nothing was judged lately."
    )
    cause: str = Field(
        default="", description="Why it is not healthy.", examples=["freshness 31 h > 24 h", "blocked by order_capture"]
    )
    updated_at: datetime = Field(examples=["2026-11-03T14:05:00Z"])
    matches: list[MatchAnswer] = Field(default=[], description="For searches for words: where each was found.")


class OverviewAnswer(Answer):
    """What there is to choose from: how many contracts have which domain, tier, status, owning team or health."""

    contracts: int = Field(examples=[12])
    domains: dict[str, int] = Field(examples=[{"growth": 8, "sales": 4}])
    tiers: dict[str, int] = Field(examples=[{"product": 11, "enterprise": 1}])
    statuses: dict[str, int] = Field(examples=[{"active": 10, "deprecated": 2}])
    owners: dict[str, int] = Field(examples=[{"growth-platform": 8, "checkout": 4}])
    health: dict[str, int] = Field(
        default={},
        description="`none`: of which nothing was judged.",
        examples=[{"healthy": 9, "failing": 1, "none": 2}],
    )


class LineAnswer(Answer):
    """A line of a contract: the versions that share a MAJOR."""

    line: str = Field(examples=["users.daily_active@1"])
    namespace: str = Field(examples=["users_daily_active_v1"])
    status: str = Field(description="Of its highest released version.", examples=["active"])
    versions: int = Field(examples=[2])
    latest: str = Field(examples=["1.1.0"])
    current: str = Field(description="The highest released version, which speaks for the line.", examples=["1.1.0"])
    latest_active: str | None = Field(default=None, examples=["1.1.0"])
    announced_on: date | None = None
    sunset_on: date | None = None
    retire_on: date | None = None
    replacement: str | None = None
    deprecation_uri: str | None = None
    reason: str | None = Field(default=None, description="Why it is deprecated.")
    consumers: int = Field(examples=[2])


class ChangeAnswer(Answer):
    """One term that differs between two versions."""

    kind: str = Field(examples=["field_removed"])
    path: str = Field(examples=["ltv"])
    field: str | None = Field(examples=["ltv"])
    direction: str = Field(examples=["removed"])
    before: Any = Field(default=None, examples=["number, optional"])
    after: Any = Field(default=None, examples=[None])
    bump: str = Field(examples=["MAJOR"])
    breaks: list[str] = Field(examples=[["existing_data"]])
    severity: str = Field(examples=["error"])
    message: str = Field(examples=["field 'ltv' was removed; old data will fail validation"])


class DiffAnswer(Answer):
    """The result of judging two versions."""

    contract: str = Field(examples=["users.daily_active"])
    before: str | None = Field(examples=["1.1.0"])
    after: str = Field(examples=["2.0.0"])
    mode: str = Field(examples=["backward"])
    compatible: bool
    admissible: bool
    required_bump: str = Field(examples=["MAJOR"])
    required_version: str | None = Field(examples=["2.0.0"])
    changes: list[ChangeAnswer]
    issues: list[CompatibilityIssue]


class StepAnswer(Answer):
    """One version that moved from one status to another; a reminder to leave it where both are the same."""

    contract: str = Field(examples=["users.daily_active"])
    version: str = Field(examples=["1.0.0"])
    before: str = Field(examples=["deprecated"])
    after: str = Field(examples=["sunset"])
    reason: str = Field(examples=["the sunset date was reached"])


SORTS = ("name", "meaning", "owner", "status", "consumers", "changed")
"""What a search can be sorted by."""


@dataclass(frozen=True, slots=True)
class Query:
    """What is looked for; every part that is given must fit."""

    text: str | None = None
    name: str | None = None
    field: str | None = None
    owner: str | None = None
    domain: str | None = None
    tag: str | None = None
    tier: str | None = None
    status: str | None = None
    health: str | None = None
    """healthy, warning, blocked, failing, or none (nothing was judged lately)."""
    sort: str | None = None
    """One of SORTS, `-` before it for descending; by id if None."""


class ViolationAnswer(Answer):
    """One term that is weaker than a policy asks, and the policy it came from."""

    policy: str = Field(examples=["policy/growth 1.0.0"])
    kind: str = Field(examples=["sla_relaxed"])
    path: str = Field(examples=["sla.freshness"])
    message: str = Field(examples=["service level sla.freshness is relaxed: 12 h -> 48 h"])
    severity: Literal["error", "warning", "info"] = "error"
    waived_by: str | None = Field(default=None, examples=["growth-platform"])


class ChildAnswer(Answer):
    """A child that a policy would find in breach."""

    contract: str = Field(examples=["growth.signups"])
    version: str = Field(examples=["1.1.0"])
    violations: list[ViolationAnswer]


class PolicyCheckAnswer(Answer):
    """The terms of a contract that are weaker than its policies require, and the same for the contracts below it."""

    contract: str = Field(examples=["users.daily_active"])
    version: str = Field(examples=["1.1.0"])
    policies: list[str] = Field(examples=[["policy/growth 1.0.0", "policy/enterprise 1.0.0"]])
    violations: list[ViolationAnswer]
    children: list[ChildAnswer] = Field(default=[])

    @property
    def is_met(self) -> bool:
        """Whether no violation is an error, apart from waived ones."""
        return all(violation.waived_by or violation.severity != "error" for violation in self.violations)


class WaiverAnswer(Answer):
    """Who sets which finding aside, where, why and until when."""

    id: int = Field(examples=[7])
    rule: str = Field(examples=["sla_relaxed"])
    contract: str = Field(examples=["users.daily_active"])
    path: str = Field(examples=["sla.freshness"])
    owner: str = Field(examples=["growth-platform"])
    reason: str = Field(examples=["the source delivers daily until the new feed is live"])
    until: date = Field(examples=["2027-01-31"])
    granted_by: str = Field(examples=["data-stewards"])
    granted_at: datetime = Field(examples=["2026-11-03T14:05:00Z"])
    revoked_at: datetime | None = None
    ended_at: datetime | None = Field(
        default=None, description="When its owner was notified that its last day is over."
    )
    in_force: bool = Field(
        default=True, description="Whether it is in force now: neither revoked nor past its last day."
    )

    def is_in_force(self, today: date) -> bool:
        """Return whether the waiver is in force on a day; the last day counts."""
        return self.revoked_at is None and today <= self.until


class ProposalAnswer(Answer):
    """A breaking change that waits, or waited, for approval."""

    id: int = Field(examples=[3])
    contract: str = Field(examples=["users.daily_active"])
    version: str = Field(examples=["2.0.0"])
    state: Literal["open", "approved", "declined"] = Field(examples=["approved"])
    proposed_by: str = Field(examples=["ci of growth-platform"])
    proposed_at: datetime = Field(examples=["2026-11-03T14:05:00Z"])
    decided_by: str | None = Field(default=None, examples=["data-stewards"])
    decided_at: datetime | None = Field(default=None, examples=["2026-11-04T09:30:00Z"])
    reason: str | None = Field(default=None, examples=["every reader of ltv has moved to revenue.lifetime"])
