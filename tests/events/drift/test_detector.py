"""The detector of drift of meaning: seeded drifts are found, unchanged days, seasons and declared changes are not."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import timedelta

import pytest

from benchmarks.meaning_drift import REFERENCE_DAYS, SEEDED, Population, Row, Seeded, Trials, population, rows_of_day
from treaty.events.drift import DriftFinding, DriftKind, Profile, detect_drift

EVENTS = 3_000


@pytest.fixture(scope="module")
def trials() -> Trials:
    return Trials.of(EVENTS, random.Random(11))  # noqa: S311 - synthetic data


def profile(trials: Trials, day: Population, number: int) -> Profile:
    return day.draw(number, trials.chance, EVENTS)


def days(trials: Trials, numbers: Sequence[int]) -> list[Profile]:
    return [trials.drawn[number][0] for number in numbers]


def named(findings: Sequence[DriftFinding]) -> list[tuple[str, str]]:
    return [(one.kind.value, one.field) for one in findings]


@pytest.mark.parametrize("seeded", SEEDED, ids=lambda seeded: seeded.name)
def test_a_seeded_drift_is_found_in_one_run(trials: Trials, seeded: Seeded) -> None:
    changed = population(seeded.change(trials.rows[0], trials.chance), trials.layout)

    found = detect_drift(profile(trials, changed, REFERENCE_DAYS), days(trials, range(REFERENCE_DAYS)), trials.layout)

    assert (seeded.kind, seeded.field) in {(one.kind, one.field) for one in found}


def test_unchanged_days_are_not_flagged(trials: Trials) -> None:
    assert [found for number in range(28) if (found := trials.judge(trials.week, number))] == []


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("all timestamps 2 h later", "all timestamps moved by +2 h, while events arrive when they did before"),
        ("start in local time", "scheduledStart moved by +1 h against occurredAt"),
        ("prices in cents", "price looks multiplied by about 100"),
        ("duration in seconds", "durationMinutes looks multiplied by about 60"),
    ],
)
def test_a_finding_names_the_shift_or_the_factor(trials: Trials, name: str, message: str) -> None:
    seeded = next(one for one in SEEDED if one.name == name)
    changed = population(seeded.change(trials.rows[1], trials.chance), trials.layout)

    (found,) = detect_drift(profile(trials, changed, 15), days(trials, range(REFERENCE_DAYS)), trials.layout)

    assert (found.message, found.runs) == (message, 10)


def test_the_evidence_shows_the_shares_before_and_now(trials: Trials) -> None:
    rows = [{**row, "capacity": row["capacity"] or 0} for row in trials.rows[2]]

    (found,) = detect_drift(
        profile(trials, population(rows, trials.layout), 16), days(trials, range(REFERENCE_DAYS)), trials.layout
    )
    bars = {bar.label: bar for bar in found.evidence}

    assert (found.kind, found.field, found.metrics) == (DriftKind.DEFAULT, "capacity", ("field:capacity",))
    assert (bars["no value"].now, bars["0"].before) == (0.0, 0.0)
    assert bars["no value"].before == pytest.approx(bars["0"].now, abs=0.03)


def test_a_weekend_is_no_drift_where_weekends_are_known_or_none_was_seen_yet(trials: Trials) -> None:
    saturday = profile(trials, trials.week[5], 19)

    assert detect_drift(saturday, days(trials, range(REFERENCE_DAYS)), trials.layout) == ()
    assert detect_drift(saturday, days(trials, range(5)), trials.layout) == ()


def test_a_factor_is_found_even_on_the_first_weekend(trials: Trials) -> None:
    rows: list[Row] = [{**row, "price": row["price"] and row["price"] * 100} for row in trials.rows[5]]
    saturday = profile(trials, population(rows, trials.layout), 5)

    assert named(detect_drift(saturday, days(trials, range(5)), trials.layout)) == [("scale", "price")]


def test_working_days_that_look_like_a_weekend_are_drift(trials: Trials) -> None:
    rows = [
        {
            **row,
            "occurredAt": row["occurredAt"] - timedelta(days=1),
            "_arrived_at": row["_arrived_at"] - timedelta(days=1),
        }
        for row in trials.rows[5]
    ]
    friday = profile(trials, population(rows, trials.layout), 18)

    assert ("values", "classType") in named(detect_drift(friday, days(trials, range(REFERENCE_DAYS)), trials.layout))


def test_two_profiles_are_enough_for_a_clear_drift(trials: Trials) -> None:
    rows = [{**row, "balanceChange": -row["balanceChange"]} for row in trials.rows[1]]
    new = profile(trials, population(rows, trials.layout), 1)

    assert named(detect_drift(new, days(trials, [0]), trials.layout)) == [("sign", "balanceChange")]


def test_a_field_with_a_declared_change_is_not_compared(trials: Trials) -> None:
    rows = [{**row, "price": row["price"] and row["price"] * 100} for row in trials.rows[0]]
    new = profile(trials, population(rows, trials.layout), 14)
    before = [one.without({"price"}) for one in days(trials, range(REFERENCE_DAYS))]

    assert detect_drift(new, before, trials.layout) == ()


@pytest.mark.parametrize(("events", "known"), [(200, 14), (3_000, 0)])
def test_too_few_events_or_no_reference_give_no_finding(trials: Trials, events: int, known: int) -> None:
    rows = rows_of_day(14, events, random.Random(3))  # noqa: S311 - synthetic data
    new = population([{**row, "price": 1e6} for row in rows], trials.layout).events.profile(
        "1.2.0", 14, trials.drawn[13][0].at + timedelta(days=1)
    )

    assert detect_drift(new, days(trials, range(known)), trials.layout) == ()


def test_more_refused_events_of_an_invariant_are_drift(trials: Trials) -> None:
    def refused(one: Profile, count: int) -> Profile:
        return one.model_copy(
            update={"received": one.events + count, "violations": {"invariant.capacity_grows": count}}
        )

    before = [refused(one, 3) for one in days(trials, range(REFERENCE_DAYS))]
    new = refused(profile(trials, trials.week[0], 14), 150)

    (found,) = detect_drift(new, before, trials.layout)
    assert (found.kind, found.value, found.metrics) == (
        DriftKind.VIOLATIONS,
        "invariant.capacity_grows",
        ("violation:invariant.capacity_grows",),
    )


def test_numbered_ids_that_count_on_are_no_drift(trials: Trials) -> None:
    def numbered(day: int, start: int) -> Profile:
        rows = [{**row, "roomCode": f"R{start + number}"} for number, row in enumerate(trials.rows[day])]
        return population(rows, trials.layout).events.profile("1.2.0", day, trials.drawn[day][0].at)

    assert detect_drift(numbered(1, 8_000), [numbered(0, 500)], trials.layout) == ()


def test_a_finding_keeps_its_fingerprint_from_run_to_run(trials: Trials) -> None:
    rows = [{**row, "roomCode": row["roomCode"].lstrip("R")} for row in trials.rows[0]]
    changed = population(rows, trials.layout)
    before = days(trials, range(REFERENCE_DAYS))

    first, second = (detect_drift(profile(trials, changed, day), before, trials.layout) for day in (14, 21))

    assert [one.fingerprint for one in first] == [one.fingerprint for one in second]
