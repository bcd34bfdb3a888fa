"""Amounts and promises are formatted with suitable units."""

from __future__ import annotations

import pytest

from treaty.observability import amounts
from treaty.observability.measures import KNOWN_MEASURES


@pytest.mark.parametrize(
    ("value", "unit", "text"),
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
def test_an_amount_has_a_suitable_unit(value: float, unit: str, text: str) -> None:
    assert amounts.format_amount(value, unit) == text


def test_a_promise_has_the_sign_of_its_bound() -> None:
    assert amounts.format_promise(KNOWN_MEASURES["freshness"], 86_400.0) == "≤ 1 d"
    assert amounts.format_promise(KNOWN_MEASURES["availability"], 99.5) == "≥ 99.5 %"
    assert amounts.format_measured(KNOWN_MEASURES["run"], 0.0) == "failed"
