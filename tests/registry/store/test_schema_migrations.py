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
from sqlalchemy import MetaData, column, create_engine, insert, select, text
from sqlalchemy import table as lightweight_table

from tests.registry.backends import actor_with_role
from tests.registry.offers import ID, PLAN, PLAN_FIELD, made_from, orders
from treaty.errors import Unavailable
from treaty.observability.measures import Measure
from treaty.registry.model import HeadAnswer
from treaty.registry.rules import Approval, CheckpointRules, RegistryRules, Upgrade
from treaty.registry.service import Registry
from treaty.registry.service.checkpoints import sign_head
from treaty.registry.store.audit_log import NOTHING_BEFORE, chained, details_with_names, read_entries
from treaty.registry.store.database import HEAD, Database
from treaty.registry.store.row_digests import COVERED
from treaty.registry.store.schema_upgrade import try_upgrade, upgrade
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
        registry.acting_as(actor_with_role("vera", "admin")).governance.approve(proposal or 0)
        registry.governance.waive("sla_relaxed", owner="sales", reason="for now", until="2026-12-31")
        registry.notices.add_channel("checkout", kind="log", target="")
        registry.access.create_token("ci", role="viewer")
        registry.consumers.record_lineage("revenue@1", None, layer="publication")
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
        rows: dict[str, list[dict[str, Any]]] = {}
        for table in METADATA.sorted_tables:
            if table.name in there.tables:
                columns = [one for one in table.columns if one.name in there.tables[table.name].columns]
                rows[table.name] = [dict(row._mapping) for row in old.execute(select(*columns))]
        found = old.execute(select(METADATA.tables["audit"]).order_by("seq")).all()
        for row, details in zip(rows["audit"], details_with_names(old, found), strict=True):
            row["details"] = details
        rows["audit"] = list(chain_again(rows["audit"], rows))
        for table in METADATA.sorted_tables:
            for row in rows.get(table.name, ()):
                older = lightweight_table(table.name, *(column(name, table.c[name].type) for name in row))
                new.execute(insert(older).values(row))
    source.dispose()
    target.dispose()


def chain_again(entries: list[dict[str, Any]], rows: dict[str, list[dict[str, Any]]]) -> Iterator[dict[str, Any]]:
    """Yield the entries of a log with the digests of rows that have fewer columns, or of a time without digests."""
    digests = {
        (part.name, part.key_of(row)): part.digest(row) for part in COVERED for row in rows.get(part.table.name, ())
    }
    head = NOTHING_BEFORE
    for row in entries:
        if row.get("row_digests"):
            row["row_digests"] = {
                part: {key: digests.get((part, key), digest) for key, digest in recorded.items()}
                for part, recorded in row["row_digests"].items()
                if part in rows or part == "lifecycle"
            }
        entry = chained(**{**{name: row[name] for name in row if name != "hash"}, "previous": head})
        head = entry.hash
        yield {**row, "previous": entry.previous, "hash": entry.hash}


