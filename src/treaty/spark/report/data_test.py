"""Run a data test and report it as a frozen value: measures, differences of schema, quarantine, samples and outcome."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from treaty.compatibility.changes import Change, Direction
from treaty.compatibility.judge import Judged
from treaty.contracts.findings import Severity
from treaty.contracts.values import abbreviate, thaw
from treaty.spark.drift import Drift, TextTyping, schema_drift
from treaty.spark.enforcement import Enforcement
from treaty.spark.measures import Measures, RuleMeasure
from treaty.spark.report.quarantine import Destination, write_quarantine
from treaty.spark.report.samples import Sample, collect_samples
from treaty.spark.rules import Kind, Threshold, UnknownFields

_UNKNOWN_FIELD_SEVERITY = {UnknownFields.ALLOWED: Severity.INFO, UnknownFields.REFUSED: Severity.ERROR}


@dataclass(frozen=True)
class SchemaDifference:
    """One difference between the declared and the actual schema, with the kind of change it would be."""

    field: str
    kind: str
    severity: Severity
    declared: Any
    actual: Any
    message: str

    def as_data(self) -> dict[str, Any]:
        """Return the difference as JSON data."""
        return {
            "field": self.field or None,
            "kind": self.kind,
            "severity": self.severity.value,
            "declared": thaw(self.declared),
            "actual": thaw(self.actual),
            "message": self.message,
        }


def schema_differences(drift: Drift, unknown_fields: UnknownFields | None = None) -> tuple[SchemaDifference, ...]:
    """Return the differences, most severe first; `unknown_fields` sets the severity of undeclared fields."""
    differences = [_difference(judged, unknown_fields) for judged in drift.judged]
    return tuple(sorted(differences, key=lambda entry: (entry.severity.rank, entry.field, entry.kind)))


def _difference(judged: Judged, unknown_fields: UnknownFields | None) -> SchemaDifference:
    change = judged.change
    severity = (
        _UNKNOWN_FIELD_SEVERITY[unknown_fields]
        if unknown_fields is not None and _is_unknown(change)
        else judged.severity
    )
    return SchemaDifference(
        change.field or change.path, change.kind, severity, change.before, change.after, _describe(judged.change)
    )


def _is_unknown(change: Change) -> bool:
    """Whether a difference is a field that is not in the contract."""
    return change.direction is Direction.ADDED and change.before is None


def _describe(change: Change) -> str:
    declared, actual = abbreviate(change.before), abbreviate(change.after)
    if _is_unknown(change):
        return f"is in the data ({actual}), but not in the contract"
    if change.direction is Direction.REMOVED and change.after is None:
        return f"is in the contract ({declared}), but not in the data"
    return f"is declared as {declared}, but the data has {actual}"


NO_ROWS = Threshold("mustBeLessOrEqualTo", 0)


class Outcome(StrEnum):
    """How a test ended."""

    PASSED = "passed"
    WARNED = "passed with warnings"
    FAILED = "failed"


@dataclass(frozen=True)
class WrittenQuarantine:
    """Where quarantined rows were written, and how many."""

    path: str
    rows: int


@dataclass(frozen=True)
class TestReport:
    """The result of testing one dataset: measures, differences of schema, samples, and the allowed quarantine."""

    data: str
    measures: Measures
    drift: tuple[SchemaDifference, ...] = ()
    samples: tuple[Sample, ...] = ()
    allowed: Threshold = NO_ROWS
    quarantine: WrittenQuarantine | None = None

    @property
    def outcome(self) -> Outcome:
        """The outcome: failed with reasons, passed with warnings, or passed."""
        if self.reasons:
            return Outcome.FAILED
        return Outcome.WARNED if self.concerns else Outcome.PASSED

    @property
    def passed(self) -> bool:
        """Whether the test did not fail."""
        return self.outcome is not Outcome.FAILED

    @property
    def quarantine_is_allowed(self) -> bool:
        """Whether the number of quarantined rows is within the allowed threshold."""
        return self.allowed.holds(self.measures.quarantined, self.measures.rows)

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why the test failed; empty if it passed."""
        return tuple(self._reasons())

    @property
    def concerns(self) -> tuple[str, ...]:
        """Warnings that do not fail the test."""
        return tuple(self._concerns())

    @property
    def notable(self) -> tuple[RuleMeasure, ...]:
        """The rules that failed or that some rows violate: failed rules first, by severity, rows and id."""
        notable = [result for result in self.measures.results if not result.passed or result.violating_rows]
        return tuple(sorted(notable, key=_severity_order))

    @property
    def unviolated(self) -> tuple[RuleMeasure, ...]:
        """The rules that passed without any violation, by id."""
        unviolated = [result for result in self.measures.results if result.passed and not result.violating_rows]
        return tuple(sorted(unviolated, key=lambda result: result.rule.id))

    @property
    def freshness(self) -> tuple[RuleMeasure, ...]:
        """The rules on the age of the newest row."""
        return tuple(result for result in self.measures.results if result.rule.kind is Kind.FRESHNESS)

    def samples_of(self, rule_id: str) -> tuple[Sample, ...]:
        """Return the samples of one rule."""
        return tuple(sample for sample in self.samples if sample.rule == rule_id)

    def fails(self, result: RuleMeasure) -> bool:
        """Whether a rule fails the test; not if its rows are quarantined within the allowed threshold."""
        if result.passed or result.rule.severity is not Severity.ERROR:
            return False
        return not (_is_resolved_by_quarantine(result) and self.quarantine_is_allowed)

    def as_data(self) -> dict[str, Any]:
        """Return the report as JSON data."""
        return {
            "outcome": self.outcome.value,
            "passed": self.passed,
            "reasons": list(self.reasons),
            "concerns": list(self.concerns),
            "data": self.data,
            **self.measures.as_data(),
            "quarantined_allowed": {"value": self.allowed.value, "unit": "percent" if self.allowed.percent else "rows"},
            "drift": [difference.as_data() for difference in self.drift],
            "samples": [sample.as_data() for sample in self.samples],
            "quarantine": None if self.quarantine is None else asdict(self.quarantine),
        }

    def _reasons(self) -> Iterator[str]:
        if not self.quarantine_is_allowed:
            limit = "" if self.allowed == NO_ROWS else f"; {_format_limit(self.allowed)} are allowed"
            yield f"{self._quarantined_text}{limit}"
        failed = sum(self.fails(result) and not _is_resolved_by_quarantine(result) for result in self.measures.results)
        if failed:
            yield f"{_format_count(failed, 'rule')} on the entire dataset failed"
        yield from self._drift_reasons(Severity.ERROR, "not allowed by the contract")

    def _concerns(self) -> Iterator[str]:
        if not self.measures.rows:
            yield "there are no rows, so nothing was tested"
        if self.measures.warnings:
            yield f"{_format_count(len(self.measures.warnings), 'rule')} below severity error failed"
        if self.measures.quarantined and self.quarantine_is_allowed:
            yield f"{self._quarantined_text}, within the allowed limit"
        yield from self._drift_reasons(Severity.WARNING, "to review")

    @property
    def _quarantined_text(self) -> str:
        count = self.measures.quarantined
        return f"{count:,} of {format_rows(self.measures.rows)} {'is' if count == 1 else 'are'} quarantined"

    def _drift_reasons(self, severity: Severity, what: str) -> Iterator[str]:
        count = sum(difference.severity is severity for difference in self.drift)
        if count:
            yield f"{_format_count(count, 'schema difference')} {what}"


