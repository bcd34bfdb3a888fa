"""Request bodies of certificates."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from treaty.contracts.findings import Severity
from treaty.events.certification import (
    Certification,
    CertifiedContract,
    CheckResult,
    Coverage,
    CoverageKind,
    Evidence,
    Outcome,
    Violations,
)
from treaty.events.checks import CHECKS, CheckId
from treaty.server.request_models import NO_NUL, IsoDatetime, RequestBody, ShortText, Text

Count = Annotated[int, Field(ge=0, lt=2**63, strict=True, examples=[12000])]
Value = Annotated[str, Field(max_length=2_000, pattern=NO_NUL)]

_PASSED = [{"id": one.id, "title": one.title, "outcome": Outcome.PASSED, "violations": 0} for one in CHECKS.values()]


class ViolationsBody(RequestBody):
    """Events that violate a check in the same way, and the first of them."""

    event_type: Value = Field(examples=["ClassPublished"])
    count: Count
    severity: Severity = Field(examples=["warning"])
    rule: Value | None = Field(default=None, examples=["lifecycle.invariant.capacity_kept"])
    field: Value | None = Field(default=None, examples=["capacity"])
    message: Value = Field(examples=["must hold: The capacity of a class never falls."])
    key: Value | None = Field(default=None, examples=["C-1017"])
    sequence: Value | None = Field(default=None, examples=["2"])
    value: Value | None = Field(default=None, examples=["9"])


class CheckResultBody(RequestBody):
    """The result of one check."""

    id: CheckId = Field(examples=["ordering.sequence"])
    title: Value = Field(default="", examples=["Events of a key arrive in the order of their sequence"])
    outcome: Outcome = Field(examples=["passed"])
    violations: Count = Field(default=0)
    why: Value | None = Field(default=None, examples=[None])
    examples: list[ViolationsBody] = Field(default=[], max_length=1_000)


class CoverageBody(RequestBody):
    """Something that the contract allows, and whether the publisher was seen to send it."""

    kind: CoverageKind = Field(examples=["optional_field"])
    event_type: Value | None = Field(default=None, examples=["ClassPublished"])
    name: Value = Field(examples=["coach.needsCoverage"])
    seen: bool = Field(examples=[False])


class CertifiedContractBody(RequestBody):
    """A contract that the publisher was checked against."""

    id: ShortText = Field(examples=["users.daily_active"])
    version: ShortText = Field(examples=["1.0.0"])
    event_type: Value = Field(examples=["ClassPublished"])
    events: Count


class EvidenceBody(RequestBody):
    """What the certification is based on."""

    source: Text = Field(examples=["kafka://127.0.0.1:9092/classes"])
    events: Count
    keys: Count
    redeliveries: Count = Field(default=0)
    first_event_at: IsoDatetime | None = Field(default=None, examples=["2026-11-18T06:00:00Z"])
    last_event_at: IsoDatetime | None = Field(default=None, examples=["2026-11-18T22:00:00Z"])
    bounded_by: Value | None = Field(default=None, examples=["60 s"])


class CertificationBody(RequestBody):
    """A report of `treaty certify --format json`."""

    publisher: ShortText = Field(examples=["native scheduling"])
    passed: bool = Field(default=True, description="Follows from the checks, and is ignored.", examples=[True])
    certified_at: IsoDatetime = Field(examples=["2026-11-19T08:00:00Z"])
    contracts: list[CertifiedContractBody] = Field(min_length=1, max_length=100)
    evidence: EvidenceBody
    checks: list[CheckResultBody] = Field(
        min_length=len(CheckId), max_length=len(CheckId), description="One result for each check.", examples=[_PASSED]
    )
    coverage: list[CoverageBody] = Field(default=[], max_length=20_000)
    unchecked: list[Value] = Field(default=[], max_length=1_000)

    def as_certification(self) -> Certification:
        """Return it as a certification."""
        evidence = self.evidence
        return Certification(
            self.publisher,
            tuple(CertifiedContract(one.id, one.version, one.event_type, one.events) for one in self.contracts),
            Evidence(**evidence.model_dump()),
            tuple(
                CheckResult(
                    one.id, one.outcome, tuple(Violations(**each.model_dump()) for each in one.examples), one.why
                )
                for one in self.checks
            ),
            tuple(Coverage(one.kind, one.event_type, one.name, one.seen) for one in self.coverage),
            self.certified_at,
            tuple(self.unchecked),
        )


class CertificateBody(RequestBody):
    """A certificate for a line, from a certification that no check failed."""

    line: Text = Field(examples=["users.daily_active@1"])
    days: int = Field(default=90, ge=0, le=10_000, description="How long it is valid: 1 to 730 days.", examples=[90])
    certification: CertificationBody


class RevocationBody(RequestBody):
    """Why a certificate is revoked."""

    reason: Text = Field(examples=["the vendor replaced its exporter"])
