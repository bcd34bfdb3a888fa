"""Service levels: promises with their latest measures, and charts."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest

from tests.catalog.measured_registry import LATE, NEVER, NOW, WELL, contract, open_measured
from treaty.catalog.pages.contract.service_levels import Promise, contract_promises, measure_chart, measure_charts
from treaty.contracts.loader import contract_from
from treaty.observability import Measure
from treaty.registry.service import Registry


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Registry]:
    with open_measured(tmp_path_factory.mktemp("promises") / "registry.db") as one:
        yield one


def promises(registry: Registry, identity: str, **more: object) -> dict[str, Promise]:
    return {one.name: one for one in contract_promises(registry, contract_from(contract(identity, **more)))}


def test_promise_shows_the_latest_measure(registry: Registry) -> None:
    late = promises(registry, LATE)["Freshness"]

    assert (late.promised, late.measured, late.state, late.at) == ("≤ 1 d", "31 h", "failing", NOW)
    assert (late.statement, late.anchor) == ("Counted from the till.", "chart-freshness")


def test_promise_without_measures(registry: Registry) -> None:
    never = promises(registry, NEVER)["Freshness"]

    assert (never.promised, never.measured, never.state, never.measurable) == ("≤ 1 d", None, "none", True)


def test_unmeasurable_promises_are_statements(registry: Registry) -> None:
    found = promises(
        registry,
        WELL,
        ordering={"key": ["order_id"], "sequence": "number"},
        delivery={"guarantee": "at_least_once", "channels": ["topic"], "statement": "Twice, rarely."},
        change_policy={"compatibility": "backward", "notice": "30 d"},
    )

    assert {name: one.promised for name, one in found.items() if not one.measurable} == {
        "Retention": "2 y",
        "Ordering": "by order_id, following number",
        "Delivery": "at least once, as topic",
        "Changes": "backward compatible, 30 d notice",
    }


def test_promise_links_to_its_chart(registry: Registry) -> None:
    charts = measure_charts(registry, LATE, NOW)

    assert [one.title for one in charts] == ["Freshness, hours", "Volume, rows", "Quarantine, %"]
    assert charts[0].anchor == promises(registry, LATE)["Freshness"].anchor
    assert measure_charts(registry, NEVER, NOW) == ()


def test_custom_measures_can_be_promised(registry: Registry) -> None:
    registry.measures.record([Measure(NEVER, "unsettled", NOW, 6.0, unit="%", promise=5.0)])
    own = {"slaProperties": [{"property": "unsettled", "value": 5, "unit": "percent"}]}

    found = promises(registry, NEVER, **own)["Unsettled"]
    assert (found.measured, found.state, found.anchor) == (
        "6 %",
        "failing",
        measure_charts(registry, NEVER, NOW)[0].anchor,
    )


def test_chart_marks_sample_data(registry: Registry) -> None:
    sample = Measure(NEVER, "volume", NOW - timedelta(days=1), 40.0, details={"sample": True})
    registry.measures.record([sample, Measure(NEVER, "volume", NOW, 50.0)])

    chart = measure_chart(registry, NEVER, "volume", NOW)

    assert chart is not None
    assert chart.note == "no promise; sample data: 1 of 2 values"


def test_tile_marks_old_measures(registry: Registry) -> None:
    old = Promise("Freshness", "≤ 1 d", "2 h", "healthy", NOW - timedelta(days=4), "chart-freshness")
    page = _tiles(old)

    assert "last measured 27 Mar 2026" in page
    assert 'data-state="none"' in page
    assert 'href="#chart-freshness"' in page


def _tiles(*found: Promise) -> str:
    from treaty.catalog import rendering

    source = "{% import 'health/parts.html' as health with context %}{{ health.tiles(found) }}"
    environment = rendering._environment()
    return environment.from_string(source).render(
        found=found, now=NOW, live=True, relative_time=lambda at: "then", parts=None
    )
