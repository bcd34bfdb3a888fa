"""Charts: round numbers on the axes, promises, gaps."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from xml.etree import ElementTree

import pytest

from treaty.catalog.svg.charts import Point, Window, make_scale, render_chart
from treaty.observability import State
from treaty.observability.measures import KNOWN_MEASURES

LAST = datetime(2026, 3, 31, 12, tzinfo=UTC)
WINDOW = Window(LAST - timedelta(days=30), LAST)
FRESHNESS = KNOWN_MEASURES["freshness"]


def point(days_ago: float, hours: float, promise: float | None = 24, state: State | None = None) -> Point:
    return Point(LAST - timedelta(days=days_ago), hours * 3_600, None if promise is None else promise * 3_600, state)


def drawn(*points: Point) -> str:
    return str(render_chart(points, FRESHNESS, "s", WINDOW, "how old"))


@pytest.mark.parametrize(
    ("values", "unit", "near_all", "labels", "name"),
    [
        ([3_600.0 * 31, 3_600.0 * 24], "s", False, ["0", "10", "20", "30", "40"], "hours"),
        ([90.0, 40.0], "s", False, ["0", "0.5", "1", "1.5", "2"], "minutes"),
        ([28_000.0], "rows", False, ["0", "10k", "20k", "30k"], "rows"),
        ([99.5, 99.93], "%", True, ["99.4", "99.6", "99.8", "100"], "%"),
        ([100.0], "%", True, ["99", "100"], "%"),
        ([0.0], "rows", False, ["0", "1"], "rows"),
    ],
)
def test_axis_has_round_numbers(values: list[float], unit: str, near_all: bool, labels: list[str], name: str) -> None:
    scale = make_scale(values, unit, near_all)

    assert ([scale.label(mark) for mark in scale.marks], scale.unit) == (labels, name)


@pytest.mark.parametrize("value", [1.75e308, -1.75e308, 1e15, 1e-323, 1e-9, 99.999_999_999_999])
@pytest.mark.parametrize(("unit", "near_all"), [("rows", False), ("s", False), ("%", True)])
def test_extreme_values_have_an_axis(value: float, unit: str, near_all: bool) -> None:
    scale = make_scale([value], unit, near_all)

    assert scale.low < scale.high
    assert 2 <= len(scale.marks) <= 12
    assert 0 <= scale.share(value) <= 1
    assert all(map(scale.label, scale.marks))


def test_line_is_interrupted_at_gaps() -> None:
    whole = drawn(*(point(day, 2) for day in range(29, -1, -1)))
    parted = drawn(*(point(day, 2) for day in range(29, -1, -1) if not 8 <= day < 15))

    assert (whole.count('class="line"'), parted.count('class="line"')) == (1, 2)


def test_changed_promise_is_a_step_line_with_one_label() -> None:
    page = drawn(point(20, 2, promise=24), point(10, 2, promise=4), point(0, 2, promise=4))

    assert page.count('class="promise"') == 2
    assert re.findall(r'class="promise-label"[^>]*>([^<]*)<', page) == ["promised ≤ 4 h"]


def test_breaches_and_warnings_have_icons() -> None:
    page = drawn(point(20, 2), point(10, 23, state=State.WARNING), point(0, 31, state=State.FAILING))

    assert (page.count('class="mark warning"'), page.count('class="mark failing"')) == (1, 1)


@pytest.mark.parametrize("points", [[point(0, 0, promise=None)], [point(1, 5), point(1, 5)]])
def test_chart_of_few_points(points: list[Point]) -> None:
    ElementTree.fromstring(drawn(*points))  # noqa: S314  drawn here


def test_chart_text_is_escaped() -> None:
    page = str(render_chart([point(0, 1)], FRESHNESS, "s", WINDOW, '"><script>'))

    assert "<script>" not in page
