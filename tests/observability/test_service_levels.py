"""Every service level is evaluated over a window, or says why it cannot be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.documents import contract
from treaty.contracts.versions import Line
from treaty.observability.incidents import Incident
from treaty.observability.measures import Measure, State
from treaty.observability.service_levels import ServiceLevel, Window, evaluate_service_levels, update_period

NOW = datetime(2026, 3, 31, 12, tzinfo=UTC)
DAY = timedelta(days=1)


def evaluate(
    level: dict[str, Any],
    measures: Mapping[str, Sequence[tuple[float, float]]] | None = None,
    incidents: list[Incident] | None = None,
) -> ServiceLevel:
    """Evaluate one level; measures are values by name, each with its age in days."""
    history = {
        name: [Measure("orders", name, NOW - age * DAY, value) for age, value in sorted(values, reverse=True)]
        for name, values in (measures or {}).items()
    }
    document = {"slaProperties": [level], "fields": [{"name": "id", "logicalType": "string"}]}
    (result,) = evaluate_service_levels(contract(document), Window(NOW, history, incidents or []))
    return result


def shown(level: ServiceLevel) -> tuple[str, float | None, float | None, str | None]:
    kept = None if level.kept is None else round(level.kept, 2)
    budget = None if level.budget is None else round(level.budget, 1)
    return level.promise, kept, budget, level.state.value if level.state else None


HOURS = {"property": "freshness", "value": 24, "unit": "h"}


def test_values_that_break_the_promise_use_the_error_budget() -> None:
    late = {"freshness": [(age, 90_000.0 if age == 5 else 3_600.0) for age in range(30)]}

    assert shown(evaluate(HOURS, late)) == ("≤ 1 d", 96.67, 33.3, "healthy")


def test_a_budget_that_is_spent_is_a_failure_and_little_left_a_warning() -> None:
    values = [(age, 90_000.0 if age < 2 else 3_600.0) for age in range(30)]

    assert shown(evaluate(HOURS, {"freshness": values})) == ("≤ 1 d", 93.33, -33.3, "failing")
    assert (
        evaluate(HOURS, {"freshness": [(age / 10, 90_000.0 if age < 4 else 60.0) for age in range(100)]}).state
        == "warning"
    )


def test_values_before_the_window_do_not_count() -> None:
    values = {"freshness": [(31.0, 90_000.0), (1.0, 3_600.0)]}

    assert (evaluate(HOURS, values).kept, evaluate(HOURS, values).measured) == (100.0, 1)


def test_availability_is_the_share_of_reads_that_succeeded_and_its_own_objective() -> None:
    reads = {"availability": [(age / 100, 0.0 if age == 7 else 100.0) for age in range(1_000)]}

    assert shown(evaluate({"property": "availability", "value": 99.8, "unit": "%"}, reads)) == (
        "≥ 99.8 %",
        99.9,
        50.0,
        "healthy",
    )
    assert shown(evaluate({"property": "availability", "value": "99.95 %"}, reads)) == (
        "≥ 99.95 %",
        99.9,
        -100.0,
        "failing",
    )


def test_the_promised_error_rate_is_the_budget() -> None:
    shares = {"quarantined_share": [(1, 0.2), (2, 0.4)]}

    assert shown(evaluate({"property": "errorRate", "value": 1, "unit": "%"}, shares)) == (
        "≤ 1 %",
        99.7,
        70.0,
        "healthy",
    )


def test_frequency_is_kept_unless_an_update_is_overdue() -> None:
    daily = {"property": "frequency", "value": 1, "unit": "d"}
    runs = [(float(age), 1.0) for age in range(21) if age != 10]

    assert shown(evaluate(daily, {"run": runs})) == ("every 1 d", 95.0, 0.0, "warning")
    assert evaluate({"property": "frequency", "value": "daily"}, {"run": [(1.0, 1.0), (0.0, 1.0)]}).kept == 100.0


def test_time_of_availability_counts_days_with_a_run_in_time() -> None:
    runs = {"run": [(3.25, 1.0), (2.25, 1.0), (1.0, 1.0), (0.25, 1.0)]}  # at 06:00, and once at 12:00

    assert shown(evaluate({"property": "timeOfAvailability", "value": "09:30"}, runs)) == (
        "by 09:30 UTC",
        75.0,
        -400.0,
        "failing",
    )
    assert shown(evaluate({"property": "timeOfAvailability", "value": "2026-01-01T12:30:00+00:00"}, runs))[:2] == (
        "by 12:30 UTC",
        100.0,
    )


def test_retention_is_the_age_of_the_oldest_rows() -> None:
    level = {"property": "retention", "value": 30, "unit": "d"}

    assert shown(evaluate(level, {"retention": [(1, 40 * 86_400.0), (2, 39 * 86_400.0)]})) == (
        "≥ 30 d",
        100.0,
        100.0,
        "healthy",
    )


def test_times_to_detect_and_repair_come_from_incidents() -> None:
    def incident(hours: float) -> Incident:
        first = NOW - 5 * DAY
        opened = first + timedelta(minutes=5)
        end = first + timedelta(hours=hours)
        return Incident(Line("orders", 1), "run", State.FAILING, "", first, end, opened_at=opened, closed_at=end)

    both = [incident(2), incident(10)]
    assert evaluate({"property": "timeToRepair", "value": 4, "unit": "h"}, incidents=both).kept == 50.0
    assert evaluate({"property": "timeToDetect", "value": 10, "unit": "min"}, incidents=both).kept == 100.0


@pytest.mark.parametrize(
    ("level", "reason"),
    [
        (HOURS, "no measure 'freshness' was recorded in the window"),
        ({"property": "freshness", "value": "often"}, "'often' cannot be read as a value in 's'"),
        ({"property": "availability", "value": 99, "unit": "%"}, "no scheduled read was recorded; run: treaty monitor"),
        (
            {"property": "retention", "value": 2, "unit": "y"},
            "the age of the oldest rows is not measured; record a measure 'retention' in s",
        ),
        ({"property": "frequency", "value": "often"}, "'often' cannot be read as a period, such as 1 d"),
        (
            {"property": "timeOfAvailability", "value": "noon"},
            "'noon' cannot be read as a time of the day, such as 09:30 or 09:30+01:00",
        ),
        ({"property": "timeToRepair", "value": 4, "unit": "h"}, "the window has no incident to measure it by"),
        ({"property": "endOfSupport", "value": "2027-03-31"}, "a date of the calendar, ahead"),
        ({"property": "generalAvailability", "value": "2026-01-01T00:00:00Z"}, "a date of the calendar, reached"),
        ({"property": "delight", "value": 3}, "no measure 'delight' was recorded in the window"),
    ],
)
def test_what_cannot_be_measured_says_why(level: dict[str, Any], reason: str) -> None:
    result = evaluate(level)

    assert (result.kept, result.state, result.reason) == (None, None, reason)


def test_a_property_of_another_name_is_measured_under_its_name() -> None:
    assert evaluate({"property": "unsettled", "value": 5}, {"unsettled": [(1, 3.0), (2, 9.0)]}).kept == 50.0


def test_the_update_period_is_the_shortest_promise() -> None:
    levels = [{"property": "frequency", "value": 1, "unit": "d"}, {"property": "frequency", "value": "PT6H"}, HOURS]

    assert update_period(contract({"slaProperties": levels, "fields": []})) == timedelta(hours=6)
    assert update_period(contract({"slaProperties": [HOURS], "fields": []})) is None
