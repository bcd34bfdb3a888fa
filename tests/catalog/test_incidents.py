"""Incidents in the catalog: list, one incident with evidence, acknowledgement, and the same state on every page."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.catalog.page_client import Browser
from tests.catalog.retail_registry import CAPTURE, FINANCE, TIMELINE, open_retailer
from tests.server.running import running
from treaty.catalog import links
from treaty.catalog.links import LiveUrls
from treaty.registry.service import Registry
from treaty.server.app import create_app

CAUSE = "audit of order_capture refused run 30: rule home_delivery_has_destination 0.43 % &gt; 0.1 %"
ACKNOWLEDGE = "/catalog/act/acknowledge-incident"
BLOCKED = "blocked by retail.products.order_capture"


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Registry]:
    with open_retailer(tmp_path_factory.mktemp("incidents") / "registry.db") as one:
        yield one


@pytest.fixture(scope="module")
def browser(registry: Registry) -> Iterator[Browser]:
    with running(create_app(registry)) as address, Browser(address) as one:
        yield one


def incident_of(registry: Registry, contract: str) -> int:
    return registry.incidents.list(contract=contract, state="open").items[0].id


def test_every_page_shows_the_same_state_and_cause(browser: Browser) -> None:
    team = LiveUrls().url(links.team("Order Capture"))
    failing = ("/", "/catalog/health", "/catalog/graph", f"/catalog/contracts/{CAPTURE}", team)
    blocked = ("/", "/catalog/health", "/catalog/graph", f"/catalog/contracts/{TIMELINE}")

    assert [path for path in failing if f"failing: {CAUSE}" not in browser.get(path).text] == []
    assert [path for path in blocked if BLOCKED not in browser.get(path).text] == []


def test_incident_shows_evidence_consumers_and_what_it_blocks(browser: Browser, registry: Registry) -> None:
    page = browser.get(f"/catalog/incidents/{incident_of(registry, CAPTURE)}").text

    assert CAUSE in page
    for text in ("home_delivery_has_destination", "≤ 0.1 %", "external regulatory", "group-ledger", "root cause"):
        assert text in page
    assert f"{TIMELINE}@1" in page


def test_front_page_answers_what_is_broken_changing_and_ending(browser: Browser) -> None:
    front, filtered = browser.get("/").text, browser.get("/?health=failing").text

    assert [text for text in ("What is broken", "What is changing", "What ends soon") if text not in front] == []
    assert "/catalog/migrations/" in front
    assert "blocks 6 lines" in front
    assert "What is broken" not in filtered


def test_contract_page_has_runs_incidents_and_error_budgets(browser: Browser) -> None:
    page = browser.get(f"/catalog/contracts/{CAPTURE}").text

    assert "22 of 23 runs succeeded in 30 days" in page
    assert "230 rows" in page  # rows that arrived in the newest run
    assert ">Incidents<" in page
    assert "Kept over 30 days, with error budgets" in page


def test_list_is_filtered_by_state_and_contract(browser: Browser) -> None:
    closed = browser.get(f"/catalog/incidents?state=closed&contract={FINANCE}").text

    assert "freshness 25 h &gt; 24 h" in closed
    assert CAUSE not in closed
    assert "No open incidents match" in browser.get("/catalog/incidents?team=nobody").text
    assert browser.get("/catalog/incidents/999999").status_code == 404


def test_lineage_goes_back_to_source_fields_by_column(browser: Browser) -> None:
    page = browser.get(f"/catalog/contracts/{TIMELINE}/lineage").text.replace("<wbr>", "")

    assert "retail.orders.order_placed@1" in page
    assert "<span>run 29</span>" in page
    assert "<span>run 30 failed</span>" in page
    assert "publication" in page


def test_graph_offers_colors_by_lifecycle_or_health(browser: Browser) -> None:
    page = browser.get("/catalog/graph?colors=health").text

    assert 'value="health" checked' in page
    assert 'class="by-health state-failing"' in page
    assert 'class="by-health state-blocked"' in page
    assert browser.get("/catalog/graph?colors=blue").status_code == 422


def test_acknowledging_needs_a_reason_and_is_shown(browser: Browser, registry: Registry) -> None:
    number = incident_of(registry, CAPTURE)

    page = browser.get(f"{ACKNOWLEDGE}?incident={number}")
    assert page.status_code == 200
    refused = browser.post(ACKNOWLEDGE, {"incident": str(number), "reason": " "})
    assert "What is being done is required" in refused.text
    accepted = browser.post(
        ACKNOWLEDGE, {"incident": str(number), "reason": "the feed is repaired"}, follow_redirects=True
    )
    assert "the feed is repaired" in accepted.text
    assert registry.incidents.get(number).reason == "the feed is repaired"
