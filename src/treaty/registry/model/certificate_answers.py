"""Answers about certificates of publishers."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import Field

from treaty.contracts.findings import Severity
from treaty.events.certification import CoverageKind, Outcome
from treaty.events.checks import CheckId
from treaty.registry.model.page import Answer

CertificateState = Literal["valid", "expired", "revoked", "altered"]


class ViolationsAnswer(Answer):
    """Events that violate a check in the same way, and the first of them."""

    event_type: str = Field(examples=["ClassPublished"])
    count: int = Field(examples=[2])
    severity: Severity = Field(examples=["warning"])
    rule: str | None = Field(default=None, examples=["lifecycle.invariant.capacity_kept"])
    field: str | None = Field(default=None, examples=["capacity"])
    message: str = Field(examples=["must hold: The capacity of a class never falls."])
    key: str | None = Field(default=None, examples=["C-1017"])
    sequence: str | None = Field(default=None, examples=["2"])
    value: str | None = Field(default=None, examples=["9"])


class CheckResultAnswer(Answer):
    """The result of one check."""

    id: CheckId = Field(examples=["ordering.sequence"])
    title: str = Field(examples=["Events of a key arrive in the order of their sequence"])
    outcome: Outcome = Field(examples=["passed"])
    violations: int = Field(examples=[0])
    why: str | None = Field(default=None, description="Why the check does not apply.", examples=[None])
    examples: list[ViolationsAnswer] = Field(default=[])


class CoverageAnswer(Answer):
    """Something that the contract allows, and whether the publisher was seen to send it."""

    kind: CoverageKind = Field(examples=["optional_field"])
    event_type: str | None = Field(default=None, examples=["ClassPublished"])
    name: str = Field(examples=["coach.needsCoverage"])
    seen: bool = Field(examples=[False])


class EvidenceAnswer(Answer):
    """What a certificate is based on."""

    source: str = Field(examples=["kafka://127.0.0.1:9092/classes"])
    events: int = Field(examples=[12000])
    keys: int = Field(examples=[3100])
    redeliveries: int = Field(default=0, examples=[4])
    first_event_at: datetime | None = Field(default=None, examples=["2026-11-18T06:00:00Z"])
    last_event_at: datetime | None = Field(default=None, examples=["2026-11-18T22:00:00Z"])
    bounded_by: str | None = Field(default=None, description="The limit that ended the collection.", examples=["60 s"])


class CertificateAnswer(Answer):
    """A certificate: a publisher keeps to a contract, as far as its events were seen, until a day."""

    id: str = Field(examples=["4be0643f1d98573b"])
    publisher: str = Field(examples=["native scheduling"])
    line: str = Field(examples=["gym.scheduling.class_published@1"])
    version: str = Field(examples=["1.2.0"])
    event_type: str = Field(examples=["ClassPublished"])
    state: CertificateState = Field(
        description="`altered`: the digest or signature does not match what is stored.", examples=["valid"]
    )
    issued_at: datetime = Field(examples=["2026-11-19T08:00:00Z"])
    issued_by: str = Field(examples=["scheduling-ci"])
    expires_at: datetime = Field(examples=["2027-02-17T08:00:00Z"])
    digest: str = Field(description="SHA-256 of the certificate.", examples=["4be0643f1d98573b…"])
    signed: bool = Field(description="Whether it is signed with the key of audit checkpoints.", examples=[True])
    revoked_at: datetime | None = Field(default=None, examples=[None])
    revoked_by: str | None = Field(default=None, examples=[None])
    revoked_reason: str | None = Field(default=None, examples=[None])
    evidence: EvidenceAnswer
    checks: list[CheckResultAnswer] = Field(default=[])
    coverage: list[CoverageAnswer] = Field(default=[])
    unchecked: list[str] = Field(default=[], description="Terms of the contract that no check covers.", examples=[[]])

    @property
    def unseen(self) -> list[CoverageAnswer]:
        """What the contract allows and the publisher was not seen to send."""
        return [one for one in self.coverage if not one.seen]
