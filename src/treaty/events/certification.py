"""The report of a certification: the result of every check, with examples, and what was and was not seen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from treaty.contracts.findings import Severity
from treaty.events.checks import CHECKS, CheckId


class Outcome(StrEnum):
    """The result of a check: it holds, it is violated (by warnings only, or by errors), or it does not apply."""

    PASSED = "passed"
    WARNED = "warned"
    FAILED = "failed"
    NOT_CHECKED = "not_checked"


class CoverageKind(StrEnum):
    """What a contract allows, of which a certificate says whether it was seen."""

    EVENT_TYPE = "event_type"
    STATE = "state"
    FIELD = "optional_field"
    VALUE = "enum_value"


@dataclass(frozen=True, slots=True)
class Violations:
    """Events of one type that violate a check in the same way, and the first of them in the order of arrival."""

    event_type: str
    count: int
    message: str
    severity: Severity = Severity.ERROR
    rule: str | None = None
    """The rule of the contract or the invariant that is violated, if the check has several."""
    field: str | None = None
    key: str | None = None
    sequence: str | None = None
    value: str | None = None

    def as_data(self) -> dict[str, Any]:
        """Return the violations as JSON data."""
        return {
            "event_type": self.event_type,
            "count": self.count,
            "severity": self.severity.value,
            "rule": self.rule,
            "field": self.field,
            "message": self.message,
            "key": self.key,
            "sequence": self.sequence,
            "value": self.value,
        }


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of one check, over all contracts."""

    id: CheckId
    outcome: Outcome
    violations: tuple[Violations, ...] = ()
    why: str | None = None
    """Why the check does not apply."""

    @property
    def count(self) -> int:
        """The number of violations; an event that violates several rules of a check counts for each."""
        return sum(one.count for one in self.violations)

    def as_data(self) -> dict[str, Any]:
        """Return the result as JSON data."""
        return {
            "id": self.id.value,
            "title": CHECKS[self.id].title,
            "outcome": self.outcome.value,
            "violations": self.count,
            "why": self.why,
            "examples": [one.as_data() for one in self.violations],
        }


@dataclass(frozen=True, slots=True)
class Coverage:
    """An event type, state, optional field or enum value of a contract, and whether it was seen."""

    kind: CoverageKind
    event_type: str | None
    name: str
    seen: bool

    def as_data(self) -> dict[str, Any]:
        """Return the entry as JSON data."""
        return {"kind": self.kind.value, "event_type": self.event_type, "name": self.name, "seen": self.seen}

    def __str__(self) -> str:
        where = f" of {self.event_type}" if self.event_type and self.kind is not CoverageKind.EVENT_TYPE else ""
        return f"{self.kind.value.replace('_', ' ')} {self.name}{where}"


