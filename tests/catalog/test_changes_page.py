"""What is changing, on a page: moves, days that are near, what happened; and one move from close by."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from html import unescape
from pathlib import Path

import pytest

from tests.catalog.moving_town import HOSTILE, PLAN, MovingTown, moving_town
from tests.catalog.visitor import Browser, words
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


def test_the_board_says_who_is_to_move_and_how_much_time_is_left(browser: Browser) -> None:
    said = words(browser.get("/catalog/changes"))

    assert "Moves under way 2" in said
    assert "orders@1 → to orders@2" in said
    assert "10 days left until 1 May 2026" in said
    assert "2 waiting 1 waived" in said
    assert "stock@1 → to stock@2 proposed waits for the word of shop" in said
    assert "not tried on rows" in said


def test_what_comes_up_stands_by_its_day(browser: Browser) -> None:
    said = words(browser.get("/catalog/changes"))

    assert "orders@1 may be retired: it can no longer be read then (since 8 Apr 2026)" in said
    assert "orders@1 should have no readers left" in said
    assert "edge@1 expires, and is deprecated unless it is renewed" in said


def test_the_month_is_summed_up(browser: Browser) -> None:
    said = words(browser.get("/catalog/changes"))

    assert re.search(r"April 2026 so far 3 versions registered 1 breaking version proposed", said)


def test_what_happened_stands_by_day_with_its_reasons(browser: Browser) -> None:
    said = words(browser.get("/catalog/changes"))

    assert "2 Mar 2026 50 days ago" in said
    refused = "orders local was refused 1.0.1: field removed; would hit 3 consumers; the change needs 2.0.0"
    assert refused in said
    assert "orders local registered 2.0.0: a new line beside 1; hits 2 consumers" in said


def test_a_version_that_never_came_in_leads_nowhere(browser: Browser) -> None:
    page = browser.get("/catalog/changes").text

    assert "<strong><bdi>never</bdi></strong>" in page
    assert 'href="/catalog/contracts/never"' not in page


@pytest.mark.parametrize(
    ("asked", "there", "gone"),
    [
        ("kind=refusal", "was refused", "registered 1.0.0"),
        ("contract=stock", "registered 1.0.0", "was refused"),
        ("team=bi", "subscribed shop", "expiry missing"),
        ("kind=gossip", "was refused", "Nothing of this"),
    ],
)
def test_the_feed_is_narrowed_by_the_address(browser: Browser, asked: str, there: str, gone: str) -> None:
    said = words(browser.get(f"/catalog/changes?{asked}")).partition("What happened")[2]

    assert there in said
    assert gone not in said


def test_a_filter_that_fits_nothing_says_so(browser: Browser) -> None:
    assert "0 entries shown, the newest first; show everything . Nothing of this happened." in words(
        browser.get("/catalog/changes?contract=unknown")
    )


def test_older_entries_are_a_link_away(place: MovingTown, browser: Browser) -> None:
    for number in range(60):
        place.registry.consumers.subscribe("old", "edge@1", consumer_class="exploratory_analytics", purpose=str(number))
    first = browser.get("/catalog/changes?kind=subscription&contract=edge").text
    onward = re.search(r'rel="next" href="([^"#]+)#happened"', first)
    assert onward

    older = browser.get(unescape(onward[1])).text

    assert (first.count('class="feed-words"'), older.count('class="feed-words"')) == (50, 10)
    assert "kind=subscription" in onward[1]


def test_a_move_says_who_stands_where(place: MovingTown, browser: Browser) -> None:
    said = words(browser.get(f"/catalog/migrations/{place.open}"))

    assert "2 consumers of 3 still read the old line." in said
    assert "board operational reporting waiting hit: a field it reads changes ltv bi bi@example.org" in said
    assert "unknown: it names no fields" in said
    assert "until 2 Mar 2027" in said
    assert f"treaty migrate move {place.open} alone" in said
    assert "treaty migrate plan orders@1.0.0 orders@2.0.0 --consumer alone" in said


def test_a_proposed_move_waits_for_a_word(place: MovingTown, browser: Browser) -> None:
    said = words(browser.get(f"/catalog/migrations/{place.proposed}"))

    assert "2.0.0 breaks readers of 1.0.0 and is not let in yet: it waits for the word of 1 critical consumer." in said
    assert "its word is missing" in said
    assert f"treaty migrate acknowledge {place.proposed} shop" in said
    assert "treaty migrate move" not in said
    assert "What changes between" not in said


def test_a_proof_says_which_shape_holds(place: MovingTown, browser: Browser) -> None:
    versions = {"before": orders(), "after": orders("2.0.0", [ID, PLAN_FIELD], migration=PLAN)}
    sides = {side: {"digest": contract_digest(contract_from(one))} for side, one in versions.items()}
    rows = {"line": "orders@2", "origin": "made", "given": 500, "used": 500, "conforming": 498}
    lost = {"field": "ltv", "fidelity": "impossible", "reason": "nothing holds it any more", "holds": False}
    back = {"way": "back", "object": "orders", "holds": False, "rows": rows, "blocked": [], "fields": [lost]}
    odd = {"way": HOSTILE, "object": None, "rows": "none", "blocked": 7, "fields": [3]}
    proof = {**sides, "at": "2026-04-20T09:00:00", "holds": False, "shims": [back, odd, "no shim"]}
    place.registry.migrations.record_proof(place.open, proof)

    page = browser.get(f"/catalog/migrations/{place.open}")

    assert "does not hold orders : the old shape, from new rows 498 of 500 rows keep the contract (made)" in words(page)
    assert "ltv: impossible, nothing holds it any more" in words(page)
    assert HOSTILE not in page.text


def test_an_unknown_move_is_not_found(browser: Browser) -> None:
    assert browser.get("/catalog/migrations/999999").status_code == 404


def test_hostile_words_stay_words(place: MovingTown, browser: Browser) -> None:
    for path in ("changes", f"migrations/{place.open}", f"migrations/{place.proposed}"):
        page = browser.get(f"/catalog/{path}").text
        assert HOSTILE not in page
        assert 'href="javascript:' not in page


def test_the_static_page_has_no_form_and_no_days_left(place: MovingTown) -> None:
    today = place.clock.now.date()
    setting = RenderContext(place.clock.now, is_static=True)

    board = render(static_changes_page(place.registry, today), setting)
    move = render(migration_page(place.registry, place.open, today), setting)

    for drawn in (board, move):
        assert "<form" not in drawn
        assert "days left" not in drawn
        assert "until 1 May 2026" in drawn
    assert f'href="../migrations/{place.open}.html"' in board


def test_a_rule_waived_for_what_is_not_registered_leads_nowhere(tmp_path: Path) -> None:
    with Registry.open(str(tmp_path / "registry.db")) as registry:
        registry.register(orders())
        for contract in ("orders", "ahead"):
            registry.governance.waive(
                "description-thin", owner="sales", reason="soon", until="2999-01-01", contract=contract
            )
        page = changes_page(registry, date(2026, 4, 1))

    waived = {it.one.contract: it.has_page for _, some in page.values["days"] for it in some if it.one.kind == "waiver"}
    assert waived == {"orders": True, "ahead": False}


def test_what_was_asked_is_part_of_the_place_but_not_of_the_file(place: MovingTown) -> None:
    today = place.clock.now.date()
    found = changes_page(place.registry, today, ActivityFilter(kind="lifecycle", team="bi"))
    visitor = Visitor(can_sign_in=True)

    page = render(found, RenderContext(place.clock.now, visitor))

    assert "sign-in?then=%2Fcatalog%2Fchanges%3Fkind%3Dlifecycle%26team%3Dbi" in page
    assert file_path(found.place) == "changes/index.html"
    assert page.count("<div") == page.count("</div>")


def test_an_empty_registry_says_that_nothing_happened(tmp_path: Path) -> None:
    clock = Clock()
    with Registry.open(str(tmp_path / "registry.db"), clock=clock) as registry:
        drawn = render(changes_page(registry, clock.now.date()), RenderContext(clock.now))

    assert "Nothing has happened yet." in drawn
    assert "Nobody has to move" in drawn
