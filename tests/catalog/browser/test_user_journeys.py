"""What people come for: from a search to whom a change hits, and to what they do about it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from playwright.sync_api import Page, expect

from tests.catalog.browser.conftest import Visit
from tests.catalog.retail_registry import FINANCE, LEGACY, TIMELINE, open_retailer
from tests.server.running import running
from treaty.catalog import links
from treaty.catalog.links import LiveUrls
from treaty.registry.service import Registry
from treaty.server.app import create_app

_AT = LiveUrls().url


@pytest.fixture
def own_registry(tmp_path: Path) -> Iterator[Registry]:
    """A registry that this test alone changes."""
    with open_retailer(tmp_path / "registry.db") as registry:
        yield registry


def test_search_compare_check_subscribe_and_deprecate(own_registry: Registry, visit: Visit) -> None:
    with running(create_app(own_registry)) as address:
        page = visit(address)
        _find_a_field(page)
        _compare_two_versions(page)
        _trace_the_graph(page, address)
        _check_a_breaking_change(page, address, own_registry)
        _subscribe(page, address, own_registry)
        _deprecate(page, address, own_registry)


def _find_a_field(page: Page) -> None:
    page.get_by_label("Search", exact=True).fill("gross_sale_amount")
    expect(page.locator("#results tbody tr")).to_have_count(1)
    page.get_by_role("link", name="Finance recognized sale").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Finance recognized sale")
    page.get_by_role("region", name="Fields").get_by_role("link", name="1.2.0", exact=True).click()
    field = page.get_by_role("row").filter(has_text="gross_sale_amount").first
    expect(field).to_contain_text("group-ledger")


def _compare_two_versions(page: Page) -> None:
    page.get_by_role("link", name=re.compile("^Versions")).click()
    page.get_by_label("Before").select_option("1.2.0")
    page.get_by_label("After").select_option("2.0.0")
    page.get_by_role("button", name="Compare").click()
    expect(page).to_have_url(re.compile(r"/compare/1\.2\.0\.\.2\.0\.0$"))
    expect(page.locator("main")).to_contain_text("field_removed")
    expect(page.locator("main")).to_contain_text("tax-reporting")


def _trace_the_graph(page: Page, address: str) -> None:
    page.goto(address + _AT(links.graph(FINANCE)))
    page.locator("svg a").filter(has_text="group-ledger").focus()
    expect(page.locator("svg.tracing")).to_have_count(1)
    expect(page.locator("svg .highlighted").filter(has_text="Finance recognized sale").first).to_be_visible()


def _check_a_breaking_change(page: Page, address: str, registry: Registry) -> None:
    kept = [one.version for one in registry.history(TIMELINE).items]
    page.goto(address + _AT(links.check_contract(TIMELINE)))
    box = page.get_by_label("Contract (ODCS or short form, YAML or JSON)")
    document = yaml.safe_load(box.input_value())
    (rows,) = document["schema"]
    rows["properties"] = [one for one in rows["properties"] if one["name"] != "entry_headline"]
    box.fill(yaml.safe_dump(document, sort_keys=False))
    page.get_by_role("button", name="Check", exact=True).click()
    expect(page.locator("main")).to_contain_text("field_removed")
    expect(page.locator("main")).to_contain_text("support-agent-desktop")
    expect(page.locator("main")).to_contain_text("2.0.0")
    assert [one.version for one in registry.history(TIMELINE).items] == kept


def _subscribe(page: Page, address: str, registry: Registry) -> None:
    page.goto(address + _AT(links.consumers(TIMELINE)))
    page.get_by_text("Subscribe to this line").first.click()
    page.get_by_role("link", name=re.compile("^Subscribe")).first.click()
    page.locator("#field-consumer").fill("returns-desk")
    page.locator("#field-consumer_class").select_option("operational_reporting")
    page.get_by_label("entry_headline").check()
    page.get_by_role("button", name="Subscribe").click()
    expect(page.locator("main")).to_contain_text("returns-desk")
    (made,) = registry.consumers.subscriptions(consumer="returns-desk").items
    assert made.fields == ["entry_headline"]


def _deprecate(page: Page, address: str, registry: Registry) -> None:
    page.goto(address + _AT(links.versions(TIMELINE)))
    page.get_by_role("link", name=re.compile("^Deprecate")).first.click()
    page.locator("#field-deprecation_uri").fill("https://contracts.example.com/guides/timeline-2")
    page.get_by_role("button", name=re.compile("^Deprecate")).click()
    expect(page.locator("main")).to_contain_text("deprecated")
    assert {one.status for one in registry.lines(TIMELINE)} == {"deprecated"}


def test_static_list_can_be_searched(static_site: Path, visit: Visit) -> None:
    page = visit((static_site / "index.html").as_uri())

    page.get_by_label("Search", exact=True).fill("quantity_to_pick")

    expect(page.locator("#results tbody tr:visible")).to_have_count(1)
    page.get_by_role("link", name="Fulfillment order ready").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Fulfillment order ready")


def test_selected_theme_is_remembered(live: str, visit: Visit) -> None:
    page = visit(live)

    page.get_by_role("button", name="Dark theme").click()
    page.goto(live + _AT(links.changes()))

    expect(page.locator("html")).to_have_attribute("data-theme", "dark")


def test_slash_focuses_the_search(live: str, visit: Visit) -> None:
    page = visit(live + _AT(links.contract(FINANCE)))

    page.keyboard.press("/")

    expect(page.get_by_label("Search contracts, fields, owners")).to_be_focused()


def test_consumers_show_who_reads_with_and_without_a_subscription(live: str, visit: Visit) -> None:
    page = visit(live + _AT(links.consumers(FINANCE)))
    rows = page.locator("table.consumers tbody tr")

    expect(rows.filter(has_text="group-ledger").locator(".state-healthy")).to_have_text("seen reading")
    expect(rows.filter(has_text="tax-reporting").locator(".state-blocked")).to_have_text(
        "subscribed, not seen reading for 120 days"
    )
    expect(rows.filter(has_text="store-forecast").locator(".state-warning")).to_have_text(
        "reads without a subscription"
    )
    rows.get_by_role("link", name="store-forecast").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("store-forecast")


def test_copy_button_copies_the_command(live: str, visit: Visit) -> None:
    page = visit(live + _AT(links.consumers(FINANCE)))

    page.get_by_role("button", name="Copy").first.click()

    expect(page.get_by_role("button", name="Copied")).to_have_count(1)
    assert page.evaluate("navigator.clipboard.readText()").startswith("treaty consumer subscribe")


def test_api_reference_needs_no_other_site(live: str, visit: Visit) -> None:
    page = visit(f"{live}/docs")
    page.set_default_timeout(60_000)  # the bundle is large, and the OpenAPI document is built with the first request

    page.locator("#operations-contracts-latest_contract .opblock-summary-control").click()
    page.get_by_role("button", name="Try it out").click()
    page.get_by_placeholder("dataset_id").fill(FINANCE)
    page.get_by_role("button", name="Execute").click()

    expect(page.locator(".live-responses-table .response").first).to_contain_text(
        "Finance recognized sale", timeout=60_000
    )


def test_search_in_the_header_is_live_and_tolerates_a_typo(live: str, visit: Visit) -> None:
    page = visit(f"{live}/catalog/health")

    page.get_by_label("Search contracts, fields, owners").fill("acounting_periods")

    results = page.get_by_role("list", name="Search results")
    expect(results.get_by_role("link")).to_have_text(["Finance recognized sale"])
    expect(results).to_contain_text("field: accounting_period")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Finance recognized sale")


def test_phone_shows_the_navigation_in_one_row_and_the_graph_fitted(live: str, visit: Visit) -> None:
    page = visit(f"{live}/catalog/graph", width=360)

    tops = page.evaluate("[...document.querySelectorAll('.top nav a')].map((link) => link.getBoundingClientRect().top)")
    assert len(tops) == 6
    assert len(set(tops)) == 1
    assert page.evaluate(
        "document.querySelector('.graph-view').scrollWidth <= document.querySelector('.graph-view').clientWidth"
    )


def test_decide_about_a_finding_with_the_keyboard(own_registry: Registry, visit: Visit) -> None:
    with running(create_app(own_registry)) as address:
        page = visit(address + _AT(links.legacy_feed(LEGACY)))
        decide = page.get_by_role("link", name=re.compile("^Decide about rows that the legacy feed has more than once"))
        decide.focus()
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", level=1)).to_contain_text("Decide")
        page.get_by_label("What it is").focus()
        page.keyboard.type("defect in l")
        for text in ("Finance", "repeated since 2019"):
            page.keyboard.press("Tab")
            page.keyboard.type(text)
        page.keyboard.press("Tab")
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")

        row = page.get_by_role("row").filter(has_text="duplicate in legacy")
        expect(row).to_contain_text("defect in legacy, Finance")
    assert own_registry.parallel_runs.get(LEGACY).clean