@dataclass(frozen=True, slots=True)
class CertifiedContract:
    """A contract that a publisher was checked against."""

    id: str
    version: str
    event_type: str
    events: int

    def as_data(self) -> dict[str, Any]:
        """Return the contract as JSON data."""
        return {"id": self.id, "version": self.version, "event_type": self.event_type, "events": self.events}


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a certification is based on: where the events came from, how many, and of which time."""

    source: str
    events: int
    keys: int
    redeliveries: int = 0
    first_event_at: datetime | None = None
    last_event_at: datetime | None = None
    bounded_by: str | None = None
    """Which limit ended the collection, if the publisher did not end by itself."""

    def as_data(self) -> dict[str, Any]:
        """Return the evidence as JSON data."""
        return {
            "source": self.source,
            "events": self.events,
            "keys": self.keys,
            "redeliveries": self.redeliveries,
            "first_event_at": self.first_event_at.isoformat() if self.first_event_at else None,
            "last_event_at": self.last_event_at.isoformat() if self.last_event_at else None,
            "bounded_by": self.bounded_by,
        }


@dataclass(frozen=True)
class Certification:
    """What was found about a publisher under some contracts."""

    publisher: str
    contracts: tuple[CertifiedContract, ...]
    evidence: Evidence
    results: tuple[CheckResult, ...]
    coverage: tuple[Coverage, ...]
    certified_at: datetime
    unchecked: tuple[str, ...] = field(default=())
    """Terms of the contracts that no check covers, with the reasons."""

    @property
    def passed(self) -> bool:
        """Whether no check failed."""
        return all(result.outcome is not Outcome.FAILED for result in self.results)

    @property
    def failures(self) -> tuple[CheckResult, ...]:
        """The checks that failed."""
        return tuple(result for result in self.results if result.outcome is Outcome.FAILED)

    @property
    def unseen(self) -> tuple[Coverage, ...]:
        """What the contracts allow and the publisher did not send."""
        return tuple(one for one in self.coverage if not one.seen)

    def result(self, check: CheckId) -> CheckResult:
        """Return the result of a check."""
        return next(one for one in self.results if one.id is check)

    def for_contract(self, contract: str) -> Certification:
        """Return what the certification says about one contract, without the event types of others."""
        own = tuple(one for one in self.contracts if one.id == contract)
        types = {one.event_type for one in own}
        results = tuple(
            replace(one, violations=tuple(each for each in one.violations if each.event_type in types))
            for one in self.results
        )
        coverage = tuple(one for one in self.coverage if one.event_type in types or one.kind is CoverageKind.STATE)
        unchecked = tuple(one for one in self.unchecked if one.startswith(f"{contract}: "))
        return replace(self, contracts=own, results=results, coverage=coverage, unchecked=unchecked)

    def as_data(self) -> dict[str, Any]:
        """Return the certification as JSON data, from which its digest is made."""
        return {
            "publisher": self.publisher,
            "passed": self.passed,
            "certified_at": self.certified_at.isoformat(),
            "contracts": [one.as_data() for one in self.contracts],
            "evidence": self.evidence.as_data(),
            "checks": [one.as_data() for one in self.results],
            "coverage": [one.as_data() for one in self.coverage],
            "unchecked": list(self.unchecked),
        }


def certification_from(data: Mapping[str, Any]) -> Certification:
    """Read what `Certification.as_data` returned."""
    evidence = dict(data["evidence"])
    for name in ("first_event_at", "last_event_at"):
        evidence[name] = datetime.fromisoformat(evidence[name]) if evidence[name] else None
    return Certification(
        data["publisher"],
        tuple(CertifiedContract(**one) for one in data["contracts"]),
        Evidence(**evidence),
        tuple(
            CheckResult(
                CheckId(one["id"]),
                Outcome(one["outcome"]),
                tuple(Violations(**{**entry, "severity": Severity(entry["severity"])}) for entry in one["examples"]),
                one["why"],
            )
            for one in data["checks"]
        ),
        tuple(Coverage(**{**one, "kind": CoverageKind(one["kind"])}) for one in data["coverage"]),
        datetime.fromisoformat(data["certified_at"]),
        tuple(data["unchecked"]),
    )


def check_results(
    violations: Mapping[CheckId, Sequence[Violations]], applicable: Iterable[Mapping[CheckId, str | None]]
) -> tuple[CheckResult, ...]:
    """Return the result of every check in the order of the table, given where each one applies."""
    reasons = list(applicable)
    return tuple(_result(check, tuple(violations.get(check, ())), [one[check] for one in reasons]) for check in CHECKS)


def _result(check: CheckId, found: tuple[Violations, ...], reasons: Sequence[str | None]) -> CheckResult:
    if found:
        failed = any(one.severity is Severity.ERROR for one in found)
        return CheckResult(check, Outcome.FAILED if failed else Outcome.WARNED, found)
    if reasons and all(reasons):
        return CheckResult(check, Outcome.NOT_CHECKED, why="; ".join(dict.fromkeys(filter(None, reasons))))
    return CheckResult(check, Outcome.PASSED)
