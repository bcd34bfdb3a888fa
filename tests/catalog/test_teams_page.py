"""Teams, on pages: what each owns, what it depends on, what is coming at it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.catalog.moving_town import HOSTILE, MovingTown, moving_town
from tests.catalog.visitor import Browser, words
from treaty.catalog.links import encode_name
from treaty.catalog.pages.teams import team_page, teams_page
from treaty.catalog.rendering import RenderContext, render
from treaty.registry.client import RegistryClient


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MovingTown]:
    with moving_town(tmp_path_factory.mktemp("teams")) as made:
        yield made


@pytest.fixture
def browser(place: MovingTown) -> Iterator[Browser]:
    with Browser(place.address) as one:
        yield one


def test_the_list_has_everybody_who_owns_or_reads(browser: Browser) -> None:
    said = words(browser.get("/catalog/teams"))

    assert "checkout 2 contracts — — —" in said
    assert "bi — 3 lines 3 2 moves to answer" in said
    assert "alone — 1 line 1 1 move to answer" in said


def test_a_team_that_reads_sees_what_is_coming_at_it(browser: Browser) -> None:
    said = words(browser.get("/catalog/teams/bi"))

    assert "stock@1 → to stock@2 proposed waiting shop its word is missing" in said
    assert "waiting board waived ledger" in said
    assert "orders@1 may be retired" in said
    assert "orders@1 is sunset" in said
    assert "It owns no contract." in said
    assert "bi@example.org for board" in said


def test_a_team_that_owns_sees_its_contracts(browser: Browser) -> None:
    said = words(browser.get("/catalog/teams/checkout"))

    assert "Owns 2 Lines read 0" in said
    assert "active not measured 3" in said
    assert "edge@1 expires" in said
    assert "None of its consumers reads anything here." in said


def test_a_team_without_consumers_sees_what_its_contracts_rest_on(browser: Browser) -> None:
    said = words(browser.get("/catalog/teams/press"))

    assert "What its contracts are made from Line Its contract Fields orders@1 digest@1 ltv" in said
    assert "orders@1 may be retired" in said


def test_owners_see_what_waits_for_a_word(browser: Browser) -> None:
    said = words(browser.get(f"/catalog/teams/{encode_name(HOSTILE)}"))

    assert "Proposals that wait for somebody’s word stock 2.0.0 proposed by local" in said


def test_a_consumer_without_a_team_speaks_for_itself(browser: Browser) -> None:
    assert "waiting alone" in words(browser.get("/catalog/teams/alone"))


def test_an_unknown_team_is_not_found(browser: Browser) -> None:
    answer = browser.get("/catalog/teams/nobody")

    assert answer.status_code == 404
    assert "no team 'nobody' owns or reads anything here" in words(answer)


def test_hostile_names_stay_names(browser: Browser) -> None:
    for path in ("teams", "teams/bi", f"teams/{encode_name(HOSTILE)}"):
        page = browser.get(f"/catalog/{path}").text
        assert HOSTILE not in page
        assert 'href="javascript:' not in page


def test_the_static_pages_lead_to_each_other(place: MovingTown) -> None:
    setting = RenderContext(place.clock.now, is_static=True)

    listed = render(teams_page(place.registry), setting)
    one = render(team_page(place.registry, "bi", place.clock.now.date()), setting)

    assert 'href="../teams/bi.html"' in listed
    assert f'href="../migrations/{place.open}.html"' in one
    assert "<form" not in one


@pytest.mark.parametrize("team", ["press", "bi"])
def test_a_team_is_the_same_from_a_registry_at_hand_and_by_its_address(place: MovingTown, team: str) -> None:
    today, setting = place.clock.now.date(), RenderContext(place.clock.now)

    with RegistryClient(place.address) as client:
        assert render(team_page(client, team, today), setting) == render(
            team_page(place.registry, team, today), setting
        )
