"""Amounts with units: the same promise in other words is the same quantity."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import json_values, texts
from treaty.contracts.quantities import Quantity, parse_quantity, parse_seconds

HOUR, DAY = 3_600, 86_400

DURATIONS: list[tuple[Any, str | None, Any]] = [
    # value, unit, seconds
    (4, "h", 4 * HOUR),
    (4, "hours", 4 * HOUR),
    (4.0, "H", 4 * HOUR),
    (240, "min", 4 * HOUR),
    (240, "minutes", 4 * HOUR),
    (14_400, "s", 4 * HOUR),
    (14_400_000, "ms", 4 * HOUR),
    ("4h", None, 4 * HOUR),
    ("4 h", None, 4 * HOUR),
    (" 4 hours ", None, 4 * HOUR),
    ("4", "h", 4 * HOUR),
    ("4h", "d", 4 * HOUR),
    ("PT4H", None, 4 * HOUR),
    ("PT240M", None, 4 * HOUR),
    ("PT3H60M", None, 4 * HOUR),
    ("PT4H", "d", 4 * HOUR),
    (0.5, "s", Fraction("0.5")),
    ("PT0.5S", None, Fraction("0.5")),
    (1, "d", DAY),
    ("P1D", None, DAY),
    ("P1DT1H", None, DAY + HOUR),
    (1, "w", 7 * DAY),
    ("P1W", None, 7 * DAY),
    (1, "y", Fraction("365.25") * DAY),
    (12, "months", Fraction("365.25") * DAY),
    ("P1Y", None, Fraction("365.25") * DAY),
    ("P12M", None, Fraction("365.25") * DAY),
    ("P1M", None, Fraction("30.4375") * DAY),
    ("1 mo", None, Fraction("30.4375") * DAY),
    ("-5 min", None, -300),
    (0, "s", 0),
    ("PT0S", None, 0),
    (10**30 + 1, "s", 10**30 + 1),
]


@pytest.mark.parametrize(("value", "unit", "expected"), DURATIONS)
def test_a_duration_is_converted_to_seconds(value: Any, unit: str | None, expected: Any) -> None:
    assert parse_seconds(value, unit) == Fraction(expected)
    assert parse_quantity(value, unit) == Quantity("time", Fraction(expected))


OTHERS: list[tuple[Any, str | None, str, str]] = [
    # value, unit, dimension, amount
    (99.9, "%", "percent", "99.9"),
    (99.9, "percent", "percent", "99.9"),
    ("99.9 %", None, "percent", "99.9"),
    ("99.9%", None, "percent", "99.9"),
    ("99.90 pct", None, "percent", "99.9"),
    (100, "rows", "rows", "100"),
    (1e2, "Rows", "rows", "100"),
    ("100 rows", None, "rows", "100"),
    (5, None, "", "5"),
    ("5", None, "", "5"),
]


@pytest.mark.parametrize(("value", "unit", "dimension", "amount"), OTHERS)
def test_other_amounts_keep_their_dimension(value: Any, unit: str | None, dimension: str, amount: str) -> None:
    assert parse_quantity(value, unit) == Quantity(dimension, Fraction(amount))
    assert parse_seconds(value, unit) is None


@pytest.mark.parametrize(
    "value",
    [
        *(None, True, False, [], {}, [4], {"h": 4}),
        *("", " ", "h", "soon", "4 h 30", "4,5 h", "1e3 s", "∞", "NaN", "Infinity", "--4 h", "4 h!", "٤ h", "0x10 s"),
        *("P", "PT", "P1H", "PT1D", "P1Y2", "P-1D", "T4H", "p1d", "2026-01-03", "4 h\n5", "4" * 100, "4 " + "h" * 100),
    ],
    ids=repr,
)
def test_a_text_that_is_not_an_amount_is_no_quantity(value: Any) -> None:
    assert parse_quantity(value) is None
    assert parse_quantity(value, "h") is None
    assert parse_seconds(value, "h") is None


def test_only_amounts_of_one_dimension_can_be_compared() -> None:
    four_hours, percent, rows = (parse_quantity(value) for value in ("4h", "99.9 %", "5 rows"))
    assert four_hours is not None
    assert percent is not None
    assert rows is not None

    assert four_hours.comparable(Quantity("time", Fraction(1)))
    assert not four_hours.comparable(percent)
    assert not percent.comparable(rows)


@given(json_values(), st.one_of(st.none(), texts()))
def test_any_value_with_any_unit_is_a_quantity_or_none(value: Any, unit: str | None) -> None:
    found = parse_quantity(value, unit)

    assert found is None or found.amount == found.amount + 0


@given(st.integers(0, 10**6))
def test_equal_durations_in_different_units_are_equal(hours: int) -> None:
    said = [(hours, "h"), (hours * 60, "min"), (f"{hours * HOUR}s", None), (f"PT{hours}H", None)]

    assert {parse_quantity(value, unit) for value, unit in said} == {Quantity("time", Fraction(hours * HOUR))}
