"""Comparisons of publishers add up to a report, and distributions differ only beyond chance."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime
from random import Random

import pytest

from treaty.errors import InvalidDocument
from treaty.events.comparison import (
    Comparison,
    ComparisonReport,
    Difference,
    DifferenceKind,
    Side,
    distributions_differ,
)

SAME = Comparison(
    Side("native", "a.jsonl", 10, 3),
    Side("adapter", "b.jsonl", 10, 3),
    ("gym.x 1.0.0",),
    datetime(2026, 11, 1, tzinfo=UTC),
)
OTHER = Difference(DifferenceKind.FIELD, 2, "the values differ", "Published", "capacity", "a", 1, "10", "11")


def test_a_report_survives_being_written_and_read() -> None:
    report = ComparisonReport(()).with_comparison(SAME).with_comparison(replace(SAME, differences=(OTHER,)))

    assert ComparisonReport.from_data(json.loads(json.dumps(report.as_data()))) == report
    assert (report.comparisons[0].interchangeable, report.interchangeable) == (True, False)


def test_a_publisher_that_breaks_its_contracts_is_not_interchangeable() -> None:
    assert not replace(SAME, left=replace(SAME.left, failed_checks=("ordering.gaps",))).interchangeable


def test_a_later_compatible_version_belongs_to_the_same_report() -> None:
    report = ComparisonReport((SAME,)).with_comparison(replace(SAME, contracts=("gym.x 1.4.0",)))

    assert len(report.comparisons) == 2


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (replace(SAME, left=SAME.right), "is about other publishers, native and adapter"),
        (replace(SAME, contracts=("gym.x 2.0.0",)), "is about other contracts, gym.x@1"),
    ],
)
def test_a_report_is_about_one_pair_of_publishers(other: Comparison, message: str) -> None:
    with pytest.raises(InvalidDocument, match=message):
        ComparisonReport((SAME,)).with_comparison(other)


@pytest.mark.parametrize("data", [None, [], {}, {"format": "treaty.comparison/1"}, {**SAME.as_data()}])
def test_anything_else_is_no_report(data: object) -> None:
    with pytest.raises(InvalidDocument, match="report of comparisons"):
        ComparisonReport.from_data(data)


@pytest.mark.parametrize(
    ("left", "right", "differ"),
    [
        ([100, 900], [100, 900], False),
        ([100, 900], [500, 500], True),
        ([0, 1000, 0], [0, 0, 1000], True),
        ([10_000, 990_000], [11_000, 989_000], False),
        ([1, 3], [2, 2], False),
        ([0, 0], [0, 0], False),
        ([0, 0], [1, 0], True),
    ],
)
def test_distributions_differ_beyond_chance_and_two_percent(left: list[int], right: list[int], differ: bool) -> None:
    assert distributions_differ(left, right) is differ


def test_samples_of_one_distribution_rarely_differ() -> None:
    random = Random(7)  # noqa: S311  no secret

    def sample() -> list[int]:
        counted = Counter(random.choices(range(17), weights=range(1, 18), k=500))
        return [counted[bucket] for bucket in range(17)]

    assert sum(distributions_differ(sample(), sample()) for _ in range(1_000)) <= 5
