"""The databases, clock and receivers that tests of notices share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Connection, create_engine, delete

from tests.postgresql import create_database
from tests.registry.notices.receivers import WebReceiver, web_receiver
from tests.registry.notices.stores import TABLES, Clock, Store, sqlite_store
from treaty.registry.store.tables import METADATA


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def receiver() -> Iterator[WebReceiver]:
    with web_receiver() as receiver:
        yield receiver


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = sqlite_store(tmp_path / "registry.db")
    yield store
    store.engine.dispose()


@pytest.fixture(scope="session")
def notices_database(postgresql: str) -> str:
    """Return the URL of a database for the tables of notices."""
    return create_database(postgresql).replace("postgresql://", "postgresql+psycopg://")


@pytest.fixture(params=["sqlite", "postgresql"])
def any_store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """Run the test on each database."""
    if request.param == "sqlite":
        store = sqlite_store(tmp_path / "registry.db")
    else:
        store = Store(create_engine(request.getfixturevalue("notices_database")))
        METADATA.create_all(store.engine, TABLES)
        store.change(_empty)
    yield store
    store.engine.dispose()


def _empty(connection: Connection) -> None:
    for table in reversed(TABLES):
        connection.execute(delete(table))
