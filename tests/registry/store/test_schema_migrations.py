"""The migrations make the tables that the code reads and writes, once, whoever opens the database first."""

from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine

from treaty.errors import Unavailable
from treaty.registry.store.database import HEAD, Database
from treaty.registry.store.tables import METADATA


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "postgresql":
        return str(request.getfixturevalue("postgresql_url"))
    path = tmp_path / "registry.db"
    Database.open(str(path)).close()
    return f"sqlite:///{path}"


def test_the_migrations_make_exactly_the_tables_of_the_code(url: str) -> None:
    engine = create_engine(url)
    with engine.connect() as connection:
        found = compare_metadata(MigrationContext.configure(connection), METADATA)
    engine.dispose()

    assert found == []


def test_the_newest_migration_is_the_head_in_the_code() -> None:
    config = Config()
    config.set_main_option("script_location", "treaty.registry.store:migrations")

    assert ScriptDirectory.from_config(config).get_current_head() == HEAD


def test_many_may_open_a_new_database_at_once(tmp_path: Path) -> None:
    path = str(tmp_path / "registry.db")
    with ThreadPoolExecutor(8) as pool:
        databases = list(pool.map(lambda _: Database.open(path), range(8)))
    for one in databases:
        one.ping()
        one.close()


def test_a_database_of_a_later_version_is_refused(tmp_path: Path) -> None:
    path = str(tmp_path / "registry.db")
    Database.open(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.close()

    with pytest.raises(Unavailable, match="made by a later version of Treaty"):
        Database.open(path)


def test_a_file_that_is_not_a_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("not a database at all, but long enough to be read as one " * 20)

    with pytest.raises(Unavailable, match="file is not a database"):
        Database.open(str(path))
