"""Policies, waivers and proposals as the registry answers them."""

from __future__ import annotations

from datetime import date, datetime
from typing import Literal

from pydantic import Field

from treaty.registry.answers.answer import Answer


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
