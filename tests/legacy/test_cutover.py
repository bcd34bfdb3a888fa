"""Cut-over of the consumers of a legacy feed: what opens the gate, and which steps are possible in which state."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treaty.legacy.cutover import (
    ConsumerFacts,
    Cutover,
    CutoverState,
    Gate,
    RunFigures,
    Step,
    StepTaken,
    judge_cutover,
    judge_run,
    reads_feed,
    reasons_against_retiring,
    state_after,
)

START = datetime(2026, 3, 1, 6, tzinfo=UTC)
LINE = "sale@1"
GATE = Gate(clean_runs=2)


def run(day: int, *, undisposed: int = 0, defects: int = 0) -> RunFigures:
    at = START + timedelta(days=day)
    return RunFigures(at.date(), at, undisposed, defects)


def step(name: str, day: float) -> StepTaken:
    return StepTaken(Step(name), START + timedelta(days=day), "someone")


def consumer(
    *steps: StepTaken, critical: bool = False, subscribed: bool = True, read: int | None = None
) -> ConsumerFacts:
    last = START + timedelta(days=read) if read is not None else None
    return ConsumerFacts("close", critical, subscribed, steps, last)


ACKNOWLEDGED = step("acknowledge", 2.5)
APPROVED = step("approve", 2.6)
CLEAN = (run(1), run(2))
CASES = {
    "nothing happened yet": (consumer(), (), "legacy", "0 of 2 clean runs in a row; 2 more needed"),
    "one clean run": (consumer(ACKNOWLEDGED), (run(1),), "parallel", "1 of 2 clean runs in a row; 1 more needed"),
    "an undecided finding": (
        consumer(ACKNOWLEDGED),
        (run(1), run(2, undisposed=1)),
        "parallel",
        "the run up to 2026-03-03 is not clean: 1 finding undecided",
    ),
    "a defect that is not fixed": (
        consumer(ACKNOWLEDGED),
        (run(1), run(2, defects=2)),
        "parallel",
        "the run up to 2026-03-03 is not clean: 2 defects in new, not fixed yet",
    ),
    "no acknowledgement": (consumer(), CLEAN, "parallel", "close has not acknowledged the cut-over"),
    "no subscription": (
        consumer(ACKNOWLEDGED, subscribed=False),
        CLEAN,
        "parallel",
        "close is not subscribed to sale@1",
    ),
    "critical, and not approved": (
        consumer(ACKNOWLEDGED, critical=True),
        CLEAN,
        "parallel",
        "close is critical, and its owner has not approved the cut-over",
    ),
    "critical, and approved": (consumer(ACKNOWLEDGED, APPROVED, critical=True), CLEAN, "ready", None),
    "all that a consumer needs": (consumer(ACKNOWLEDGED), CLEAN, "ready", None),
    "an old run was not clean": (consumer(ACKNOWLEDGED), (run(0, undisposed=3), *CLEAN), "ready", None),
    "cut over": (consumer(ACKNOWLEDGED, step("cut_over", 3)), CLEAN, "cut_over", None),
    "a run after the cut-over is not clean": (
        consumer(ACKNOWLEDGED, step("cut_over", 3)),
        (*CLEAN, run(4, undisposed=1)),
        "cut_over",
        None,
    ),
    "still reading after the cut-over": (
        consumer(ACKNOWLEDGED, step("cut_over", 3), read=5),
        CLEAN,
        "cut_over",
        "close was seen reading the legacy feed on 2026-03-06, after its cut-over",
    ),
    "rolled back": (
        consumer(ACKNOWLEDGED, step("cut_over", 3), step("roll_back", 4)),
        CLEAN,
        "parallel",
        "close has not acknowledged the cut-over",
    ),
    "rolled back, and only one run since": (
        consumer(ACKNOWLEDGED, step("cut_over", 3), step("roll_back", 4), step("acknowledge", 4.5)),
        (*CLEAN, run(5)),
        "parallel",
        "1 of 2 clean runs in a row; 1 more needed",
    ),
    "ready again after a rollback": (
        consumer(ACKNOWLEDGED, step("cut_over", 3), step("roll_back", 4), step("acknowledge", 6)),
        (*CLEAN, run(5), run(6)),
        "ready",
        None,
    ),
    "retired": (consumer(ACKNOWLEDGED, step("cut_over", 3), step("retire", 9)), CLEAN, "retired", None),
}


@pytest.mark.parametrize("case", CASES)
def test_the_state_follows_from_steps_and_runs(case: str) -> None:
    facts, runs, state, reason = CASES[case]

    cutover = judge_cutover(facts, runs, GATE, LINE)

    assert cutover.state == state
    assert (reason in cutover.reasons) if reason else (cutover.reasons == ())


TOTALS = {
    "the sums agree": ("100.00", {}, Gate(), True),
    "a finding explains the difference": ("90.00", {"net": "-10.00"}, Gate(), True),
    "nothing explains the difference": ("90.00", {}, Gate(), False),
    "the difference is within the absolute tolerance": ("95.00", {}, Gate(absolute=5.0), True),
    "the difference is within the relative tolerance": ("99.00", {}, Gate(relative=0.01), True),
    "the difference exceeds both tolerances": ("90.00", {}, Gate(absolute=5.0, relative=0.01), False),
}


@pytest.mark.parametrize("case", TOTALS)
def test_totals_must_agree_within_the_tolerance(case: str) -> None:
    new, explained, gate, is_clean = TOTALS[case]
    figures = RunFigures(
        date(2026, 3, 1),
        START,
        legacy_sums={"net": Decimal("100.00")},
        new_sums={"net": Decimal(new)},
        explained={name: Decimal(value) for name, value in explained.items()},
    )

    assert (judge_run(figures, gate) == ()) is is_clean


def test_what_no_finding_explains_is_named_with_the_allowed_difference() -> None:
    figures = RunFigures(
        date(2026, 3, 1), START, legacy_sums={"net": Decimal("1000")}, new_sums={"net": Decimal("988.50")}
    )

    assert judge_run(figures, Gate(absolute=2.5)) == (
        "net differs by 11.50 beyond what decided findings explain; 2.50 is allowed",
    )


POSSIBLE = [
    ("legacy", "acknowledge", "legacy"),
    ("legacy", "approve", "legacy"),
    ("legacy", "cut_over", None),
    ("parallel", "acknowledge", "parallel"),
    ("parallel", "cut_over", None),
    ("parallel", "roll_back", None),
    ("ready", "cut_over", "cut_over"),
    ("ready", "retire", None),
    ("cut_over", "acknowledge", None),
    ("cut_over", "cut_over", None),
    ("cut_over", "roll_back", "parallel"),
    ("cut_over", "retire", "retired"),
    ("retired", "roll_back", None),
    ("retired", "cut_over", None),
]


@pytest.mark.parametrize(("state", "name", "expected"), POSSIBLE)
def test_steps_are_possible_in_some_states_only(state: str, name: str, expected: str | None) -> None:
    assert state_after(CutoverState(state), Step(name)) == expected


RUNS = st.lists(
    st.builds(run, st.integers(0, 40), undisposed=st.integers(0, 1), defects=st.integers(0, 1)), max_size=8
).map(lambda runs: tuple({one.as_of: one for one in runs}.values()))
FACTS = st.builds(
    lambda days, names, critical, subscribed: consumer(
        *(step(name, day) for name, day in zip(names, sorted(days), strict=False)),
        critical=critical,
        subscribed=subscribed,
    ),
    st.lists(st.integers(0, 40), min_size=6, max_size=6),
    st.lists(st.sampled_from(["acknowledge", "approve"]), max_size=6),
    st.booleans(),
    st.booleans(),
)


@given(FACTS, RUNS, st.integers(1, 5))
def test_a_consumer_is_ready_exactly_if_nothing_stands_against_it(
    facts: ConsumerFacts, runs: tuple[RunFigures, ...], needed: int
) -> None:
    cutover = judge_cutover(facts, runs, Gate(needed), LINE)

    assert (cutover.state is CutoverState.READY) == (cutover.reasons == ())
    assert cutover.state is not CutoverState.READY or cutover.clean_runs >= needed


@given(FACTS, RUNS, RUNS)
def test_runs_never_undo_a_cut_over_and_a_rollback_starts_anew(
    facts: ConsumerFacts, runs: tuple[RunFigures, ...], later: tuple[RunFigures, ...]
) -> None:
    moved = ConsumerFacts("close", facts.is_critical, True, (*facts.steps, step("cut_over", 50)))
    back = ConsumerFacts("close", facts.is_critical, True, (*moved.steps, step("roll_back", 51)))

    assert judge_cutover(moved, (*runs, *later), GATE, LINE).state is CutoverState.CUT_OVER
    rolled_back = judge_cutover(back, (*runs, *later), GATE, LINE)
    assert (rolled_back.state, rolled_back.clean_runs) == (CutoverState.PARALLEL, 0)
    assert (rolled_back.acknowledged, rolled_back.approved) == (None, None)


def test_a_feed_is_retired_when_the_last_consumer_has_left() -> None:
    left, reading = Cutover(CutoverState.CUT_OVER), Cutover(CutoverState.CUT_OVER, ("desk was seen reading",))

    assert reasons_against_retiring({"close": left}) == ()
    assert reasons_against_retiring({"close": left, "desk": reading}) == ("desk was seen reading",)
    assert reasons_against_retiring({"close": Cutover(CutoverState.READY)}) == (
        "close has not cut over; its state is ready",
    )


NAMES = [
    ("warehouse.legacy_revenue", "warehouse.legacy_revenue", True),
    ("LAKE.Warehouse.Legacy_Revenue", "warehouse.legacy_revenue", True),
    ("warehouse.legacy_revenue", "lake.warehouse.legacy_revenue", True),
    ("mart.legacy_revenue", "legacy_revenue", True),
    ("legacy_revenue", "warehouse.legacy_revenue", False),
    ("mart.legacy_revenue", "warehouse.legacy_revenue", False),
    ("warehouse.legacy_revenue_2", "warehouse.legacy_revenue", False),
    ("warehouse.other_legacy_revenue", "legacy_revenue", False),
]


@pytest.mark.parametrize(("source", "name", "expected"), NAMES)
def test_a_table_is_the_feed_by_its_name(source: str, name: str, expected: bool) -> None:
    assert reads_feed(source, [name]) is expected
