"""Measures of a run are recorded in the registry; an unreachable registry does not disturb the run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from treaty.errors import Unavailable
from treaty.observability import Measure
from treaty.pipeline.run.measures import measure_run, record_measures
from treaty.pipeline.run.summary import Counts, Outcome, RunSummary, StepSummary
from treaty.registry.model import RecordedAnswer

START = datetime(2026, 3, 1, 8, tzinfo=UTC)
END = START + timedelta(seconds=20)
ARRIVED = StepSummary("placed", "raw", Outcome.DONE, counts=Counts(rows_in=100), seconds=2.0, contract="orders.placed")
ACCEPTED = replace(
    ARRIVED,
    layer="events",
    counts=Counts(rows_in=100, accepted=90, duplicate=6, quarantined=4),
    seconds=3.0,
    published_at=END - timedelta(seconds=5),
)
SETTLED = StepSummary(
    "order",
    "reconciliation",
    Outcome.DONE,
    counts=Counts(resolved=80, held=20),
    contract="orders.settled",
    published_at=END,
    exceptions_open=25,
)


def run_of(*steps: StepSummary) -> RunSummary:
    return RunSummary(7, "retail", START, 20.0, steps)


def values(*steps: StepSummary, contract: str = "orders.placed") -> dict[str, float]:
    return {one.name: one.value for one in measure_run(run_of(*steps)) if one.contract == contract}


def test_rows_quarantine_time_and_freshness_are_measured_per_contract() -> None:
    assert values(ARRIVED, ACCEPTED) == {
        "run": 1.0,
        "duration": 5.0,
        "freshness": 5.0,
        "rows_in": 100.0,
        "volume": 90.0,
        "quarantined_rows": 4.0,
        "quarantined_share": 4.0,
    }
    assert {(one.at, *one.details.items()) for one in measure_run(run_of(ACCEPTED))} == {
        (END, ("project", "retail"), ("run", 7))
    }


def test_open_exceptions_are_measured() -> None:
    found = values(SETTLED, contract="orders.settled")

    assert (found["exceptions_open"], found["volume"], found["rows_in"]) == (25.0, 80.0, 100.0)
    assert "exceptions_open" not in values(ACCEPTED)


def test_freshness_is_measured_by_the_element_of_the_contract() -> None:
    assert values(replace(ACCEPTED, newest_age=90_000.0))["freshness"] == 90_000.0


def test_refused_rows_are_not_measured() -> None:
    refused = replace(ACCEPTED, outcome=Outcome.REFUSED, published_at=START - timedelta(days=1))

    assert values(ARRIVED, refused) == {"run": 0.0, "duration": 5.0, "freshness": 86_420.0}


def test_without_new_rows_volume_is_zero_and_age_grows() -> None:
    quiet = replace(ACCEPTED, outcome=Outcome.NOTHING_NEW, counts=Counts(), published_at=START - timedelta(hours=1))
    found = values(quiet)

    assert (found["run"], found["volume"], found["freshness"]) == (1.0, 0.0, 3_620.0)
    assert "quarantined_share" not in found


def test_two_lines_of_a_contract_are_measured_together() -> None:
    first = StepSummary("v1", "publications", Outcome.DONE, counts=Counts(published=10), contract="sales")
    second = replace(first, name="v2", counts=Counts(published=30), newest_age=60.0)

    found = values(first, second, contract="sales")
    assert (found["volume"], found["freshness"]) == (40.0, 60.0)


class Kept:
    """Stores measures instead of a registry."""

    def __init__(self) -> None:
        self.found: list[Measure] = []

    @property
    def measures(self) -> Kept:
        return self

    def record(self, measures: Sequence[Measure]) -> RecordedAnswer:
        assert len(measures) <= 1_000
        self.found += measures
        return RecordedAnswer(recorded=len(measures))


def test_measures_are_recorded_in_batches() -> None:
    kept = Kept()

    @contextmanager
    def opening() -> Iterator[Kept]:
        yield kept

    many = run_of(*(replace(ACCEPTED, contract=f"c{number}") for number in range(300)))
    assert record_measures(many, opening) is None
    assert len(kept.found) == 300 * 7


def test_unreachable_registry_is_a_warning() -> None:
    def opening() -> AbstractContextManager[Kept]:
        raise Unavailable("no registry can be reached at http://registry.example.org")

    lost = record_measures(run_of(ACCEPTED), opening)

    assert lost is not None
    assert "no registry can be reached" in lost


def test_without_a_registry_nothing_is_recorded() -> None:
    assert record_measures(run_of(ACCEPTED), None) is None
