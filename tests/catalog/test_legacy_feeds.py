"""Legacy feeds in the catalog: cut-over, the report of each day and its exports, and decisions from the page."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

import pytest

from tests.catalog.page_client import Browser, words
from tests.catalog.retail_registry import FINANCE, LEGACY, open_retailer
from tests.server.running import running
from treaty.registry.service import Registry
from treaty.server.app import create_app

PAGE = f"/catalog/legacy/{LEGACY}"
SETTLED = "S means RECOGNIZED, new has CANCELLED"


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Registry]:
    with open_retailer(tmp_path_factory.mktemp("legacy") / "registry.db") as one:
        yield one


@pytest.fixture(scope="module")
def browser(registry: Registry) -> Iterator[Browser]:
    with running(create_app(registry)) as address, Browser(address) as one:
        yield one


def test_feed_shows_new_findings_first_with_what_was_decided(browser: Browser) -> None:
    listed, page = words(browser.get("/catalog/legacy")), browser.get(PAGE).text
    text = words(browser.get(PAGE))

    assert "1 finding undecided" in listed
    assert "3 parallel" in listed
    assert text.index("new state S") < text.index(SETTLED)
    assert "semantic disagreement, Group Accounting settled by financial_recognition_status" in text
    assert f'/catalog/contracts/{FINANCE}#field-financial_recognition_status"' in page
    assert "group-ledger is critical, and its owner has not approved the cut-over" in text
    assert page.count('class="chart"') == 2
    assert "27 Feb 2026 1,216 differences, 1 undecided" in text


def test_each_day_has_its_report(browser: Browser) -> None:
    text = words(browser.get(PAGE, params={"as_of": "2026-02-20"}))

    assert "Variance up to 20 Feb 2026" in text
    assert "There is a newer run" in text
    assert "defect in new, Finance Data Products" in text
    assert browser.get(PAGE, params={"as_of": "2025-01-01"}).status_code == 404
    assert browser.get("/catalog/legacy/nothing").status_code == 404


def test_report_is_exported_as_markdown_and_csv(browser: Browser) -> None:
    markdown = browser.get(f"{PAGE}/report.md")
    table = browser.get(f"{PAGE}/report.csv", params={"as_of": "2026-02-20"})

    assert markdown.headers["content-type"].startswith("text/markdown")
    assert markdown.headers["content-disposition"] == 'attachment; filename="variance-legacy_revenue-2026-02-27.md"'
    assert f"# {LEGACY} and {FINANCE}@1 up to 2026-02-27" in markdown.text
    assert "Group Accounting: cancelled orders are no revenue; Data Platform on 2026-02-20 |" in markdown.text
    rows = list(csv.DictReader(io.StringIO(table.text)))
    assert [(row["class"], row["count"], row["disposition"], row["decided_on"]) for row in rows] == [
        ("status", "1204", "semantic_disagreement", "2026-02-20"),
        ("missing_in_new", "31", "defect_in_new", "2026-02-20"),
    ]
    assert browser.get(f"{PAGE}/report.pdf").status_code == 422


def test_finding_is_decided_and_consumer_moved_from_the_page(browser: Browser, registry: Registry) -> None:
    finding = registry.parallel_runs.get(LEGACY).findings[0]
    fields = {"feed": LEGACY, "finding": finding.fingerprint, "disposition": "semantic_disagreement"}

    refused = browser.post("/catalog/act/decide-finding", {**fields, "owner": "Finance", "reason": "seen"})
    decided = browser.post(
        "/catalog/act/decide-finding",
        {**fields, "disposition": "defect_in_legacy", "owner": "Finance", "reason": "repeated since 2019"},
    )
    assert (refused.status_code, decided.status_code) == (422, 303)
    assert "name the term of the contract that settles the disagreement" in words(refused)
    assert decided.headers["location"].endswith(f"{PAGE}#finding-{finding.fingerprint}")

    ledger = {"feed": LEGACY, "consumer": "group-ledger"}
    too_early = browser.post("/catalog/act/cut-over", ledger)
    assert (too_early.status_code, "its owner has not approved" in words(too_early)) == (409, True)
    assert browser.post("/catalog/act/approve-cutover", ledger).status_code == 303
    assert browser.post("/catalog/act/cut-over", ledger).status_code == 303
    assert "group-ledger Group Accounting external regulatory critical cut over" in words(browser.get(PAGE))