REVISIONS = {
    **dict.fromkeys([f"{number:04d}" for number in range(1, 5)], (13, 13)),
    **dict.fromkeys([f"{number:04d}" for number in range(5, 17)], (12, 1)),
    **dict.fromkeys([f"{number:04d}" for number in range(17, 31)], (11, 1)),
}
"""Each earlier revision, with the number of entries after its upgrade and the first entry that vouches for rows."""


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
    assert (result.entries, result.covered_since) == REVISIONS[revision]
    assert (after.whole, after.entries) == (True, result.entries + 1)
    assert versions == [("1.0.0", "active"), ("2.0.0", "active"), ("2.0.1", "active")]


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
@pytest.mark.parametrize("revision", ["0004", "0011"])
def test_a_dry_run_shows_the_upgrade_and_changes_nothing(
    request: pytest.FixtureRequest, tmp_path: Path, filled: Path, kind: str, revision: str
) -> None:
    url = f"sqlite:///{tmp_path / 'registry.db'}"
    if kind == "postgresql":
        url = request.getfixturevalue("postgresql_database").replace("postgresql://", "postgresql+psycopg://")
    build_revision(url, revision, filled)
    before = dump(url)

    tried = try_upgrade(url)
    unchanged = dump(url) == before
    done = upgrade(url)

    assert unchanged
    assert (tried.before, tried.after, tried.dry_run, done.dry_run) == (revision, HEAD, True, False)
    assert tried.audit.whole
    assert tried.steps[0].revision == f"{int(revision) + 1:04d}"
    assert any(statement.startswith("ALTER TABLE channels") for step in tried.steps for statement in step.statements)
    assert [(step.revision, sorted(step.statements)) for step in tried.steps] == [
        (step.revision, sorted(step.statements)) for step in done.steps
    ]  # sorted, because the indexes of a table that is copied are created in any order
    assert (tried.steps[-1].summary == "Digests of all rows in the audit log.") == (revision == "0004")
    assert any(step.summary.startswith("Ids instead of names of actors") for step in tried.steps)
    assert (done.audit.whole, upgrade(url).steps, try_upgrade(url).steps) == (True, [], [])


def dump(url: str) -> dict[str, Any]:
    """Return all tables with their columns and rows, the revision among them."""
    engine = create_engine(url)
    with engine.connect() as connection:
        there = MetaData()
        there.reflect(connection)
        found = {
            name: (table.columns.keys(), [tuple(row) for row in connection.execute(select(table))])
            for name, table in there.tables.items()
        }
    engine.dispose()
    return found


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
@pytest.mark.parametrize("revision", ["0004", "0016"])
def test_the_conversion_of_names_keeps_earlier_heads_and_checkpoints(
    request: pytest.FixtureRequest, tmp_path: Path, filled: Path, kind: str, revision: str
) -> None:
    url = f"sqlite:///{tmp_path / 'registry.db'}"
    if kind == "postgresql":
        url = request.getfixturevalue("postgresql_database").replace("postgresql://", "postgresql+psycopg://")
    build_revision(url, revision, filled)
    engine = create_engine(url)
    with engine.connect() as connection:
        query = text("SELECT seq, hash, actor, details FROM audit ORDER BY seq")
        before = connection.execute(query).all()
        connection.rollback()
        upgrade(url)
        after = connection.execute(query).all()
    engine.dispose()
    file = tmp_path / "checkpoints.jsonl"
    old = sign_head("k" * 32, HeadAnswer(seq=3, hash=before[2].hash, at=datetime.now(UTC)))
    file.write_text(old.model_dump_json() + "\n")

    rules = RegistryRules(checkpoints=CheckpointRules("k" * 32, file, None))
    with Registry.open(url, rules=rules) as registry:
        entry = registry.access.audit().items[len(before)]
        erased = registry.access.erase_actor("vera")
        results = [registry.access.verify_audit(head=f"{row.seq}:{row.hash}") for row in before]
        forged = registry.access.verify_audit(head=f"3:{'1' * 64}")
        approved = registry.history("orders").items[-1]

    assert {row.actor for row in before} >= {"vera", "local"}
    assert all(row.actor.startswith("a_") for row in after)
    assert not any("vera" in str(row.details) for row in after)
    assert (entry.actor, entry.action) == ("upgrade", "audit.converted")
    assert entry.details == {"head": f"{before[-1].seq}:{before[-1].hash}"}
    assert [(one.whole, one.checkpoints, one.breaks) for one in results] == [(True, 1, [])] * len(before)
    assert [one.reason for one in forged.breaks] == ["it is not the entry that was there"]
    assert erased.id.startswith("a_")
    assert approved.version == "2.0.0"


