"""Unusual volumes are found by the usual ones, without configuration."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from treaty.observability.anomalies import Sensitivity, expect

START = datetime(2026, 1, 5, tzinfo=UTC)  # a Monday
Sample = tuple[datetime, float]


def daily(days: int, weekend: float = 1.0, level: float = 10_000.0) -> Iterator[Sample]:
    """Yield one value a day that varies by up to 4 percent."""
    for day in range(days):
        at = START + timedelta(days=day, hours=6)
        yield at, level * (weekend if at.weekday() >= 5 else 1.0) * (1 + 0.01 * (day * 7 % 9 - 4))


def hourly(days: int) -> Iterator[Sample]:
    """Yield a value each hour, of which the night has a tenth."""
    for hour in range(24 * days):
        at = START + timedelta(hours=hour)
        yield at, (1_000.0 if at.hour < 6 else 10_000.0) * (1 + 0.01 * (hour * 5 % 7 - 3))


def is_unusual(history: Iterator[Sample], at: datetime, value: float) -> bool:
    expectation = expect(history, at)
    assert expectation is not None
    return not expectation.is_met_by(value)


def test_a_drop_and_a_surge_are_unusual_and_the_rest_is_not() -> None:
    at = START + timedelta(days=28, hours=6)

    assert [
        value for value in (0.0, 5_000.0, 9_500.0, 10_000.0, 10_500.0, 20_000.0) if is_unusual(daily(28), at, value)
    ] == [
        0.0,
        5_000.0,
        20_000.0,
    ]


def test_each_weekday_has_its_own_volume() -> None:
    saturday, monday = START + timedelta(days=26, hours=6), START + timedelta(days=28, hours=6)

    assert not is_unusual(daily(26, weekend=0.3), saturday, 3_000)
    assert is_unusual(daily(26, weekend=0.3), saturday, 10_000)
    assert is_unusual(daily(28, weekend=0.3), monday, 3_000)


def test_each_hour_has_its_own_volume() -> None:
    night, noon = START + timedelta(days=28, hours=3), START + timedelta(days=28, hours=12)

    assert not is_unusual(hourly(28), night, 1_000)
    assert is_unusual(hourly(28), night, 10_000)
    assert is_unusual(hourly(28), noon, 1_000)


def test_one_outlier_does_not_make_the_next_value_of_its_weekday_unusual() -> None:
    dropped = START + timedelta(days=14, hours=6)
    history = [(at, 500.0 if at == dropped else value) for at, value in daily(21)]

    assert not is_unusual(iter(history), START + timedelta(days=21, hours=6), 10_000)


def test_nothing_is_unusual_without_enough_history() -> None:
    assert expect(daily(13), START + timedelta(days=13, hours=6)) is None
    assert expect(daily(14), START + timedelta(days=14, hours=6)) is not None
    assert expect([], START) is None
    weekly = [sample for sample in daily(56) if sample[0].weekday() == 0]
    assert expect(weekly, START + timedelta(days=56, hours=6)) is None  # eight values


@pytest.mark.parametrize(
    ("sensitivity", "low"), [(Sensitivity.LOW, 7_200), (Sensitivity.NORMAL, 8_000), (Sensitivity.HIGH, 8_500)]
)
def test_the_range_is_wider_the_lower_the_sensitivity(sensitivity: Sensitivity, low: int) -> None:
    expectation = expect(daily(28), START + timedelta(days=28, hours=6), sensitivity)

    assert expectation is not None
    assert abs(expectation.low - low) < 300


def test_off_expects_nothing() -> None:
    assert expect(daily(28), START + timedelta(days=28, hours=6), Sensitivity.OFF) is None
