"""The page of publishers in both themes and widths, checked by axe."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.catalog.browser.conftest import Visit
from tests.catalog.browser.test_every_page import check_page
from tests.catalog.gym_registry import CANCELLED, UPDATED, fill_gym
from tests.server.running import running
from treaty.catalog import links
from treaty.catalog.links import LiveUrls
from treaty.registry.service import Registry
from treaty.server.app import create_app


@pytest.fixture(scope="module")
def gym(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server with the contracts of the gym."""
    file = str(tmp_path_factory.mktemp("gym") / "registry.db")
    with Registry.open(file) as registry, running(create_app(fill_gym(registry))) as address:
        yield address


@pytest.mark.parametrize("contract", [UPDATED, CANCELLED])
def test_publishers_are_accessible(contract: str, gym: str, visit: Visit, screenshots: Path | None) -> None:
    page = visit(gym + LiveUrls().url(links.publishers(contract)))

    check_page(page, f"publishers of {contract}", screenshots)
    assert page.locator("svg.state-diagram").count() == 1
