"""What a test of data records in the registry: the same measures as a run, as far as the data shows them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from datetime import datetime
from typing import TYPE_CHECKING

from treaty.contracts.findings import Severity
from treaty.observability import Measure, measures
from treaty.pipeline.run.observations import DriftedField
from treaty.pipeline.run.registry_records import record_all
from treaty.pipeline.run.step_measures import StepMeasure, bounded, measure_drift
from treaty.spark.rules import Kind

if TYPE_CHECKING:
    from treaty.contracts import Contract
    from treaty.registry.client import RegistryClient
    from treaty.registry.service import Registry
    from treaty.spark.report import TestReport

_PERCENT = 100.0
_MAX_LISTED = 20


def measure_test(report: TestReport, contract: Contract) -> tuple[Measure, ...]:
    """Return the measures of a test; the data is named in their details."""
    at, line = report.measures.measured_at, contract.line or contract.id
    return tuple(_measure(line, at, value, report.data) for value in _values(report))


def _measure(line: str, at: datetime, value: StepMeasure, data: str) -> Measure:
    details = bounded({**value.details, "test": data[:200]})
    return Measure(line, value.name, at, value.value, state=value.state, details=details)


def _values(report: TestReport) -> Iterator[StepMeasure]:
    tested = report.measures
    yield StepMeasure(measures.ROWS_IN, float(tested.rows))
    yield StepMeasure(measures.VOLUME, float(tested.valid))
    rules = _violations(report)
    yield StepMeasure(measures.QUARANTINED, float(tested.quarantined), {"rules": rules} if rules else {})
    if tested.rows:
        shares = {rule: round(_PERCENT * count / tested.rows, 4) for rule, count in rules.items()}
        share = _PERCENT * tested.quarantined / tested.rows
        yield StepMeasure(measures.QUARANTINED_SHARE, share, {"rules": shares} if shares else {})
        yield StepMeasure(measures.VALIDITY, _PERCENT * tested.valid / tested.rows)
    ages = [float(result.value) for result in report.freshness if isinstance(result.value, int | float)]
    if ages:
        yield StepMeasure(measures.FRESHNESS, max(ages))
    duplicates = [result.violating_rows for result in tested.results if result.rule.kind is Kind.UNIQUE]
    if duplicates:
        yield StepMeasure(measures.DUPLICATES, float(sum(count or 0 for count in duplicates)))
    drifted = [
        DriftedField(difference.field, difference.kind, difference.severity)
        for difference in report.drift
        if difference.severity is not Severity.INFO or difference.kind == "field_added"
    ]
    yield measure_drift(drifted)
    yield from (StepMeasure(measured.name, measured.value) for measured in tested.semantic)


def _violations(report: TestReport) -> Mapping[str, int]:
    counts = {
        result.rule.id: result.violating_rows
        for result in report.measures.results
        if result.violating_rows and result.rule.quarantines
    }
    return dict(sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))[:_MAX_LISTED])


def record_test(
    report: TestReport,
    contract: Contract,
    open_store: Callable[[], AbstractContextManager[Registry | RegistryClient]] | None,
) -> str | None:
    """Record the measures of a test, if the contract is registered; return a warning if that failed."""
    problem = record_all(measure_test(report, contract), open_store)
    return f"the test ended, but its measures were not recorded: {problem}" if problem else None
