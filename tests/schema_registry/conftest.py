"""A running server for the clients of this folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.server.running import running
from treaty.registry.service import Registry
from treaty.server.app import create_app


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """The address of a schema registry with nothing in it."""
    with Registry.open(str(tmp_path / "registry.db")) as registry, running(create_app(registry)) as server:
        yield f"{server}/schema-registry"
