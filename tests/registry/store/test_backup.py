"""Backups are consistent while the registry is written to, and a restored registry is verified by its audit log."""

from __future__ import annotations

import shutil
import threading
from pathlib import Path

import pytest
from sqlalchemy import text

from tests.postgresql import create_database, program_folder
from tests.registry.backends import Backend
from tests.registry.offers import orders
from treaty.errors import Conflict, InvalidDocument, NotFound, Unavailable
from treaty.registry.access.actors import local_actor
from treaty.registry.service import Registry
from treaty.registry.store.backup import back_up, restore
from treaty.registry.store.database import HEAD
from treaty.server.authenticator import Authenticator
from treaty.server.settings import AccessSettings

on_databases = pytest.mark.parametrize("open_backend", ["sqlite", "postgresql"], indirect=True)


@pytest.fixture(autouse=True)
def client_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Find the pg_dump and pg_restore of the version that tests run."""
    monkeypatch.setenv("PATH", str(program_folder()), prepend=":")


@pytest.fixture
def empty(request: pytest.FixtureRequest, backend: Backend, tmp_path: Path) -> str:
    """Return the reference of a database of the same kind that has no tables."""
    if backend.kind == "sqlite":
        return str(tmp_path / "restored.db")
    return create_database(request.getfixturevalue("postgresql"))


@on_databases
def test_a_backup_while_writing_is_restored_and_intact(backend: Backend, empty: str, tmp_path: Path) -> None:
    registry, file = backend.local, tmp_path / "registry.backup"
    registry.register(orders())
    stop = threading.Event()
    acknowledged: list[str] = []

    def write() -> None:
        while not stop.is_set():
            acknowledged.append(registry.register(orders(id=f"orders_{len(acknowledged)}")).dataset_id)

    thread = threading.Thread(target=write)
    thread.start()
    try:
        while len(acknowledged) < 3:
            stop.wait(0.01)
        before = len(acknowledged)
        head = back_up(backend.database, file)
    finally:
        stop.set()
        thread.join()
    restore(empty, file, overwrite=False)

    with Registry.open(empty) as restored:
        result = restored.access.verify_audit(head=f"{head.seq}:{head.hash}")
        there = set(restored.datasets(limit=1_000).items)
    assert (result.whole, result.entries, result.rows["versions"]) == (True, head.seq, head.seq)
    assert {"orders", *acknowledged[:before]} <= there  # what was acknowledged before the backup is in it
    assert file.stat().st_mode & 0o077 == 0
    assert not list(tmp_path.glob("*.partial"))


@on_databases
def test_a_registry_that_is_not_empty_is_replaced_only_if_asked(backend: Backend, empty: str, tmp_path: Path) -> None:
    file = tmp_path / "registry.backup"
    backend.local.register(orders())
    back_up(backend.database, file)
    with Registry.open(empty) as other:
        other.register(orders(id="other"))

    with pytest.raises(Conflict, match="is not empty; restore into another registry, or replace it with --force"):
        restore(empty, file, overwrite=False)
    restore(empty, file, overwrite=True)

    with Registry.open(empty) as restored:
        assert restored.datasets().items == ["orders"]
        assert restored.access.verify_audit().whole


@on_databases
def test_a_registry_with_tables_but_no_rows_is_empty(backend: Backend, empty: str, tmp_path: Path) -> None:
    file = tmp_path / "registry.backup"
    backend.local.register(orders())
    back_up(backend.database, file)
    Registry.open(empty).close()

    restore(empty, file, overwrite=False)

    with Registry.open(empty) as restored:
        assert restored.datasets().items == ["orders"]


@on_databases
def test_sessions_of_a_backup_do_not_come_back(backend: Backend, empty: str, tmp_path: Path) -> None:
    file = tmp_path / "registry.backup"
    identity = Authenticator(backend.database, AccessSettings()).sessions.begin(local_actor("ana")).id
    back_up(backend.database, file)

    restore(empty, file, overwrite=False)

    with Registry.open(empty, clock=backend.clock) as restored:
        assert Authenticator(restored.context.database, AccessSettings()).sessions.actor(identity) is None
        assert restored.access.sessions().items == []
    assert Authenticator(backend.database, AccessSettings()).sessions.actor(identity) is not None


def set_revision(backend: Backend, revision: str) -> None:
    statement = text("UPDATE alembic_version SET version_num = :revision")
    backend.database.change(lambda connection: connection.execute(statement, {"revision": revision}))


@on_databases
def test_a_backup_of_a_later_version_replaces_nothing(backend: Backend, empty: str, tmp_path: Path) -> None:
    file = tmp_path / "registry.backup"
    set_revision(backend, "9999")
    try:
        back_up(backend.database, file)
    finally:
        set_revision(backend, HEAD)
    with Registry.open(empty) as other:
        other.register(orders())

    with pytest.raises(Unavailable, match="was made by a later version of Treaty; install that version"):
        restore(empty, file, overwrite=True)

    with Registry.open(empty) as other:
        assert other.datasets().items == ["orders"]


@on_databases
def test_a_file_that_is_not_a_backup_is_refused(backend: Backend, empty: str, tmp_path: Path) -> None:
    notes = tmp_path / "notes.txt"
    notes.write_text("notes")
    other = tmp_path / "other"
    other.write_bytes(b"PGDMP" if backend.kind == "sqlite" else b"SQLite format 3\x00")

    with pytest.raises(InvalidDocument, match="is not a backup of a registry"):
        restore(empty, notes, overwrite=True)
    with pytest.raises(InvalidDocument, match="is a backup of"):
        restore(empty, other, overwrite=True)
    with pytest.raises(NotFound, match="there is no backup"):
        restore(empty, tmp_path / "nothing", overwrite=True)


@on_databases
def test_a_backup_that_cannot_be_written_leaves_no_file(backend: Backend, tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="cannot write"):
        back_up(backend.database, tmp_path / "nowhere" / "registry.backup")

    assert not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize("open_backend", ["postgresql"], indirect=True)
def test_a_missing_pg_dump_is_a_clear_error(backend: Backend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)

    with pytest.raises(Unavailable, match="pg_dump is not installed; install the client programs of PostgreSQL"):
        back_up(backend.database, tmp_path / "registry.backup")

    assert list(tmp_path.glob("registry.backup*")) == []
