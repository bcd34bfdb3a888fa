"""What testing data against a contract found, as one frozen value; whoever draws it decides nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from treaty.compatibility.changes import Change, Direction
from treaty.compatibility.judge import Judged
from treaty.contracts.findings import Severity
from treaty.contracts.values import abbreviate, thaw
from treaty.spark.checks import Kind, Threshold
from treaty.spark.drift import Drift
from treaty.spark.measures import Measures, RuleMeasure
from treaty.spark.report.samples import Sample
from treaty.spark.rules import UnknownFields

_WEIGHTS = {UnknownFields.ALLOWED: Severity.INFO, UnknownFields.REFUSED: Severity.ERROR}


@dataclass(frozen=True)
class SchemaDifference:
    """One thing that is declared in one way and found in another, with the kind of change it would be."""

    field: str
    kind: str
    severity: Severity
    declared: Any
    found: Any
    says: str

    def as_data(self) -> dict[str, Any]:
        """Return the difference as JSON would say it."""
        return {
            "field": self.field or None,
            "kind": self.kind,
            "severity": self.severity.value,
            "declared": thaw(self.declared),
            "found": thaw(self.found),
            "says": self.says,
        }


def schema_differences(drift: Drift, unknown_fields: UnknownFields | None = None) -> tuple[SchemaDifference, ...]:
    """Return the differences, the gravest first; fields the contract does not know weigh as the run says."""
    found = [_difference(item, unknown_fields) for item in drift.judged]
    return tuple(sorted(found, key=lambda item: (item.severity.rank, item.field, item.kind)))


def _difference(item: Judged, unknown_fields: UnknownFields | None) -> SchemaDifference:
    change = item.change
    severity = _WEIGHTS[unknown_fields] if unknown_fields is not None and _is_unknown(change) else item.severity
    return SchemaDifference(
        change.field or change.path, change.kind, severity, change.before, change.after, _says(item)
    )


def _is_unknown(change: Change) -> bool:
    """Tell whether a difference is a field that the contract does not know."""
    return change.direction is Direction.ADDED and change.before is None


def _says(item: Judged) -> str:
    declared, found = abbreviate(item.change.before), abbreviate(item.change.after)
    if _is_unknown(item.change):
        return f"is in the data ({found}), but not in the contract"
    if item.change.direction is Direction.REMOVED and item.change.after is None:
        return f"is in the contract ({declared}), but not in the data"
    return f"is declared as {declared}, but the data have {found}"


NO_ROWS = Threshold("mustBeLessOrEqualTo", 0)


class Outcome(StrEnum):
    """How a test ended."""

    PASSED = "passed"
    WARNED = "passed with warnings"
    FAILED = "failed"


@dataclass(frozen=True)
class WrittenQuarantine:
    """Where the quarantined rows were written, and how many."""

    path: str
    rows: int


@dataclass(frozen=True)
class TestReport:
    """One dataset under one contract: the measures, the differences in schema, samples, and what was allowed."""

    data: str
    measures: Measures
    drift: tuple[SchemaDifference, ...] = ()
    samples: tuple[Sample, ...] = ()
    allowed: Threshold = NO_ROWS
    quarantine: WrittenQuarantine | None = None

    @property
    def outcome(self) -> Outcome:
        """The verdict: it fails for its reasons, and passes in spite of concerns."""
        if self.reasons:
            return Outcome.FAILED
        return Outcome.WARNED if self.concerns else Outcome.PASSED

    @property
    def passed(self) -> bool:
        """Whether nothing stands against the data."""
        return self.outcome is not Outcome.FAILED

    @property
    def quarantine_is_allowed(self) -> bool:
        """Whether no more rows are quarantined than may be."""
        return self.allowed.holds(self.measures.quarantined, self.measures.rows)

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why the test failed; nothing where it passed."""
        return tuple(self._reasons())

    @property
    def concerns(self) -> tuple[str, ...]:
        """What somebody should look at although the test may pass."""
        return tuple(self._concerns())

    @property
    def notable(self) -> tuple[RuleMeasure, ...]:
        """The rules that did not hold, or that some rows break: errors first, then by rows and id."""
        told = [item for item in self.measures.results if not item.held or item.broken]
        return tuple(sorted(told, key=_gravest_first))

    @property
    def unbroken(self) -> tuple[RuleMeasure, ...]:
        """The rules that held without an exception, by id."""
        held = [item for item in self.measures.results if item.held and not item.broken]
        return tuple(sorted(held, key=lambda item: item.rule.id))

    @property
    def freshness(self) -> tuple[RuleMeasure, ...]:
        """The rules on the age of the newest row."""
        return tuple(item for item in self.measures.results if item.rule.kind is Kind.FRESHNESS)

    def samples_of(self, rule_id: str) -> tuple[Sample, ...]:
        """Return the samples of one rule."""
        return tuple(item for item in self.samples if item.rule == rule_id)

    def fails(self, item: RuleMeasure) -> bool:
        """Tell whether a rule fails the test: not if its rows are quarantined, and so many are allowed."""
        if item.held or item.rule.severity is not Severity.ERROR:
            return False
        return not (_is_mended(item) and self.quarantine_is_allowed)

    def as_data(self) -> dict[str, Any]:
        """Return the report as JSON would say it."""
        return {
            "outcome": self.outcome.value,
            "passed": self.passed,
            "reasons": list(self.reasons),
            "concerns": list(self.concerns),
            "data": self.data,
            **self.measures.as_data(),
            "quarantined_allowed": {"value": self.allowed.value, "unit": "percent" if self.allowed.percent else "rows"},
            "drift": [item.as_data() for item in self.drift],
            "samples": [item.as_data() for item in self.samples],
            "quarantine": None if self.quarantine is None else asdict(self.quarantine),
        }

    def _reasons(self) -> Iterator[str]:
        if not self.quarantine_is_allowed:
            limit = "" if self.allowed == NO_ROWS else f"; {_at_most(self.allowed)} may be"
            yield f"{self._apart}{limit}"
        failed = sum(self.fails(item) and not _is_mended(item) for item in self.measures.results)
        if failed:
            yield f"{_counted(failed, 'rule')} on the whole dataset did not hold"
        yield from self._drifted(Severity.ERROR, "against the contract")

    def _concerns(self) -> Iterator[str]:
        if not self.measures.rows:
            yield "0 rows: nothing was tested"
        if self.measures.warnings:
            yield f"{_counted(len(self.measures.warnings), 'rule')} of lesser weight did not hold"
        if self.measures.quarantined and self.quarantine_is_allowed:
            yield f"{self._apart}, as is allowed"
        yield from self._drifted(Severity.WARNING, "to look at")

    @property
    def _apart(self) -> str:
        count = self.measures.quarantined
        return f"{count:,} of {format_rows(self.measures.rows)} {'is' if count == 1 else 'are'} quarantined"

    def _drifted(self, severity: Severity, what: str) -> Iterator[str]:
        count = sum(item.severity is severity for item in self.drift)
        if count:
            yield f"{_counted(count, 'difference')} in schema {what}"


def format_rows(count: int) -> str:
    """Write how many rows."""
    return _counted(count, "row")


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def _is_mended(item: RuleMeasure) -> bool:
    """Tell whether every row that breaks a rule is quarantined, so that none is left."""
    return item.broken is not None and item.rule.quarantines


def _at_most(allowed: Threshold) -> str:
    return f"at most {allowed.value}{' %' if allowed.percent else ''}"


def _gravest_first(item: RuleMeasure) -> tuple[bool, int, int, str]:
    return (item.held, item.rule.severity.rank, -(item.broken or 0), item.rule.id)
