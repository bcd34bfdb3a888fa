"""Run a data test: measure the rules, compare schemas, write the quarantine and collect samples."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from treaty.spark.checks import Threshold
from treaty.spark.drift import TextTyping, schema_drift
from treaty.spark.enforcement import Enforcement
from treaty.spark.report.data_report import NO_ROWS, TestReport, WrittenQuarantine, schema_differences
from treaty.spark.report.quarantine import Destination, write_quarantine
from treaty.spark.report.samples import Sample, collect_samples

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
        enforcement.frame, enforcement.contract, object_name=enforcement.schema.name, texts=options.texts
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
