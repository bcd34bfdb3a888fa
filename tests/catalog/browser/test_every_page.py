"""Every page is accessible in both themes and widths, live and static, with and without JavaScript."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from tests.catalog.browser.conftest import Visit
from tests.catalog.retail_registry import CAPTURE, FINANCE, LEGACY, PLACED, TIMELINE
from treaty.catalog import links
from treaty.catalog.links import Link, LiveUrls, file_path
from treaty.registry.service import Registry


def _the_migration(registry: Registry) -> Link:
    return links.migration(registry.migrations.list().items[0].id)


def _open_incident(registry: Registry) -> Link:
    return links.incident(registry.incidents.list(state="open").items[0].id)


def _closed_incident(registry: Registry) -> Link:
    return links.incident(registry.incidents.list(state="closed").items[0].id)


def _drift(state: str) -> Callable[[Registry], Link]:
    def find(registry: Registry) -> Link:
        found = next(one for one in registry.drift.findings().items if one.state == state)
        return links.drift_finding(found.line, found.fingerprint)

    return find


BOTH: dict[str, Link | Callable[[Registry], Link]] = {
    "contracts": links.contracts(),
    "contract": links.contract(FINANCE),
    "nested contract": links.contract("retail.publications.fulfillment_order_ready"),
    "policy": links.contract("retail.policy.enterprise"),
    "versions": links.versions(FINANCE),
    "compare": links.compare(FINANCE, "1.2.0", "2.0.0"),
    "consumers": links.consumers(FINANCE),
    "document": links.document(FINANCE, "odcs"),
    "lineage": links.lineage(TIMELINE),
    "contract with runs": links.contract(CAPTURE),
    "graph": links.graph(),
    "graph around a contract": links.graph(TIMELINE),
    "dependency map": links.dependency_map(),
    "legacy feeds": links.legacy_feeds(),
    "legacy feed": links.legacy_feed(LEGACY),
    "drift of meaning": links.drift(),
    "drift finding": _drift("open"),
    "explained drift": _drift("explained"),
    "contract with drift": links.contract(PLACED),
    "changes": links.changes(),
    "migration": _the_migration,
    "health": links.health(),
    "incidents": links.incidents(),
    "open incident": _open_incident,
    "closed incident": _closed_incident,
    "blocked contract": links.contract(TIMELINE),
    "teams": links.teams(),
    "team": links.team("Group Accounting Data"),
    "team of consumers": links.team("Group Tax"),
}
"""The pages that a server and a folder of files have."""


def _acknowledgement(registry: Registry) -> Link:
    return links.action("acknowledge-incident", incident=registry.incidents.list(state="open").items[0].id)


def _undecided_finding(registry: Registry) -> Link:
    finding = registry.parallel_runs.get(LEGACY).findings[0]
    return links.action("decide-finding", feed=LEGACY, finding=finding.fingerprint)


ONLY_LIVE: dict[str, Link | Callable[[Registry], Link]] = {
    "acting": links.action("deprecate-line", line=f"{FINANCE}@2"),
    "subscribing": links.action("subscribe", line=f"{FINANCE}@2"),
    "proposals": links.proposals(),
    "check of a contract": links.check_contract(FINANCE),
    "nothing found": links.contracts(q="no such word anywhere"),
    "graph by health": links.graph(colors="health"),
    "open incidents only": links.incidents(state="open", contract=FINANCE),
    "acknowledging": _acknowledgement,
    "exceptions": links.exceptions(),
    "accepting an exception": links.action(
        "accept-exception", reconciliation="commercial_order", key="ORD-1", assertion="paid_amount_matches"
    ),
    "quarantine": links.quarantine(),
    "graph of columns": links.graph(FINANCE, columns=f"{FINANCE}@1"),
    "check": links.check(),
    "report of a day": links.legacy_feed(LEGACY, "2026-02-20"),
    "deciding about a finding": _undecided_finding,
    "cutting over": links.action("cut-over", feed=LEGACY, consumer="group-ledger"),
    "sign in": links.sign_in(),
}
"""The pages that need a server."""


@pytest.fixture(params=[*BOTH, *ONLY_LIVE])
def live_page(request: pytest.FixtureRequest, live: str, retailer: Registry) -> tuple[str, str]:
    """A page of the server: its name and its address."""
    return request.param, live + LiveUrls().url(_place(request.param, retailer))


@pytest.fixture(params=list(BOTH))
def static_page(request: pytest.FixtureRequest, static_site: Path, retailer: Registry) -> tuple[str, str]:
    """A page of the folder: its name and its address."""
    return request.param, (static_site / file_path(_place(request.param, retailer))).as_uri()


def _place(name: str, registry: Registry) -> Link:
    found = BOTH.get(name) or ONLY_LIVE[name]
    return found if isinstance(found, Link) else found(registry)


def test_live_page_is_accessible(live_page: tuple[str, str], visit: Visit, screenshots: Path | None) -> None:
    name, address = live_page
    _check_page(visit, f"live {name}", address, screenshots)


def test_static_page_is_accessible(static_page: tuple[str, str], visit: Visit, screenshots: Path | None) -> None:
    name, address = static_page
    _check_page(
        visit, f"static {name}", address, screenshots, axe_themes=["light"]
    )  # the live page has the same colours


def test_page_works_without_javascript(live_page: tuple[str, str], visit: Visit) -> None:
    _, address = live_page

    page = visit(address, script=False)

    assert page.locator("main h1").count() == 1
    assert page.locator("main").inner_text().strip()
    assert _is_within_the_screen(page)


def _check_page(
    visit: Visit, name: str, address: str, screenshots: Path | None, axe_themes: Sequence[str] = ("light", "dark")
) -> None:
    check_page(visit(address), name, screenshots, axe_themes)


def check_page(page: Page, name: str, screenshots: Path | None, axe_themes: Sequence[str] = ("light", "dark")) -> None:
    """Check a page in both themes and widths as it is shown."""
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme, reduced_motion="reduce")  # no transitions between colours
        for width in (1440, 360):
            page.set_viewport_size({"width": width, "height": 900})
            if screenshots:
                page.screenshot(path=screenshots / f"{name} {theme} {width}.png", full_page=True)
            assert _is_within_the_screen(page), f"{name} is wider than {width} pixels"
        if theme in axe_themes:
            assert _violations(page) == []


def _violations(page: Page) -> list[str]:
    """Return the accessibility violations that axe finds."""
    rules = {"label-content-name-mismatch": {"enabled": True}}  # axe calls it experimental
    options = {"preload": False, "rules": rules}  # what it would preload is there already
    found = Axe().run(page, options=options).response["violations"]
    return [f"{one['id']}: {node['html'][:200]}" for one in found for node in one["nodes"][:5]]


def _is_within_the_screen(page: Page) -> bool:
    return bool(page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth"))
