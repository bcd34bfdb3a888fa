"""Testing: measure every rule, compare schemas, write the quarantine and collect samples; here Spark is made to act."""

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
"""Takes a step as it begins, so that somebody who waits knows for what."""


@dataclass(frozen=True)
class DataTestOptions:
    """What one test asks for: as of when, how many samples, how many rows may be quarantined, and where they go."""

    now: datetime | None = None
    samples: int = 10
    allowed: Threshold = NO_ROWS
    quarantine: Destination | None = None
    texts: TextTyping = TextTyping.TYPED


def run_data_test(
    enforcement: Enforcement,
    data: str = "the data",
    asked: DataTestOptions | None = None,
    tell: ReportStep | None = None,
) -> TestReport:
    """Test data under a contract; one job measures all, and one more writes or samples what is bad."""
    asked, tell = asked or DataTestOptions(), tell or _silently
    if asked.quarantine is not None:
        asked.quarantine.refuse_unless_free()
    drift = schema_drift(
        enforcement.frame, enforcement.contract, object_name=enforcement.schema.name, texts=asked.texts
    )
    tell(f"judging {len(enforcement.rules):,} rules")
    measures = enforcement.measures(asked.now)
    bad, written = enforcement.quarantined, None
    if asked.quarantine is not None:
        tell(f"writing {measures.quarantined:,} rows to quarantine")
        bad = write_quarantine(bad if measures.quarantined else bad.limit(0), asked.quarantine, measures.quarantined)
        written = WrittenQuarantine(asked.quarantine.path, measures.quarantined)
    samples: tuple[Sample, ...] = ()
    if measures.quarantined and asked.samples:
        tell("collecting samples")
        samples = collect_samples(bad, enforcement.schema, asked.samples)
    return TestReport(
        data, measures, schema_differences(drift, enforcement.policy.unknown_fields), samples, asked.allowed, written
    )


def _silently(step: str) -> None:
    """Tell nobody."""
