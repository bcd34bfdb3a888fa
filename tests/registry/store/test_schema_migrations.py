"""The migrations make the tables that the code reads and writes, once, whoever opens the database first."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import MetaData, create_engine, insert, select

from tests.registry.backends import somebody
from tests.registry.offers import ID, PLAN, PLAN_FIELD, made_from, orders
from treaty.errors import Unavailable
from treaty.observability.measures import Measure
from treaty.registry.rules import Approval, RegistryRules
from treaty.registry.service import Registry
from treaty.registry.store.audit_log import NOTHING_BEFORE, chained
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


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a registry with rows in the tables of every revision."""
    path = tmp_path_factory.mktemp("filled") / "registry.db"
    with Registry.open(str(path), rules=RegistryRules(approval=Approval.REQUIRED)) as registry:
        registry.register(orders())
        registry.register(made_from("revenue", "orders:ltv"))
        registry.consumers.subscribe("board", "orders@1", consumer_class="operational_reporting", fields=["ltv"])
        proposal = registry.register(orders("2.0.0", [ID, PLAN_FIELD], migration=PLAN)).proposal
        registry.acting_as(somebody("vera", "admin")).governance.approve(proposal or 0)
        registry.governance.waive("sla_relaxed", owner="sales", reason="for now", until="2026-12-31")
        registry.notices.add_channel("checkout", kind="log", target="")
        registry.access.create_token("ci", role="viewer")
        registry.measures.record([Measure("orders", "rows", datetime.now(UTC), 12)])
    return path


def build_revision(url: str, revision: str, filled: Path) -> None:
    """Create a database of an older revision, with the rows of a newer one as far as its tables have room for them."""
    config = Config()
    config.set_main_option("script_location", "treaty.registry.store:migrations")
    source, target = create_engine(f"sqlite:///{filled}"), create_engine(url)
    with source.connect() as old, target.begin() as new:
        config.attributes["connection"] = new
        command.upgrade(config, revision)
        there = MetaData()
        there.reflect(new)
        for table in METADATA.sorted_tables:
            if table.name in there.tables:
                columns = [column for column in table.columns if column.name in there.tables[table.name].columns]
                rows = [dict(row._mapping) for row in old.execute(select(*columns))]
                for row in chain_again(rows) if table.name == "audit" else rows:
                    new.execute(insert(table).values(row))
    source.dispose()
    target.dispose()


def chain_again(rows: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the entries of a log as they were before entries had digests of rows."""
    head = NOTHING_BEFORE
    for row in rows:
        row.pop("row_digests", None)
        entry = chained(**{**{name: row[name] for name in row if name != "hash"}, "previous": head})
        head = entry.hash
        yield {**row, "previous": entry.previous, "hash": entry.hash}


REVISIONS = ["0001", "0002", "0003", "0004"]


def test_every_earlier_revision_is_tested() -> None:
    config = Config()
    config.set_main_option("script_location", "treaty.registry.store:migrations")
    scripts = ScriptDirectory.from_config(config).walk_revisions()

    assert sorted(script.revision for script in scripts) == [*REVISIONS, HEAD]


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
@pytest.mark.parametrize("revision", REVISIONS)
def test_a_filled_database_of_an_earlier_revision_is_upgraded(
    request: pytest.FixtureRequest, tmp_path: Path, filled: Path, kind: str, revision: str
) -> None:
    url = f"sqlite:///{tmp_path / 'registry.db'}"
    if kind == "postgresql":
        url = request.getfixturevalue("postgresql_database").replace("postgresql://", "postgresql+psycopg://")
    build_revision(url, revision, filled)

    with Registry.open(url) as registry:
        result = registry.access.verify_audit()
        registry.register(orders("2.0.1", [ID, PLAN_FIELD], description={"purpose": "more"}))
        after = registry.access.verify_audit()
        versions = [(one.version, one.status) for one in registry.history("orders").items]

    assert (result.whole, result.breaks, result.differences) == (True, [], [])
    assert (result.entries, result.covered_since) == (11, 11)
    assert (after.whole, after.entries) == (True, 12)
    assert versions == [("1.0.0", "active"), ("2.0.0", "active"), ("2.0.1", "active")]


@pytest.mark.parametrize(
    ("statement", "subject", "reason"),
    [
        (
            "UPDATE versions SET parsed = '{}' WHERE seq = 1",
            "version orders 1.0.0",
            "was changed before the upgrade; entry 1 recorded another document",
        ),
        (
            "DELETE FROM versions WHERE seq = 2",
            "version revenue 1.0.0",
            "was deleted before the upgrade; entry 2 recorded it",
        ),
        (
            "INSERT INTO tokens SELECT 'intruder', 'x', digest, 'admin', team, scopes, created_at, created_by, "
            "expires_at, revoked_at FROM tokens",
            "token intruder",
            "was added before the upgrade; no entry records it",
        ),
    ],
)
def test_tampering_from_before_the_upgrade_is_named(
    tmp_path: Path, filled: Path, statement: str, subject: str, reason: str
) -> None:
    path = tmp_path / "registry.db"
    build_revision(f"sqlite:///{path}", "0004", filled)
    with sqlite3.connect(path) as connection:
        connection.executescript("DROP TRIGGER versions_do_not_change; DROP TRIGGER versions_are_kept;")
        connection.execute(statement)
    connection.close()

    with Registry.open(str(path)) as registry:
        result = registry.access.verify_audit()

    assert [(one.subject, one.reason) for one in result.differences] == [(subject, reason)]


def test_many_may_open_a_new_database_at_once(tmp_path: Path) -> None:
    path = str(tmp_path / "registry.db")
    with ThreadPoolExecutor(8) as pool:
        databases = list(pool.map(lambda _: Database.open(path), range(8)))
    for one in databases:
        one.probe_write().result()
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
