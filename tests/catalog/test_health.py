"""Health page: daily status, charts with promises, quarantine and exceptions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.catalog.measured_registry import LATE, NEVER, NOW, WELL, contract, open_measured
from tests.catalog.page_client import Browser
from tests.server.running import running
from treaty.catalog.pages.health import HealthFilter, health_page
from treaty.catalog.rendering import RenderContext, render
from treaty.observability import Measure
from treaty.registry.service import Registry
from treaty.server.app import create_app


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Registry]:
    with open_measured(tmp_path_factory.mktemp("health") / "registry.db") as one:
        yield one


@pytest.fixture(scope="module")
def browser(registry: Registry) -> Iterator[Browser]:
    with running(create_app(registry)) as address, Browser(address) as one:
        yield one


def rendered(registry: Registry, health_filter: HealthFilter | None = None, *, is_static: bool = False) -> str:
    return render(health_page(registry, health_filter, NOW), RenderContext(NOW, is_static=is_static))


def test_daily_status_has_text_for_each_day(registry: Registry) -> None:
    rows = health_page(registry, now=NOW).values["rows"]

    assert [row.contract for row in rows] == [LATE, WELL]
    states = [cell.state for cell in rows[0].cells]
    assert (len(states), states[-4:]) == (30, ["healthy", "failing", "failing", "failing"])
    assert states.count("none") == 7
    assert rows[0].cells[-1].label == "31 Mar: failing, freshness"
    assert rendered(registry).count('<span class="visually-hidden">no data</span></span></td>') == 14


def test_old_measures_do_not_count_as_current(tmp_path: Path) -> None:
    path, later = tmp_path / "registry.db", NOW + timedelta(days=2)
    open_measured(path).close()

    with Registry.open(str(path), clock=lambda: later) as registry:
        found = health_page(registry, now=later).values

    assert [(row.state, row.cause) for row in found["rows"]] == [("failing", "freshness 31 h > 24 h"), (None, "")]
    assert [(one.value, one.state) for one in found["tiles"]][:2] == [("0 of 1", "failing"), ("—", "none")]
    assert [(one.cause, one.problems) for one in found["attention"]] == [("freshness 31 h > 24 h", ())]


def test_every_day_has_a_heading(registry: Registry) -> None:
    heads = re.findall(
        r'<th scope="col">', rendered(registry).partition('<table class="heat">')[2].partition("</thead>")[0]
    )

    assert len(heads) == 31


def test_charts_show_the_promise_and_its_violations(registry: Registry) -> None:
    page = rendered(registry)

    assert "failing: freshness 31 h &gt; 24 h" in page
    assert re.search(r'<text class="promise-label"[^>]*>promised ≤ 1 d</text>', page)
    assert page.count('class="mark failing"') == 3
    assert "3 breaches in 30 days" in page
    assert page.count('<path class="line"') == 6  # three charts, each interrupted by a gap
    assert "#till" in page


def test_chart_values_are_in_a_table(registry: Registry) -> None:
    (first,) = health_page(registry, now=NOW).values["attention"]
    freshness = first.charts[0]

    assert [(one.value, one.state) for one in freshness.readings[:4]] == [("31 h", "failing")] * 3 + [
        ("2 h", "healthy")
    ]
    assert len(freshness.readings) == 23


def test_tiles_summarize_all_contracts(registry: Registry) -> None:
    tiles = {one.name: one for one in health_page(registry, now=NOW).values["tiles"]}

    assert (tiles["Service levels"].value, tiles["Service levels"].state) == ("1 of 2", "failing")
    assert (tiles["Freshness"].value, tiles["Freshness"].contract) == ("1 contract late", LATE)
    assert (tiles["Quarantine"].value, tiles["Quarantine"].state) == ("12 rows", "warning")
    assert tiles["Exceptions"].value == "—"


def test_daily_status_is_filtered_by_domain(browser: Browser) -> None:
    page = browser.get("/catalog/health?domain=well").text

    assert f'title="{WELL}"' in page
    assert f'title="{LATE}"' not in page
    assert "No measures for this domain" in browser.get("/catalog/health?domain=never").text


def test_long_list_is_paged(registry: Registry) -> None:
    page = health_page(registry, now=NOW, limit=1)
    (cursor,) = [value for name, value in page.values["next_page"].query if name == "cursor"]
    rest = health_page(registry, HealthFilter(cursor=cursor), NOW, limit=1)

    assert [row.contract for row in (*page.values["rows"], *rest.values["rows"])] == [LATE, WELL]
    assert rest.values["next_page"] is None
    assert "The 1 worst contracts" in render(page, RenderContext(NOW, is_static=True))


def test_static_page_has_no_form_and_no_absolute_links(registry: Registry) -> None:
    page = rendered(registry, is_static=True)

    assert "<form" not in page
    assert 'href="/' not in page


def test_empty_page_shows_how_to_record_measures(tmp_path: Path) -> None:
    with Registry.open(str(tmp_path / "registry.db"), clock=lambda: NOW) as registry:
        assert "Register a contract first" in rendered(registry)
        registry.register(contract(NEVER))
        page = rendered(registry)

    assert "No measures yet" in page
    assert ">treaty run</pre>" in page


def test_contract_list_shows_and_filters_by_health(browser: Browser) -> None:
    page = browser.get("/").text
    assert 'title="failing: freshness 31 h &gt; 24 h"' in page
    assert '<option value="none">not measured (1)</option>' in page

    found = browser.get("/catalog?health=failing").text
    assert LATE in found
    assert WELL not in found
    assert NEVER in browser.get("/?health=none").text


def test_hostile_names_are_escaped(tmp_path: Path) -> None:
    hostile = "shop.orders"
    with Registry.open(str(tmp_path / "registry.db"), clock=lambda: NOW) as registry:
        registry.register(contract(hostile, name="<img src=x onerror=alert(1)>", domain="<b>"))
        registry.measures.record([Measure(hostile, "</svg><b>own", NOW, 9.0, unit="<i>", promise=5.0)])
        page = rendered(registry)

    assert _elements(page).isdisjoint({"img", "b", "i"})
    assert "alert(1)" in page


def test_page_has_no_inline_style(registry: Registry) -> None:
    page = rendered(registry)

    assert " style=" not in page
    assert "<style" not in page


def test_ids_are_unique(registry: Registry) -> None:
    ids = re.findall(r'\bid="([^"]+)"', rendered(registry))

    assert len(ids) == len(set(ids))


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.add(tag)


def _elements(page: str) -> set[str]:
    tags = _Tags()
    tags.feed(page)
    return tags.found
