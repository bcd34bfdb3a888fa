"""A connection that writes: its transactions are begun and ended at the driver, where that costs least."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime

from sqlalchemy import Connection, Engine

from treaty.registry.store.quick import Driver
from treaty.registry.store.transaction import Transaction
from treaty.registry.store.trouble import TROUBLE

_OF_A_FILE = (
    "PRAGMA cache_size=-32000",  # kilobytes: the pages that writes touch stay at hand
    "PRAGMA wal_autocheckpoint=4000",  # pages: those that change often are moved into the file once, not many times
)
_BEGIN = {
    "sqlite": "BEGIN IMMEDIATE",
    "postgresql": "SELECT pg_advisory_xact_lock(7237842391)",  # one writer at a time, as SQLite has it by nature
}
BEGUN = "begun"
"""Says of a connection that its transactions are begun by hand."""


class Seat:
    """Has one transaction at a time, which is durable in the end or was never there."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._seated: tuple[Connection, Driver] | None = None

    def begin(self, now: datetime, about: Sequence[str]) -> Transaction:
        """Begin a transaction about some contracts; one that is begun is ended or undone."""
        connection, driver = self._seated or self._sit_down()
        driver.run(_BEGIN[driver.dialect.name])
        return Transaction(connection, driver, now, about)

    def end(self) -> None:
        """Make everything durable."""
        if self._seated is not None:
            connection, driver = self._seated
            driver.commit()
            if connection.in_transaction():  # as the layers above see it, where a unit used them
                connection.commit()
        self._rest()

    def undo(self, error: BaseException) -> None:
        """Take everything back; trouble with the database is a reason to connect anew."""
        if self._seated is not None:
            connection, _ = self._seated
            with suppress(*TROUBLE):
                connection.rollback()
                connection.connection.rollback()
        if isinstance(error, TROUBLE):
            self.close()
        self._rest()

    def close(self) -> None:
        """Let go of the database."""
        seated, self._seated = self._seated, None
        if seated is not None:
            seated[0].close()

    def _sit_down(self) -> tuple[Connection, Driver]:
        connection = self._engine.connect().execution_options(**{BEGUN: True})
        self._seated = connection, Driver(connection)
        if self._on_a_file:
            for pragma in _OF_A_FILE:
                self._seated[1].run(pragma)
        return self._seated

    @property
    def _on_a_file(self) -> bool:
        return self._engine.dialect.name == "sqlite"

    def _rest(self) -> None:
        """Keep a file open, since nothing can break that; else give back to the pool, which sees to what is broken."""
        if not self._on_a_file:
            self.close()
