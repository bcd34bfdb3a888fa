"""Runs profile their new events while they write them; few events and rebuilds have no profile."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import SparkSession

from tests.pipeline.run.kiosk import open_kiosk, ordered
from treaty.contracts.odcs import write_odcs
from treaty.events.drift import Profile
from treaty.pipeline.run import RunOptions, RunSummary
from treaty.pipeline.run.registry_records import record_profiles
from treaty.registry.service import Registry


def profile_of(summary: RunSummary) -> Profile | None:
    assert summary.succeeded, summary.as_data()
    return next(step.observed.profile for step in summary.steps if step.name == "ordered" and step.layer == "events")


def test_runs_profile_the_accepted_events_and_the_registry_finds_drift(spark: SparkSession, tmp_path: Path) -> None:
    kiosk = open_kiosk(spark, tmp_path / "project", "profiled")
    events = [ordered(number, f"A{number % 400}", number, 10) for number in range(600)]
    kiosk.deliver("ordered", [*events, *events[:50], ordered(900, "B", 1, -1)])
    first = profile_of(kiosk.run())
    kiosk.deliver("ordered", [ordered(1_000 + number, "C", number, 10) for number in range(20)])
    second = profile_of(kiosk.run())
    kiosk.deliver("ordered", [ordered(2_000 + number, f"D{number % 400}", number, 1_000) for number in range(600)])
    third = kiosk.run()
    rebuilt = profile_of(kiosk.run(RunOptions(rebuild=True, max_parallel_steps=1)))

    assert first is not None
    assert (first.version, first.events, first.received) == ("1.0.0", 600, 601)
    assert first.keys is not None
    assert 390 <= first.keys <= 410
    assert first.histograms["field:amount"] == {21: 600}
    assert first.histograms["field:withdrawn"] == {-1: 600}
    assert first.violations == {"range:amount": 1}
    assert (second, rebuilt) == (None, None)

    with Registry.open(str(tmp_path / "registry.db"), actor="kiosk") as registry:
        for contract in kiosk.contracts.values():
            registry.register(write_odcs(contract) | {"owners": [{"team": "kiosk", "contact": "#kiosk"}]})
        registry.drift.record("kiosk.ordered@1", first)
    problem = record_profiles(third, lambda: Registry.open(str(tmp_path / "registry.db"), actor="kiosk"))
    with Registry.open(str(tmp_path / "registry.db"), actor="kiosk") as registry:
        findings = registry.drift.findings().items
    assert problem is None
    assert [(one.line, one.message) for one in findings] == [
        ("kiosk.ordered@1", "amount looks multiplied by about 100")
    ]
