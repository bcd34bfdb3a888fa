"""The shop of the tests: one that tests only read, and one of their own for those that change something."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.serving.shop import ROWS, Lake, Shop, open_shop
from treaty.registry.service import Registry


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    """Return the shop that no test changes."""
    folder = tmp_path_factory.mktemp("shop")
    lake = Lake.create(folder / "lake")
    lake.publish(ROWS, run=1)
    with Registry.open(str(folder / "registry.db")) as registry, open_shop(registry, lake.service()) as shop:
        yield shop


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    """Return a table that the test may change."""
    lake = Lake.create(tmp_path / "lake")
    lake.publish(ROWS, run=1)
    return lake


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[Registry]:
    """Return an empty registry."""
    with Registry.open(str(tmp_path / "registry.db")) as registry:
        yield registry


@pytest.fixture
def own_shop(registry: Registry, lake: Lake) -> Iterator[Shop]:
    """Return a shop that the test may change."""
    with open_shop(registry, lake.service()) as shop:
        yield shop
