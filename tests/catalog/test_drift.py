"""Drift of meaning in the catalog: the list of findings, and one with its evidence and its answer."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.catalog.page_client import Browser, words
from tests.catalog.retail_registry import FINANCE, PLACED, open_retailer
from tests.server.running import running
from treaty.catalog.svg.share_bars import render_share
from treaty.registry.model import DriftFindingAnswer
from treaty.registry.service import Registry
from treaty.server.app import create_app


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Registry]:
    with open_retailer(tmp_path_factory.mktemp("drift") / "registry.db") as one:
        yield one


@pytest.fixture(scope="module")
def browser(registry: Registry) -> Iterator[Browser]:
    with running(create_app(registry)) as address, Browser(address) as one:
        yield one


@pytest.fixture(scope="module")
def findings(registry: Registry) -> dict[str, DriftFindingAnswer]:
    return {one.state: one for one in registry.drift.findings().items}


def test_findings_are_listed_with_their_state(browser: Browser) -> None:
    text = words(browser.get("/catalog/drift"))

    assert "order_total.gross_amount looks multiplied by about 100" in text
    assert "Explained until 1 Apr 2026" in text
    assert "No drift was found" in words(browser.get("/catalog/drift", params={"contract": FINANCE}))


def test_a_finding_shows_the_shares_before_and_now(browser: Browser, findings: dict[str, DriftFindingAnswer]) -> None:
    found = findings["open"]
    page = browser.get(f"/catalog/drift/{found.line}/{found.fingerprint}")
    text = words(page)

    assert "17,800 to 31,600 0.0 % 45.0 %" in text
    assert "178 to 316 45.0 % 0.0 %" in text
    assert "10,000 Compared with" in text
    assert f"treaty drift answer {found.line} {found.fingerprint} --owner TEAM --explained-until DATE" in text
    assert f'/catalog/contracts/{PLACED}#field-order_total.gross_amount"' in page.text


def test_an_answered_finding_shows_the_answer_and_asks_for_none(
    browser: Browser, findings: dict[str, DriftFindingAnswer]
) -> None:
    found = findings["explained"]
    text = words(browser.get(f"/catalog/drift/{found.line}/{found.fingerprint}"))

    assert "orders of the web shop name the store that ships them" in text
    assert "Owner Order Capture , until 1 Apr 2026" in text
    assert "treaty drift answer" not in text


def test_the_contract_names_drift_that_nobody_answered(browser: Browser) -> None:
    text = words(browser.get(f"/catalog/contracts/{PLACED}"))

    assert "The meaning may have changed: order_total.gross_amount looks multiplied by about 100" in text
    assert "store_number has no value" not in text


def test_unknown_findings_are_not_found(browser: Browser, findings: dict[str, DriftFindingAnswer]) -> None:
    assert browser.get(f"/catalog/drift/{PLACED}@1/0000").status_code == 404
    assert browser.get(f"/catalog/drift/nothing@1/{findings['open'].fingerprint}").status_code == 404
    assert browser.get("/catalog/drift/nothing/0000").status_code == 422


def test_bars_have_the_width_of_their_share_of_the_largest() -> None:
    assert 'width="50.00%"' in render_share(0.2, "now", 0.4)
    assert 'width="0.00%"' in render_share(0.0, "now", 0.0)
