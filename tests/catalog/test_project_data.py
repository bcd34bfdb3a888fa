"""Exceptions and quarantine in the catalog: who sees them, filters, acceptance, and how to turn them on."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.catalog.page_client import Browser, words
from tests.catalog.retail_registry import open_retailer
from tests.catalog.sample_project_data import SampleProjectData
from tests.server.running import running
from treaty.registry.service import Registry
from treaty.server.app import create_app

ACCEPT = "/catalog/act/accept-exception"
FIRST = {"reconciliation": "commercial_order", "key": "ORD-1", "assertion": "paid_amount_matches"}


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Registry]:
    with open_retailer(tmp_path_factory.mktemp("data") / "registry.db") as one:
        yield one


@pytest.fixture
def data() -> SampleProjectData:
    return SampleProjectData()


@pytest.fixture
def browser(registry: Registry, data: SampleProjectData) -> Iterator[Browser]:
    app = create_app(registry)
    app.state.project_data = data
    with running(app) as address, Browser(address) as one:
        yield one


def test_exceptions_show_claims_owner_and_age_and_are_filtered(browser: Browser) -> None:
    opened = words(browser.get("/catalog/exceptions"))
    accepted = words(browser.get("/catalog/exceptions?state=accepted&name=commercial_order"))

    for text in ("ORD-1", "settled_amount 54.90", "no row for this key", "variance 5.00", "10.3 d"):
        assert text in opened
    assert "ORD-2" not in opened
    assert "by ana : paid by voucher" in accepted
    assert "No exceptions match" in words(browser.get("/catalog/exceptions?owner=nobody"))
    assert "No exceptions match" in words(browser.get("/catalog/exceptions?age=30"))
    assert browser.get("/catalog/exceptions?name=unknown").status_code == 404


def test_an_exception_is_accepted_with_a_reason(browser: Browser, data: SampleProjectData) -> None:
    assert "the settled amount differs" in words(
        browser.get(f"{ACCEPT}?{'&'.join(f'{k}={v}' for k, v in FIRST.items())}")
    )

    refused = browser.post(ACCEPT, {**FIRST, "reason": ""})
    accepted = browser.post(ACCEPT, {**FIRST, "reason": "settled by phone"}, follow_redirects=True)

    assert "The reason is required" in words(refused)
    assert "paid_amount_matches of ORD-1 is accepted" in words(accepted)
    assert (data.rows[0].state, data.rows[0].accepted_reason) == ("accepted", "settled by phone")


def test_quarantine_marks_the_offending_cell_and_names_the_raw_line(browser: Browser) -> None:
    page = browser.get("/catalog/quarantine")

    assert "<mark><bdi>fax</bdi></mark>" in page.text
    assert "line 28 of landing/retail.orders.order_placed/part-0001.jsonl" in words(page)
    assert "sales_channel is 'fax', but must be one of: ecommerce, store, marketplace" in words(page)
    assert "{not json" in words(browser.get("/catalog/quarantine?rule=malformed"))
    assert "fax</bdi></mark>" not in browser.get("/catalog/quarantine?rule=malformed").text


def test_without_a_project_the_pages_say_how_to_turn_them_on(registry: Registry) -> None:
    with running(create_app(registry)) as address, Browser(address) as browser:
        pages = [words(browser.get(path)) for path in ("/catalog/exceptions", "/catalog/quarantine")]
        accept = browser.get(ACCEPT)

    assert [page for page in pages if "treaty serve --data PROJECT" not in page] == []
    assert accept.status_code == 404


def test_rows_of_a_contract_that_a_reader_may_not_see_are_hidden(tmp_path: Path) -> None:
    with Registry.open(str(tmp_path / "registry.db")) as registry:
        app = create_app(registry)
        app.state.project_data = SampleProjectData()
        with running(app) as address, Browser(address) as browser:
            exceptions, quarantine = browser.get("/catalog/exceptions"), browser.get("/catalog/quarantine")
            named = browser.get("/catalog/quarantine?name=order_placed")

    assert "ORD-" not in exceptions.text + quarantine.text
    assert "No reconciliation that you may see has run" in words(exceptions)
    assert named.status_code == 404


def test_a_server_without_a_project_imports_no_table_reader() -> None:
    code = (
        "import sys, treaty.server.server, treaty.cli.commands.serve;"
        "print([name for name in ('pyiceberg', 'pyarrow', 'pyspark') if name in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert result.stdout.strip() == "[]"
