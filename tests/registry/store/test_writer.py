"""One writer: units of work share a transaction, and each is whole or not there at all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import text

from treaty.errors import Conflict, InvalidDocument, Unavailable
from treaty.registry.store.database import Database
from treaty.registry.store.transaction import Transaction


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    one = Database.open(str(tmp_path / "registry.db"))
    yield one
    one.close()


def entries(database: Database) -> list[str]:
    with database.read() as connection:
        return list(connection.execute(text("SELECT subject FROM audit ORDER BY seq")).scalars())


def note(subject: str) -> Callable[[Transaction], int]:
    return lambda transaction: transaction.record("somebody", "did", subject)


def test_a_unit_that_fails_after_a_write_is_rolled_back_alone(database: Database) -> None:
    def fails(transaction: Transaction) -> None:
        transaction.record("somebody", "did", "half of it")
        raise Conflict("not so")

    units: list[Callable[[Transaction], int | None]] = [note("one"), fails, note("two")]
    handed_in = [database.submit(unit) for unit in units]

    with pytest.raises(Conflict):
        handed_in[1].result()
    assert [handed_in[0].result(), handed_in[2].result()] == [1, 2]
    assert entries(database) == ["one", "two"]


def test_a_unit_that_fails_leaves_no_rows(database: Database) -> None:
    def fails(transaction: Transaction) -> None:
        transaction.write(text("INSERT INTO audit SELECT 9, 0, 'a', 'b', 'c', NULL, NULL, '{}', '0', '0', NULL, NULL"))
        raise Conflict("not so")

    with pytest.raises(Conflict):
        database.write(fails)
    assert database.write(note("afterwards")) == 1
    assert entries(database) == ["afterwards"]


def test_a_number_too_large_for_the_database_is_invalid_input(database: Database) -> None:
    with pytest.raises(InvalidDocument, match="the database cannot store"):
        database.write(lambda transaction: transaction.read(text("SELECT :number"), {"number": 2**70}))
    assert database.write(note("afterwards")) == 1


def test_database_errors_become_clear_messages(database: Database) -> None:
    with pytest.raises(Unavailable, match="no such table: nowhere"):
        database.write(lambda transaction: transaction.write(text("SELECT * FROM nowhere")))
    with pytest.raises(Unavailable, match="no such table: nowhere"), database.read() as connection:
        connection.execute(text("SELECT * FROM nowhere"))
    assert database.write(note("afterwards")) == 1


@pytest.mark.parametrize("place", [":memory:", "sqlite://", "sqlite:///:memory:", "mysql://localhost/registry"])
def test_a_registry_in_memory_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    monkeypatch.chdir(tmp_path)

    with pytest.raises(InvalidDocument, match=r"the registry needs a database file|is not a supported database"):
        Database.open(place)
    assert list(tmp_path.iterdir()) == []


def test_a_closed_database_refuses_writes(database: Database) -> None:
    database.close()

    with pytest.raises(Unavailable, match="the registry is closed"):
        database.write(note("too late"))