def test_a_changed_entry_is_still_found_after_the_conversion_of_names(tmp_path: Path, filled: Path) -> None:
    path = tmp_path / "registry.db"
    build_revision(f"sqlite:///{path}", "0016", filled)
    with sqlite3.connect(path) as connection:
        connection.execute("DROP TRIGGER audit_does_not_change")
        connection.execute("UPDATE audit SET actor = 'somebody' WHERE seq = 3")
    connection.close()

    with Registry.open(str(path)) as registry:
        result = registry.access.verify_audit()

    assert [(one.seq, one.reason) for one in result.breaks] == [(3, "it was changed after it was written")]
    assert result.differences == []


def test_sessions_that_no_entry_records_end_with_the_upgrade(tmp_path: Path, filled: Path) -> None:
    path = tmp_path / "registry.db"
    build_revision(f"sqlite:///{path}", "0018", filled)
    with sqlite3.connect(path) as connection:
        connection.execute(
            "INSERT INTO sessions (digest, name, identity, via, grants, scopes, created_at, expires_at, seen_at)"
            " VALUES ('0123456789abcdef', 'vera', 'oidc:vera', 'oidc', '[\"admin\"]', '[\"read\"]', 0, 9e15, 0)"
        )
    connection.close()

    with Registry.open(str(path)) as registry:
        assert registry.access.sessions().items == []
        assert registry.access.verify_audit().whole


def test_an_entry_after_the_conversion_has_no_earlier_hash(tmp_path: Path, filled: Path) -> None:
    """The owner of the database cannot add an entry with the hash of a checkpoint that they do not have."""
    path = tmp_path / "registry.db"
    build_revision(f"sqlite:///{path}", "0016", filled)
    upgrade(str(path))
    with Registry.open(str(path)) as registry:
        registry.register(orders("2.0.1", [ID, PLAN_FIELD], description={"purpose": "more"}))
        with registry.context.database.read() as reader:
            last = list(read_entries(reader))[-1]
    forged = last._replace(converted_from="1" * 64).with_digests(last.row_digests)
    with sqlite3.connect(path) as connection:
        connection.execute("DROP TRIGGER audit_does_not_change")
        values = "1" * 64, forged.hash, last.seq
        connection.execute("UPDATE audit SET converted_from = ?, hash = ? WHERE seq = ?", values)
    connection.close()

    with Registry.open(str(path)) as registry:
        result = registry.access.verify_audit()

    assert [(one.seq, one.reason) for one in result.breaks] == [
        (last.seq, "it says that it was converted, but no conversion follows it")
    ]


def test_a_dry_run_names_tampering_before_the_upgrade(tmp_path: Path, filled: Path) -> None:
    path = tmp_path / "registry.db"
    build_revision(f"sqlite:///{path}", "0010", filled)
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE waivers SET reason = 'another'")
    connection.close()

    tried = try_upgrade(str(path))

    assert not tried.audit.whole
    assert [one.part for one in tried.audit.differences] == ["waivers"]


@pytest.mark.parametrize(("revision", "said"), [("0010", "is at revision 0010"), (None, "has no tables")])
def test_a_manual_upgrade_is_asked_for(tmp_path: Path, filled: Path, revision: str | None, said: str) -> None:
    path = str(tmp_path / "registry.db")
    if revision is not None:
        build_revision(f"sqlite:///{path}", revision, filled)
    rules = RegistryRules(upgrade=Upgrade.MANUAL)

    with pytest.raises(Unavailable, match=rf"{said}, .* needs revision {HEAD}; run: treaty admin upgrade"):
        Registry.open(path, rules=rules)
    upgrade(path)
    Registry.open(path, rules=rules).close()


def test_a_database_of_a_later_version_is_not_upgraded(tmp_path: Path) -> None:
    path = tmp_path / "registry.db"
    Database.open(str(path)).close()
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.close()

    for run in (upgrade, try_upgrade):
        with pytest.raises(Unavailable, match="made by a later version of Treaty"):
            run(str(path))


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
