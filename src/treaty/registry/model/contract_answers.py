"""Contracts, versions and lines as the registry answers them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from operator import not_
from typing import Any, Literal

from pydantic import Field

from treaty.registry.model.page import Answer
from treaty.registry.report import CompatibilityIssue, CompatibilityReport


class Registration(Answer):
    """What became of a version that was handed in."""

    status: Literal["registered", "proposed"]
    dataset_id: str
    version: str
    compatibility: CompatibilityReport
    proposal: int | None = Field(
        default=None, exclude_if=not_, description="Set where the version waits for somebody's word."
    )
    waits_for: list[str] = Field(
        default_factory=list, exclude_if=not_, description="The critical consumers that are to acknowledge it first."
    )


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
    status: str = Field(description="Of the version that is named.")
    owners: list[OwnerAnswer] = Field(default=[])
    consumers: int = Field(default=0, description="How many read one of its lines.")
    health: Literal["healthy", "warning", "failing"] | None = Field(
        default=None, description="Its worst newest measure; null where nothing was judged."
    )
    updated_at: datetime


class OverviewAnswer(Answer):
    """What there is to choose from: how many contracts have which domain, tier, status, owning team or health."""

    contracts: int
    domains: dict[str, int]
    tiers: dict[str, int]
    statuses: dict[str, int]
    owners: dict[str, int]
    health: dict[str, int] = Field(default={}, description="`none`: of which nothing was judged.")


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


class StepAnswer(Answer):
    """One version that moved from one status to another; a reminder to leave it where both are the same."""

    contract: str
    version: str
    before: str
    after: str
    reason: str


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
    """How its promises are kept: healthy, warning or failing; none where nothing was judged."""


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
    children: list[ChildAnswer] = Field(default=[])

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