def format_rows(count: int) -> str:
    """Format a number of rows."""
    return _format_count(count, "row")


def _format_count(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def _is_resolved_by_quarantine(result: RuleMeasure) -> bool:
    """Whether all rows that violate a rule are quarantined."""
    return result.violating_rows is not None and result.rule.quarantines


def _format_limit(allowed: Threshold) -> str:
    return f"at most {allowed.value}{' %' if allowed.percent else ''}"


def _severity_order(result: RuleMeasure) -> tuple[bool, int, int, str]:
    return (result.passed, result.rule.severity.rank, -(result.violating_rows or 0), result.rule.id)


ReportStep = Callable[[str], None]
"""Called with a description of each step when it starts."""


@dataclass(frozen=True)
class DataTestOptions:
    """Options of a test: reference time, number of samples, allowed quarantine and its destination."""

    now: datetime | None = None
    samples: int = 10
    allowed: Threshold = NO_ROWS
    quarantine: Destination | None = None
    texts: TextTyping = TextTyping.TYPED


def run_data_test(
    enforcement: Enforcement,
    data: str = "the data",
    options: DataTestOptions | None = None,
    report: ReportStep | None = None,
) -> TestReport:
    """Test data under a contract: one job measures all rules, another writes or samples violating rows."""
    options, report = options or DataTestOptions(), report or _ignore_step
    if options.quarantine is not None:
        options.quarantine.refuse_unless_free()
    drift = schema_drift(
        enforcement.frame.drop(*enforcement.layout.carried),
        enforcement.contract,
        object_name=enforcement.schema.name,
        texts=options.texts,
    )
    report(f"checking {len(enforcement.rules):,} rules")
    measures = enforcement.measures(options.now)
    violating, written = enforcement.quarantined, None
    if options.quarantine is not None:
        report(f"writing {measures.quarantined:,} rows to quarantine")
        violating = write_quarantine(
            violating if measures.quarantined else violating.limit(0), options.quarantine, measures.quarantined
        )
        written = WrittenQuarantine(options.quarantine.path, measures.quarantined)
    samples: tuple[Sample, ...] = ()
    if measures.quarantined and options.samples:
        report("collecting samples")
        samples = collect_samples(violating, enforcement.schema, options.samples)
    return TestReport(
        data, measures, schema_differences(drift, enforcement.policy.unknown_fields), samples, options.allowed, written
    )


def _ignore_step(step: str) -> None:
    """Report nothing."""
