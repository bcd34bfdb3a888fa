"""The Health page: every contract day by day, the worst first; charts with their promise; what waits for somebody."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.catalog.measured import LATE, NEVER, NOW, WELL, contract, open_measured
from tests.catalog.visitor import Browser
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


def drawn(registry: Registry, wanted: HealthFilter | None = None, *, is_static: bool = False) -> str:
    return render(health_page(registry, wanted, NOW), RenderContext(NOW, is_static=is_static))


def test_the_heat_map_says_in_words_how_each_day_went(registry: Registry) -> None:
    rows = health_page(registry, now=NOW).values["rows"]

    assert [row.contract for row in rows] == [LATE, WELL]
    states = [cell.state for cell in rows[0].cells]
    assert (len(states), states[-4:]) == (30, ["healthy", "failing", "failing", "failing"])
    assert states.count("none") == 7
    assert rows[0].cells[-1].words == "31 Mar: failing by freshness"
    assert drawn(registry).count('<span class="unseen">no data</span></span></td>') == 14


def test_what_was_measured_days_ago_is_no_sign_of_now(tmp_path: Path) -> None:
    path, later = tmp_path / "registry.db", NOW + timedelta(days=2)
    open_measured(path).close()

    with Registry.open(str(path), clock=lambda: later) as registry:
        found = health_page(registry, now=later).values

    assert [row.state for row in found["rows"]] == ["none", "none"]
    assert [(one.value, one.state) for one in found["tiles"]][:2] == [("0 of 0", "none"), ("—", "none")]
    assert [one.broken for one in found["first"]] == [()]


def test_every_day_has_a_heading(registry: Registry) -> None:
    heads = re.findall(
        r'<th scope="col">', drawn(registry).partition('<table class="heat">')[2].partition("</thead>")[0]
    )

    assert len(heads) == 31


def test_charts_show_the_promise_and_where_it_was_broken(registry: Registry) -> None:
    page = drawn(registry)

    assert "Freshness 31 h, promised ≤ 1 d" in page
    assert re.search(r'<text class="promise-label"[^>]*>promised ≤ 1 d</text>', page)
    assert page.count('class="mark failing"') == 3
    assert "3 breaches in 30 days" in page
    assert page.count('<path class="line"') == 6  # three charts, each in two parts: nobody knows what was in between
    assert "#till" in page


def test_the_values_of_a_chart_stand_in_a_table(registry: Registry) -> None:
    (first,) = health_page(registry, now=NOW).values["first"]
    freshness = first.charts[0]

    assert [(one.words, one.state) for one in freshness.readings[:4]] == [("31 h", "failing")] * 3 + [
        ("2 h", "healthy")
    ]
    assert len(freshness.readings) == 23


def test_tiles_count_what_is_late_or_waits_and_say_where(registry: Registry) -> None:
    tiles = {one.name: one for one in health_page(registry, now=NOW).values["tiles"]}

    assert (tiles["Promises"].value, tiles["Promises"].state) == ("1 of 2", "failing")
    assert (tiles["Freshness"].value, tiles["Freshness"].contract) == ("1 contract late", LATE)
    assert (tiles["Quarantine"].value, tiles["Quarantine"].state) == ("12 rows", "warning")
    assert tiles["Exceptions"].value == "—"


def test_a_domain_narrows_the_map(browser: Browser) -> None:
    page = browser.get("/catalog/health?domain=well").text

    assert f'title="{WELL}"' in page
    assert f'title="{LATE}"' not in page
    assert "Nothing was measured here" in browser.get("/catalog/health?domain=never").text


def test_a_long_list_goes_on_on_the_next_page(registry: Registry) -> None:
    page = health_page(registry, now=NOW, limit=1)
    (cursor,) = [value for name, value in page.values["onward"].query if name == "cursor"]
    rest = health_page(registry, HealthFilter(cursor=cursor), NOW, limit=1)

    assert [row.contract for row in (*page.values["rows"], *rest.values["rows"])] == [LATE, WELL]
    assert rest.values["onward"] is None
    assert "The 1 that are worst" in render(page, RenderContext(NOW, is_static=True))


def test_a_page_of_a_folder_has_no_form_and_no_server_address(registry: Registry) -> None:
    page = drawn(registry, is_static=True)

    assert "<form" not in page
    assert 'href="/' not in page


def test_where_nothing_is_measured_the_page_says_what_fills_it(tmp_path: Path) -> None:
    with Registry.open(str(tmp_path / "registry.db"), clock=lambda: NOW) as registry:
        assert "Begin with a contract" in drawn(registry)
        registry.register(contract(NEVER))
        page = drawn(registry)

    assert "Nothing is measured yet" in page
    assert ">treaty run</pre>" in page


def test_the_list_shows_and_finds_contracts_by_their_health(browser: Browser) -> None:
    page = browser.get("/").text
    assert 'title="promises: failing"' in page
    assert '<option value="none">not measured (1)</option>' in page

    found = browser.get("/catalog?health=failing").text
    assert LATE in found
    assert WELL not in found
    assert NEVER in browser.get("/?health=none").text


def test_hostile_names_are_text(tmp_path: Path) -> None:
    hostile = 'shop.<script>alert("x")</script>'
    with Registry.open(str(tmp_path / "registry.db"), clock=lambda: NOW) as registry:
        registry.register(contract(hostile, name="<img src=x onerror=alert(1)>", domain="<b>"))
        registry.measures.record([Measure(hostile, "</svg><b>own", NOW, 9.0, unit="<i>", promise=5.0)])
        page = drawn(registry)

    assert _elements(page).isdisjoint({"img", "b", "i"})
    assert "alert(1)" in page


def test_a_page_without_javascript_needs_no_inline_style(registry: Registry) -> None:
    page = drawn(registry)

    assert " style=" not in page
    assert "<style" not in page


def test_ids_are_unique(registry: Registry) -> None:
    ids = re.findall(r'\bid="([^"]+)"', drawn(registry))

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
