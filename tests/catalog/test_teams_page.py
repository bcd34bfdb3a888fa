"""Team pages: owned contracts, dependencies, upcoming changes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.catalog.migration_registry import HOSTILE, MovingTown, moving_town
from tests.catalog.page_client import Browser, words
from treaty.catalog import links
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


def test_list_has_owners_and_consumers(browser: Browser) -> None:
    text = words(browser.get("/catalog/teams"))

    assert "checkout 2 — — —" in text
    assert "bi — 3 3 2 migrations to act on" in text
    assert "alone — 1 1 1 migration to act on" in text


def test_consuming_team_sees_upcoming_changes(browser: Browser) -> None:
    text = words(browser.get("/catalog/teams/bi"))

    assert "stock@1 → to stock@2 proposed waiting shop acknowledgement required" in text
    assert "waiting board waived ledger" in text
    assert "orders@1 can be retired" in text
    assert "orders@1 is sunset" in text
    assert "This team owns no contracts." in text
    assert "bi@example.org for board" in text


def test_owning_team_sees_its_contracts(browser: Browser) -> None:
    text = words(browser.get("/catalog/teams/checkout"))

    assert "Contracts owned 2 Subscriptions 0" in text
    assert "active not measured 3" in text
    assert "edge@1 expires" in text
    assert "No subscriptions." in text


def test_team_sees_its_namespaces(place: MovingTown, browser: Browser) -> None:
    place.registry.governance.assign_namespace("shop.", "checkout")

    assert "Namespaces shop." in words(browser.get("/catalog/teams/checkout"))
    assert "Namespaces" not in words(browser.get("/catalog/teams/bi"))


def test_team_sees_sources_of_its_contracts(browser: Browser) -> None:
    text = words(browser.get("/catalog/teams/press"))

    assert "Sources of owned contracts Source line Used by Fields orders@1 digest@1 ltv" in text
    assert "orders@1 can be retired" in text


def test_owners_see_open_proposals(browser: Browser) -> None:
    text = words(browser.get(f"/catalog/teams/{encode_name(HOSTILE)}"))

    assert "Open proposals stock 2.0.0 proposed by local" in text


def test_consumer_without_a_team_is_its_own_team(browser: Browser) -> None:
    assert "waiting alone" in words(browser.get("/catalog/teams/alone"))


def test_unknown_team_is_not_found(browser: Browser) -> None:
    answer = browser.get("/catalog/teams/nobody")

    assert answer.status_code == 404
    assert "no team 'nobody' owns or consumes a contract" in words(answer)


def test_hostile_names_are_escaped(browser: Browser) -> None:
    for path in ("teams", "teams/bi", f"teams/{encode_name(HOSTILE)}"):
        page = browser.get(f"/catalog/{path}").text
        assert HOSTILE not in page
        assert 'href="javascript:' not in page


def test_static_pages_link_to_each_other(place: MovingTown) -> None:
    context = RenderContext(place.clock.now, is_static=True)

    listed = render(teams_page(place.registry), context)
    one = render(team_page(place.registry, "bi", place.clock.now.date()), context)

    assert 'href="../teams/bi.html"' in listed
    assert f'href="../migrations/{place.open}.html"' in one
    assert "<form" not in one


@pytest.mark.parametrize("team", ["press", "bi"])
def test_local_and_remote_registry_give_the_same_page(place: MovingTown, team: str) -> None:
    today, context = place.clock.now.date(), RenderContext(place.clock.now)

    with RegistryClient(place.address) as client:
        assert render(team_page(client, team, today), context) == render(
            team_page(place.registry, team, today), context
        )


def test_addresses_of_teams_are_readable_and_differ() -> None:
    keys = [links.team_key(name) for name in ("growth-platform", "Group Tax", "group tax", "group-tax", "index", "税")]

    assert keys[0] == "growth-platform"
    assert [key.partition("~")[0] for key in keys] == [
        "growth-platform",
        "group-tax",
        "group-tax",
        "group-tax",
        "index",
        "team",
    ]
    assert len(set(keys)) == 6
