"""Amounts are written in the unit that fits, promises as people say them."""

from __future__ import annotations

from datetime import date

import pytest

from treaty.observability import State, amounts
from treaty.observability.measures import KNOWN_MEASURES, DayState, days_until, fill_days, summarize_day


@pytest.mark.parametrize(
    ("value", "unit", "said"),
    [
        (45.0, "s", "45 s"),
        (720.0, "s", "12 min"),
        (3_600.0, "s", "1 h"),
        (5_000.0, "s", "83.3 min"),
        (86_400.0, "s", "1 d"),
        (100_000.0, "s", "27.8 h"),
        (99.9071, "%", "99.907 %"),
        (99.5, "%", "99.5 %"),
        (0.001, "%", "< 0.01 %"),
        (0.0, "%", "0 %"),
        (12_345.0, "rows", "12,345 rows"),
        (3.0, "", "3"),
    ],
)
def test_an_amount_has_the_unit_that_fits(value: float, unit: str, said: str) -> None:
    assert amounts.format_amount(value, unit) == said


def test_a_promise_says_on_which_side_it_is_kept() -> None:
    assert amounts.format_promise(KNOWN_MEASURES["freshness"], 86_400.0) == "≤ 1 d"
    assert amounts.format_promise(KNOWN_MEASURES["availability"], 99.5) == "≥ 99.5 %"
    assert amounts.format_measured(KNOWN_MEASURES["run"], 0.0) == "failed"


def test_a_row_of_the_grid_has_every_day() -> None:
    days = days_until(date(2026, 3, 2), 3)
    bad = summarize_day(days[1], {"freshness": State.FAILING, "run": State.HEALTHY, "volume": None})

    assert fill_days(days, [bad]) == (
        DayState(date(2026, 2, 28)),
        DayState(date(2026, 3, 1), State.FAILING, ("freshness",)),
        DayState(date(2026, 3, 2)),
    )
