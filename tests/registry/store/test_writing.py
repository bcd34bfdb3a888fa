"""One writer: units of work share a transaction, and each is whole or not there at all."""

from __future__ import annotations

import threading
import weakref
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


def test_a_unit_that_fails_after_it_wrote_leaves_nothing_and_spoils_no_other(database: Database) -> None:
    def fails(transaction: Transaction) -> None:
        transaction.record("somebody", "did", "half of it")
        raise Conflict("not so")

    units: list[Callable[[Transaction], int | None]] = [note("one"), fails, note("two")]
    handed_in = [database.submit(unit) for unit in units]

    with pytest.raises(Conflict):
        handed_in[1].result()
    assert [handed_in[0].result(), handed_in[2].result()] == [1, 2]
    assert entries(database) == ["one", "two"]


def test_a_unit_that_cannot_make_itself_ready_never_begins(database: Database) -> None:
    class Unready:
        def prepare(self) -> None:
            raise InvalidDocument("cannot be read")

        def __call__(self, transaction: Transaction) -> int:
            return transaction.record("somebody", "did", "it")

    with pytest.raises(InvalidDocument):
        database.write(Unready())
    assert entries(database) == []


def test_what_comes_while_another_process_has_its_turn_is_made_ready_meanwhile(
    database: Database, tmp_path: Path
) -> None:
    has_turn, may_end = threading.Event(), threading.Event()

    class Noted:
        def __init__(self, subject: str, is_sound: bool = True) -> None:
            self.is_ready = threading.Event()
            self._subject, self._is_sound = subject, is_sound

        def prepare(self) -> None:
            self.is_ready.set()
            if not self._is_sound:
                raise InvalidDocument("cannot be read")

        def __call__(self, transaction: Transaction) -> int:
            return transaction.record("somebody", "did", self._subject)

    def holds_its_turn(transaction: Transaction) -> int:
        has_turn.set()
        assert may_end.wait(10)
        return transaction.record("somebody", "did", "first")

    other = Database.open(str(tmp_path / "registry.db"))
    try:
        first = other.submit(holds_its_turn)
        assert has_turn.wait(10)
        units = [Noted("second"), Noted("unsound", is_sound=False), Noted("third")]
        handed_in = []
        for unit in units:  # one after the other, so that all but one come while the writer waits
            handed_in.append(database.submit(unit))
            assert unit.is_ready.wait(5)
        may_end.set()
        assert [first.result(10), handed_in[0].result(10), handed_in[2].result(10)] == [1, 2, 3]
        with pytest.raises(InvalidDocument):
            handed_in[1].result(10)
    finally:
        may_end.set()
        other.close()
    assert entries(database) == ["first", "second", "third"]


def test_rows_that_wait_are_seen_by_whoever_asks_in_the_same_transaction(database: Database) -> None:
    def unit(transaction: Transaction) -> int:
        transaction.record("somebody", "did", "it")
        return int(transaction.connection.execute(text("SELECT count(*) FROM versions")).scalar_one())

    assert database.write(unit) == 0


def test_a_unit_that_fails_leaves_no_row_that_it_wrote_by_whatever_way(database: Database) -> None:
    def fails(transaction: Transaction) -> None:
        transaction.write(text("INSERT INTO audit SELECT 9, 0, 'a', 'b', 'c', NULL, NULL, '{}', '0', '0'"))
        raise Conflict("not so")

    with pytest.raises(Conflict):
        database.write(fails)
    assert database.write(note("afterwards")) == 1
    assert entries(database) == ["afterwards"]


def test_a_number_that_no_database_keeps_is_a_mistake_of_the_caller(database: Database) -> None:
    with pytest.raises(InvalidDocument, match="no database keeps"):
        database.write(lambda transaction: transaction.is_new(2**70))  # type: ignore[arg-type]
    assert database.write(note("afterwards")) == 1


def test_trouble_with_the_database_is_said_in_words(database: Database) -> None:
    with pytest.raises(Unavailable, match="no such table: nowhere"):
        database.write(lambda transaction: transaction.write(text("SELECT * FROM nowhere")))
    with pytest.raises(Unavailable, match="no such table: nowhere"):
        database.ask(lambda connection: connection.execute(text("SELECT * FROM nowhere"))).result()
    assert database.write(note("afterwards")) == 1


@pytest.mark.parametrize("place", [":memory:", "sqlite://", "sqlite:///:memory:", "mysql://localhost/registry"])
def test_a_registry_needs_a_place_that_lasts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    monkeypatch.chdir(tmp_path)

    with pytest.raises(InvalidDocument, match=r"a registry that lasts|no registry can be kept"):
        Database.open(place)
    assert list(tmp_path.iterdir()) == []


def test_a_database_that_is_closed_takes_nothing_more(database: Database) -> None:
    database.close()

    with pytest.raises(Unavailable, match="the registry is closed"):
        database.write(note("too late"))


def test_a_question_that_fails_does_not_take_the_others_with_it(database: Database) -> None:
    def fails(_: object) -> None:
        raise ValueError("a mistake")

    asked = [database.ask(fails), database.ask(lambda connection: connection.execute(text("SELECT 7")).scalar_one())]

    with pytest.raises(ValueError, match="a mistake"):
        asked[0].result()
    assert asked[1].result() == 7


def test_what_a_unit_worked_on_is_cleared_away_by_who_waited_for_it(database: Database) -> None:
    class Large:
        def __call__(self, transaction: Transaction) -> int:
            return transaction.record("somebody", "did", "it")

    unit = Large()
    seen = weakref.ref(unit)
    handed_in = database.submit(unit)
    assert handed_in.result() == 1
    database.write(note("the thread has gone on to something else"))
    del unit

    assert seen() is not None
    del handed_in
    assert seen() is None
