"""Certifications as values, for tests of certificates."""

from __future__ import annotations

from datetime import UTC, datetime

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
from treaty.events.checks import CheckId

AT = datetime(2026, 3, 1, 8, tzinfo=UTC)


def certification(
    contract: str = "orders", version: str = "1.0.0", publisher: str = "shop", failed: CheckId | None = None
) -> Certification:
    """Return a certification of one contract, with a warning, in which one check may have failed."""

    def result(check: CheckId) -> CheckResult:
        if check is failed:
            return CheckResult(check, Outcome.FAILED, (Violations("OrderPlaced", 1, "comes directly after 1"),))
        if check is CheckId.INVARIANT:
            warned = Violations("OrderPlaced", 2, "must hold: small", Severity.WARNING, "lifecycle.invariant.small")
            return CheckResult(check, Outcome.WARNED, (warned,))
        return CheckResult(check, Outcome.PASSED)

    return Certification(
        publisher,
        (CertifiedContract(contract, version, "OrderPlaced", 12),),
        Evidence("out/*.jsonl", 12, 3, 1, AT, AT),
        tuple(map(result, CheckId)),
        (
            Coverage(CoverageKind.EVENT_TYPE, "OrderPlaced", "OrderPlaced", True),
            Coverage(CoverageKind.FIELD, "OrderPlaced", "note", False),
            Coverage(CoverageKind.STATE, None, "placed", True),
        ),
        AT,
    )
