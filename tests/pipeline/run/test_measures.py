"""Measures of a run are recorded in the registry; an unreachable registry does not disturb the run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from treaty.contracts.findings import Severity
from treaty.errors import Unavailable
from treaty.observability import Measure, State
from treaty.observability.evidence import BrokenRule, describe_breach
from treaty.pipeline.run.observations import DriftedField, Lag, Observations
from treaty.pipeline.run.registry_records import measure_run, record_measures
from treaty.pipeline.run.summary import Counts, Outcome, RunSummary, StepSummary
from treaty.registry.model import RecordedAnswer
from treaty.spark.semantic_measures import MeasuredValue

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
        "duplicates": 6.0,
    }
    assert {(one.at, *one.details.items()) for one in measure_run(run_of(ACCEPTED)) if one.name != "rows_in"} == {
        (END, ("project", "retail"), ("run", 7))
    }


def test_files_that_are_set_apart_are_measured_by_source() -> None:
    assert values(replace(ARRIVED, set_apart=3), ACCEPTED)["files_set_apart"] == 3.0
    assert values(replace(ARRIVED, set_apart=0), ACCEPTED)["files_set_apart"] == 0.0
    assert "files_set_apart" not in values(ARRIVED, ACCEPTED)


def test_open_exceptions_are_measured() -> None:
    found = values(SETTLED, contract="orders.settled")

    assert (found["exceptions_open"], found["volume"], found["rows_in"]) == (25.0, 80.0, 100.0)
    assert "exceptions_open" not in values(ACCEPTED)


def measured(name: str, *steps: StepSummary) -> Measure:
    (found,) = [one for one in measure_run(run_of(*steps)) if one.name == name]
    return replace(found, details={key: value for key, value in found.details.items() if key not in ("project", "run")})


def test_exceptions_are_measured_with_their_age() -> None:
    counts = Counts(resolved=80, held=20, exceptions_opened=5, exceptions_closed=2)
    found = values(replace(SETTLED, counts=counts, oldest_exception_age=7_200.0), contract="orders.settled")

    assert (found["exceptions_opened"], found["exceptions_closed"], found["exceptions_oldest_age"]) == (
        5.0,
        2.0,
        7_200.0,
    )


def test_rows_that_pass_several_layers_of_one_contract_count_once() -> None:
    product = replace(ACCEPTED, layer="products", counts=Counts(valid=88, quarantined=2))
    publication = replace(ACCEPTED, layer="publications", counts=Counts(published=87, quarantined=1))
    found = values(ARRIVED, ACCEPTED, product, publication)

    assert (found["rows_in"], found["volume"], found["quarantined_rows"]) == (100.0, 87.0, 7.0)


def test_late_events_and_gaps_are_measured_for_products() -> None:
    product = replace(ACCEPTED, layer="products", counts=Counts(valid=50, out_of_order=3, gaps=2))
    found = values(product)

    assert (found["out_of_order"], found["gaps"]) == (3.0, 2.0)
    assert "duplicates" not in found


def test_rows_that_arrive_are_listed_by_source_and_by_key() -> None:
    step = replace(ACCEPTED, observed=Observations(rows_by={"channel": {"web": 60, "store": 30}}))

    found = measured("rows_in", ARRIVED, step)
    assert found.details == {"sources": {"placed": 100}, "by": {"channel": {"web": 60, "store": 30}}}


def test_quarantine_is_listed_by_rule() -> None:
    step = replace(ACCEPTED, observed=Observations(violations={"required:amount": 3, "enum:state": 1}))

    found = measured("quarantined_share", step)
    assert (found.value, found.details) == (4.0, {"rules": {"required:amount": 3.0, "enum:state": 1.0}})


def test_lag_is_measured_at_the_percentile_of_the_promise() -> None:
    step = replace(ACCEPTED, observed=Observations(lag=Lag(320.0, 99.0, 61.0, 12.0)))

    found = measured("lag", step)
    assert (found.value, found.details) == (320.0, {"percentile": 99.0, "median": 61.0, "newest": 12.0})


def test_drift_of_payloads_and_tables_is_one_measure() -> None:
    unknown = replace(ARRIVED, observed=Observations(drift=(DriftedField("coupon", "field_added", Severity.INFO),)))
    retyped = Observations(drift=(DriftedField("amount", "field_type_changed", Severity.ERROR),))

    found = measured("schema_drift", unknown, replace(ACCEPTED, observed=retyped))
    assert (found.value, found.state) == (2.0, State.FAILING)
    assert found.details == {
        "fields": ["amount", "coupon"],
        "changes": [
            {"field": "coupon", "kind": "field_added", "severity": "info"},
            {"field": "amount", "kind": "field_type_changed", "severity": "error"},
        ],
    }
    assert measured("schema_drift", replace(ARRIVED, observed=Observations(drift=()))).value == 0.0


def test_declared_measures_are_recorded() -> None:
    step = replace(ACCEPTED, observed=Observations(semantic=(MeasuredValue("unpaid_pct", 2.5),)))

    assert values(step)["unpaid_pct"] == 2.5


def test_a_refused_run_says_which_rules_are_broken() -> None:
    broken = (BrokenRule("has_destination", 0.43, 0.1),)
    refused = replace(ACCEPTED, name="order_capture", outcome=Outcome.REFUSED, observed=Observations(refused=broken))

    found = measured("run", refused)
    assert (found.value, found.details["step"]) == (0.0, "order_capture")
    described = describe_breach(replace(found, details={**found.details, "run": 7}))
    assert described == "audit of order_capture refused run 7: rule has_destination 0.43 % > 0.1 %"


def test_a_failed_run_says_why() -> None:
    failed = replace(ACCEPTED, outcome=Outcome.FAILED, reasons=("the disk is full",))

    assert measured("run", failed).details == {"error": "failed: the disk is full", "step": "placed"}


def test_long_details_are_left_out() -> None:
    rules = {f"required:{'field_' * 40}{number}": 1 for number in range(20)}
    step = replace(ACCEPTED, observed=Observations(violations=rules))

    assert measured("quarantined_share", step).details == {}


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
    assert len(kept.found) == 300 * 8


def test_unreachable_registry_is_a_warning() -> None:
    def opening() -> AbstractContextManager[Kept]:
        raise Unavailable("no registry can be reached at http://registry.example.org")

    lost = record_measures(run_of(ACCEPTED), opening)

    assert lost is not None
    assert "no registry can be reached" in lost


def test_without_a_registry_nothing_is_recorded() -> None:
    assert record_measures(run_of(ACCEPTED), None) is None


def test_each_line_of_a_contract_is_measured_for_itself() -> None:
    one, two = (replace(ACCEPTED, line=f"orders@{major}") for major in (1, 2))

    assert {measure.contract for measure in measure_run(run_of(one, two))} == {"orders@1", "orders@2"}
