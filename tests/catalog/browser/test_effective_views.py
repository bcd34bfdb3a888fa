"""The effective views of consumers are accessible in both themes and widths, and opened with the keyboard."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.catalog.browser.conftest import Visit
from tests.catalog.browser.test_every_page import check_page
from tests.catalog.policy_registry import policy_registry


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with policy_registry(tmp_path_factory.mktemp("policies")) as (_, address):
        yield f"{address}/catalog/contracts/orders/consumers"


def test_views_are_accessible_when_they_are_open(address: str, visit: Visit, screenshots: Path | None) -> None:
    page = visit(address)
    for summary in page.locator("details.effective > summary").all():
        summary.focus()
        page.keyboard.press("Enter")

    assert page.locator("details.effective[open]").count() == 3
    check_page(page, "effective views", screenshots)
