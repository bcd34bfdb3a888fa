"""What people come for: from a search to whom a change hits, and to what they do about it."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.catalog.browser.conftest import Visit
from tests.catalog.retailer import FINANCE
from treaty.catalog import places
from treaty.catalog.places import Live
from treaty.registry.local import Registry


def test_a_stranger_finds_out_what_a_field_means_and_who_reads_it(live: str, visit: Visit) -> None:
    page = visit(live)

    page.get_by_label("Words in names, fields, owners and meanings").fill("gross_sale_amount")
    expect(page.locator("#results tbody tr")).to_have_count(1)
    page.get_by_role("link", name="Finance recognized sale").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Finance recognized sale")

    page.goto(live + Live().to(places.version(FINANCE, "1.2.0")))
    row = page.get_by_role("row").filter(has_text="gross_sale_amount").first
    expect(row).to_contain_text("group-ledger")


def test_two_versions_stand_side_by_side_with_whom_the_change_breaks(live: str, visit: Visit) -> None:
    page = visit(live + Live().to(places.versions(FINANCE)))

    page.get_by_label("Before").select_option("1.2.0")
    page.get_by_label("After").select_option("2.0.0")
    page.get_by_role("button", name="Compare").click()

    expect(page).to_have_url(re.compile(r"/compare/1\.2\.0\.\.2\.0\.0$"))
    expect(page.locator("main")).to_contain_text("field_removed")
    expect(page.locator("main")).to_contain_text("tax-reporting")


def test_the_graph_traces_what_a_node_rests_on(live: str, visit: Visit) -> None:
    page = visit(live + Live().to(places.graph(FINANCE)))
    node = page.locator("svg a").filter(has_text="group-ledger").first

    node.focus()

    expect(page.locator("svg.tracing, .tracing svg, svg[data-tracing]").first).to_be_visible()


def test_a_breaking_change_is_judged_before_anybody_registers_it(live: str, visit: Visit, retailer: Registry) -> None:
    before = len(retailer.history(FINANCE).items)
    page = visit(live + Live().to(places.check()))

    document = retailer.given(FINANCE, "2.0.0")[0].decode().replace("2.0.0", "2.1.0", 1)
    removed = re.sub(r"      - name: sales_channel\n(?:        .*\n|          .*\n)*", "", document)
    assert removed != document
    page.get_by_role("textbox", name=re.compile("contract", re.IGNORECASE)).last.fill(removed)
    page.get_by_role("button", name=re.compile("^(Check|Judge)")).click()

    expect(page.locator("main")).to_contain_text("field_removed")
    expect(page.locator("main")).to_contain_text("3.0.0")
    assert len(retailer.history(FINANCE).items) == before


def test_the_theme_that_is_chosen_stays(live: str, visit: Visit) -> None:
    page = visit(live)

    page.get_by_role("button", name="Dark theme").click()
    page.goto(live + Live().to(places.changes()))

    expect(page.locator("html")).to_have_attribute("data-theme", "dark")


def test_the_search_is_one_key_away(live: str, visit: Visit) -> None:
    page = visit(live + Live().to(places.contract(FINANCE)))

    page.keyboard.press("/")

    expect(page.get_by_label("Search contracts, fields, owners")).to_be_focused()
