"""What holds on every page: it can be read by everybody, in both themes, on any screen, with a server and without."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from tests.catalog.browser.conftest import Visit
from tests.catalog.retailer import FINANCE, TIMELINE
from treaty.catalog import places
from treaty.catalog.places import Live, Place, file_of
from treaty.registry.local import Registry


def _the_migration(registry: Registry) -> Place:
    return places.migration(registry.migrations.list().items[0].id)


BOTH: dict[str, Place | Callable[[Registry], Place]] = {
    "contracts": places.contracts(),
    "contract": places.contract(FINANCE),
    "nested contract": places.contract("retail.publications.fulfillment_order_ready"),
    "policy": places.contract("retail.policy.enterprise"),
    "versions": places.versions(FINANCE),
    "compare": places.compare(FINANCE, "1.2.0", "2.0.0"),
    "consumers": places.consumers(FINANCE),
    "document": places.document(FINANCE, "odcs"),
    "graph": places.graph(),
    "graph around a contract": places.graph(TIMELINE),
    "changes": places.changes(),
    "migration": _the_migration,
    "health": places.health(),
    "teams": places.teams(),
    "team": places.team("Group Accounting Data"),
    "team of consumers": places.team("Group Tax"),
}
"""The pages that a server and a folder of files have."""

ONLY_LIVE: dict[str, Place] = {
    "acting": places.act("deprecate-line", line=f"{FINANCE}@2"),
    "subscribing": places.act("subscribe", line=f"{FINANCE}@2"),
    "proposals": places.proposals(),
    "check of a contract": places.check_of(FINANCE),
    "nothing found": places.contracts(q="no such word anywhere"),
    "graph of columns": places.graph(FINANCE, columns=f"{FINANCE}@1"),
    "check": places.check(),
    "sign in": places.sign_in(),
}
"""The pages that need a server."""


@pytest.fixture(params=[*BOTH, *ONLY_LIVE])
def live_page(request: pytest.FixtureRequest, live: str, retailer: Registry) -> tuple[str, str]:
    """A page of the server: its name and its address."""
    return request.param, live + Live().to(_place(request.param, retailer))


@pytest.fixture(params=list(BOTH))
def static_page(request: pytest.FixtureRequest, static_site: Path, retailer: Registry) -> tuple[str, str]:
    """A page of the folder: its name and its address."""
    return request.param, (static_site / file_of(_place(request.param, retailer))).as_uri()


def _place(name: str, registry: Registry) -> Place:
    found = BOTH.get(name) or ONLY_LIVE[name]
    return found if isinstance(found, Place) else found(registry)


def test_a_page_is_for_everybody(live_page: tuple[str, str], visit: Visit, screenshots: Path | None) -> None:
    name, address = live_page
    _look_at(visit, f"live {name}", address, screenshots)


def test_a_page_without_a_server_is_for_everybody(
    static_page: tuple[str, str], visit: Visit, screenshots: Path | None
) -> None:
    name, address = static_page
    _look_at(visit, f"static {name}", address, screenshots)


def test_a_page_can_be_read_without_script(live_page: tuple[str, str], visit: Visit) -> None:
    _, address = live_page

    page = visit(address, script=False)

    assert page.locator("main h1").count() == 1
    assert page.locator("main").inner_text().strip()
    assert _is_within_the_screen(page)


def _look_at(visit: Visit, name: str, address: str, screenshots: Path | None) -> None:
    page = visit(address)
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme, reduced_motion="reduce")  # colours that change by and by are none yet
        for width in (1440, 360):
            page.set_viewport_size({"width": width, "height": 900})
            if screenshots:
                page.screenshot(path=screenshots / f"{name} {theme} {width}.png", full_page=True)
            assert _is_within_the_screen(page), f"{name} is wider than {width} pixels"
        assert _barriers(page) == []


def _barriers(page: Page) -> list[str]:
    """Return what axe finds that keeps somebody from reading or using the page."""
    found = Axe().run(page, options={"preload": False}).response["violations"]  # what it would fetch is there already
    return [f"{one['id']}: {node['html'][:200]}" for one in found for node in one["nodes"][:5]]


def _is_within_the_screen(page: Page) -> bool:
    return bool(page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth"))
