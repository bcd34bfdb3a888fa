"""Changes page (migrations, upcoming dates, activity) and migration page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from html import unescape
from pathlib import Path

import pytest

from tests.catalog.migration_registry import HOSTILE, PLAN, MovingTown, moving_town
from tests.catalog.page_client import Browser, words
from tests.registry.offers import ID, PLAN_FIELD, orders
from tests.server.conftest import Clock
from treaty.catalog.links import file_path
from treaty.catalog.pages.changes import ActivityFilter, changes_page, static_changes_page
from treaty.catalog.pages.migrations import migration_page
from treaty.catalog.rendering import RenderContext, Visitor, render
from treaty.compatibility.migration.proof import contract_digest
from treaty.contracts.loader import contract_from
from treaty.registry.service import Registry


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MovingTown]:
    with moving_town(tmp_path_factory.mktemp("changes")) as made:
        yield made


@pytest.fixture
def browser(place: MovingTown) -> Iterator[Browser]:
    with Browser(place.address) as one:
        yield one


def test_open_migrations_show_consumers_and_time_left(browser: Browser) -> None:
    text = words(browser.get("/catalog/changes"))

    assert "Open migrations 2" in text
    assert "orders@1 → to orders@2" in text
    assert "10 days left until 1 May 2026" in text
    assert "2 waiting 1 waived" in text
    assert "stock@1 → to stock@2 proposed waiting for acknowledgement by shop" in text
    assert "not run on data" in text


def test_upcoming_dates_are_listed(browser: Browser) -> None:
    text = words(browser.get("/catalog/changes"))

    assert "orders@1 can be retired; it is no longer available afterwards in 7 days · 28 Apr 2026" in text
    assert "orders@1 should have no consumers left" in text
    assert "edge@1 expires, and is deprecated unless it is renewed" in text


def test_activity_of_the_month_is_counted(browser: Browser) -> None:
    text = words(browser.get("/catalog/changes"))

    assert re.search(r"April 2026 so far 3 versions registered 1 breaking version proposed", text)


def test_activity_is_listed_by_day_with_reasons(browser: Browser) -> None:
    text = words(browser.get("/catalog/changes"))

    assert "2 Mar 2026 50 days ago" in text
    refused = (
        "orders local tried to register 1.0.1, which was refused: field removed; "
        "would affect 3 consumers; the change requires 2.0.0"
    )
    assert refused in text
    assert "orders local registered 2.0.0: a new line next to line 1; affects 2 consumers" in text


def test_refused_contract_has_no_link(browser: Browser) -> None:
    page = browser.get("/catalog/changes").text

    assert "<strong><bdi>never</bdi></strong>" in page
    assert 'href="/catalog/contracts/never"' not in page


@pytest.mark.parametrize(
    ("query", "shown", "hidden"),
    [
        ("kind=refusal", "was refused", "registered 1.0.0"),
        ("contract=stock", "registered 1.0.0", "was refused"),
        ("team=bi", "subscribed shop", "expiry missing"),
        ("kind=gossip", "was refused", "No matching entries"),
    ],
)
def test_activity_is_filtered_by_query(browser: Browser, query: str, shown: str, hidden: str) -> None:
    text = words(browser.get(f"/catalog/changes?{query}")).partition(" Activity ")[2]

    assert shown in text
    assert hidden not in text


def test_filter_without_matches_shows_empty_state(browser: Browser) -> None:
    assert "0 entries shown, newest first; show all . No matching entries." in words(
        browser.get("/catalog/changes?contract=unknown")
    )


def test_older_entries_are_on_the_next_page(place: MovingTown, browser: Browser) -> None:
    for number in range(60):
        place.registry.consumers.subscribe("old", "edge@1", consumer_class="exploratory_analytics", purpose=str(number))
    first = browser.get("/catalog/changes?kind=subscription&contract=edge").text
    next_page = re.search(r'rel="next" href="([^"#]+)#activity"', first)
    assert next_page

    older = browser.get(unescape(next_page[1])).text

    assert (first.count('class="feed-content"'), older.count('class="feed-content"')) == (50, 10)
    assert "kind=subscription" in next_page[1]


def test_migration_page_lists_consumers(place: MovingTown, browser: Browser) -> None:
    text = words(browser.get(f"/catalog/migrations/{place.open}"))

    assert "2 of 3 consumers still use the old line." in text
    assert "board operational reporting waiting affected: a field it uses changes ltv bi bi@example.org" in text
    assert "unknown: no fields specified" in text
    assert "until 2 Mar 2027" in text
    assert f"treaty migrate move {place.open} alone" in text
    assert "treaty migrate plan orders@1.0.0 orders@2.0.0 --consumer alone" in text


def test_proposed_migration_waits_for_acknowledgement(place: MovingTown, browser: Browser) -> None:
    text = words(browser.get(f"/catalog/migrations/{place.proposed}"))

    assert "2.0.0 breaks consumers of 1.0.0 and is not registered yet: waiting for 1 critical consumer." in text
    assert "acknowledgement required" in text
    assert f"treaty migrate acknowledge {place.proposed} shop" in text
    assert "treaty migrate move" not in text
    assert "Changes between" not in text


def test_proof_shows_the_result_of_each_shim(place: MovingTown, browser: Browser) -> None:
    versions = {"before": orders(), "after": orders("2.0.0", [ID, PLAN_FIELD], migration=PLAN)}
    sides = {side: {"digest": contract_digest(contract_from(one))} for side, one in versions.items()}
    rows = {"line": "orders@2", "origin": "made", "given": 500, "used": 500, "conforming": 498}
    lost = {"field": "ltv", "fidelity": "impossible", "reason": "nothing holds it any more", "holds": False}
    back = {"way": "back", "object": "orders", "holds": False, "rows": rows, "blocked": [], "fields": [lost]}
    odd = {"way": HOSTILE, "object": None, "rows": "none", "blocked": 7, "fields": [3]}
    proof = {**sides, "at": "2026-04-20T09:00:00", "holds": False, "shims": [back, odd, "no shim"]}
    place.registry.migrations.record_proof(place.open, proof)

    page = browser.get(f"/catalog/migrations/{place.open}")

    assert "failed orders : old shape from new rows 498 of 500 rows are valid (made)" in words(page)
    assert "ltv: impossible, nothing holds it any more" in words(page)
    assert HOSTILE not in page.text


def test_unknown_migration_is_not_found(browser: Browser) -> None:
    assert browser.get("/catalog/migrations/999999").status_code == 404


def test_hostile_text_is_escaped(place: MovingTown, browser: Browser) -> None:
    for path in ("changes", f"migrations/{place.open}", f"migrations/{place.proposed}"):
        page = browser.get(f"/catalog/{path}").text
        assert HOSTILE not in page
        assert 'href="javascript:' not in page


def test_static_pages_have_no_form_and_no_relative_times(place: MovingTown) -> None:
    today = place.clock.now.date()
    context = RenderContext(place.clock.now, is_static=True)

    changes = render(static_changes_page(place.registry, today), context)
    migration = render(migration_page(place.registry, place.open, today), context)

    for html in (changes, migration):
        assert "<form" not in html
        assert "days left" not in html
        assert "until 1 May 2026" in html
    assert f'href="../migrations/{place.open}.html"' in changes


def test_waiver_of_an_unregistered_contract_has_no_link(tmp_path: Path) -> None:
    with Registry.open(str(tmp_path / "registry.db")) as registry:
        registry.register(orders())
        for contract in ("orders", "ahead"):
            registry.governance.waive(
                "description-thin", owner="sales", reason="soon", until="2999-01-01", contract=contract
            )
        page = changes_page(registry, date(2026, 4, 1))

    waived = {
        it.entry.contract: it.has_page
        for _, entries in page.values["days"]
        for it in entries
        if it.entry.kind == "waiver"
    }
    assert waived == {"orders": True, "ahead": False}


def test_filter_is_part_of_the_url_but_not_of_the_file(place: MovingTown) -> None:
    today = place.clock.now.date()
    changes = changes_page(place.registry, today, ActivityFilter(kind="lifecycle", team="bi"))
    visitor = Visitor(can_sign_in=True)

    page = render(changes, RenderContext(place.clock.now, visitor))

    assert "sign-in?then=%2Fcatalog%2Fchanges%3Fkind%3Dlifecycle%26team%3Dbi" in page
    assert file_path(changes.link) == "changes/index.html"
    assert page.count("<div") == page.count("</div>")


def test_empty_registry_shows_empty_states(tmp_path: Path) -> None:
    clock = Clock()
    with Registry.open(str(tmp_path / "registry.db"), clock=clock) as registry:
        html = render(changes_page(registry, clock.now.date()), RenderContext(clock.now))

    assert "No activity yet." in html
    assert "No migrations are open or proposed." in html
