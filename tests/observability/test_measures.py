"""Measures are compared with the promises of contracts; without a promise there is no state, or a warning."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from tests.documents import contract
from treaty.contracts.measure_checks import RESERVED_NAMES
from treaty.contracts.model import Contract
from treaty.observability import Measure, State, evaluate_measure, worst
from treaty.observability.measures import (
    KNOWN_MEASURES,
    DayState,
    days_until,
    fill_days,
    is_stale,
    measure_kind,
    promised_value,
    summarize_day,
)

AT = datetime(2026, 3, 1, tzinfo=UTC)
HOUR = 3_600.0


def promising(*levels: dict[str, Any], **blocks: Any) -> Contract:
    return contract({"slaProperties": list(levels), **blocks})


def level(name: str, value: Any, unit: str | None = None) -> dict[str, Any]:
    return {"property": name, "value": value} | ({"unit": unit} if unit else {})


@pytest.mark.parametrize(
    ("name", "promised", "value", "state"),
    [
        ("freshness", level("freshness", 24, "h"), 2 * HOUR, State.HEALTHY),
        ("freshness", level("Freshness", "1d"), 23 * HOUR, State.WARNING),
        ("freshness", level("freshness", 24, "h"), 31 * HOUR, State.FAILING),
        ("freshness", level("freshness", "soon"), 31 * HOUR, None),
        ("availability", level("availability", 99.5, "percent"), 99.9, State.HEALTHY),
        ("availability", level("av", "99.5%"), 99.51, State.WARNING),
        ("availability", level("availability", 99.5, "percent"), 99.4, State.FAILING),
        ("volume", level("volume", 1_000, "rows"), 1_000.0, State.HEALTHY),
        ("volume", level("volume", 1_000, "rows"), 999.0, State.FAILING),
        ("volume", level("volume", 1_000, "h"), 1.0, None),
        ("quarantined_share", level("errorRate", 2, "percent"), 2.5, State.FAILING),
        ("unsettled", level("unsettled", 5), 6.0, State.FAILING),
        ("run", level("freshness", 24, "h"), 0.0, State.FAILING),
    ],
)
def test_the_state_of_a_value(name: str, promised: dict[str, Any], value: float, state: State | None) -> None:
    measure = evaluate_measure(Measure("orders", name, AT, value), promising(promised))

    assert measure.state is state


def test_the_strictest_promise_applies() -> None:
    both = promising(level("freshness", 24, "h"), level("freshness", 4, "h"))

    assert promised_value(both, KNOWN_MEASURES["freshness"]) == 4 * HOUR


def test_the_latency_block_promises_latency() -> None:
    assert promised_value(promising(latency={"within": "15 min"}), KNOWN_MEASURES["latency"]) == 900.0


def test_many_quarantined_rows_give_a_warning_without_a_promise() -> None:
    few, many = (evaluate_measure(Measure("o", "quarantined_share", AT, share), promising()) for share in (0.5, 3.0))

    assert (few.state, many.state, many.promise) == (State.HEALTHY, State.WARNING, None)


def test_a_measure_without_a_promise_has_no_state() -> None:
    measure = evaluate_measure(Measure("orders", "volume", AT, 10.0), promising())

    assert (measure.unit, measure.promise, measure.state) == ("rows", None, None)


def test_a_given_promise_and_state_are_kept() -> None:
    given = Measure("orders", "unsettled", AT, 10.0, "batches", 20.0, State.WARNING)

    assert evaluate_measure(given, promising()) == given


def test_a_measure_is_current_for_two_days() -> None:
    assert not is_stale(AT, AT + timedelta(days=2) - timedelta(seconds=1))
    assert is_stale(AT, AT + timedelta(days=2))


def test_the_worst_state() -> None:
    assert worst([State.HEALTHY, None, State.FAILING, State.WARNING]) is State.FAILING
    assert worst([None, State.HEALTHY]) is State.HEALTHY
    assert worst([]) is None


def test_no_service_level_promises_two_measures() -> None:
    words = [word for kind in KNOWN_MEASURES.values() for word in kind.promised_as]

    assert len(words) == len(set(words))
    assert measure_kind("orders_unsettled").title == "Orders unsettled"


def test_the_promised_latency_judges_the_lag_of_runs() -> None:
    promised = promising(latency={"within": "15 min"})

    assert promised_value(promised, KNOWN_MEASURES["lag"]) == 900.0
    assert promised_value(promising(level("latency", 2, "h")), KNOWN_MEASURES["lag"]) == 2 * HOUR
    assert evaluate_measure(Measure("orders", "lag", AT, 901.0), promised).state is State.FAILING


@pytest.mark.parametrize(
    ("target", "unit", "value", "state"),
    [
        ({"at_most": 2}, "percent", 2.1, State.FAILING),
        ({"at_most": 2}, "percent", 1.9, State.WARNING),
        ({"at_most": 2}, "percent", 1.0, State.HEALTHY),
        ({"at_least": 95}, "%", 94.9, State.FAILING),
        ({"at_least": 95}, "%", 95.2, State.WARNING),
        ({"at_least": 95}, "%", 99.0, State.HEALTHY),
        ({"at_least": 95}, "points", 95.2, State.HEALTHY),
        (None, "%", 100.0, None),
    ],
)
def test_a_declared_measure_is_judged_by_its_target(
    target: dict[str, float] | None, unit: str, value: float, state: State | None
) -> None:
    declared = {"name": "unpaid_pct", "rule": "unpaid", "unit": unit} | ({"target": target} if target else {})
    measure = evaluate_measure(Measure("orders", "unpaid_pct", AT, value), promising(measures=[declared]))

    assert measure.state is state
    assert measure.unit == ("%" if unit == "percent" else unit)


def test_contracts_cannot_declare_known_measures() -> None:
    assert set(KNOWN_MEASURES) == RESERVED_NAMES


def test_days_without_data_have_no_state() -> None:
    days = days_until(date(2026, 3, 2), 3)
    bad = summarize_day(days[1], {"freshness": State.FAILING, "run": State.HEALTHY, "volume": None})

    assert fill_days(days, [bad]) == (
        DayState(date(2026, 2, 28)),
        DayState(date(2026, 3, 1), State.FAILING, ("freshness",)),
        DayState(date(2026, 3, 2)),
    )
