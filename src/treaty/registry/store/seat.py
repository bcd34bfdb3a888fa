"""A connection that writes: its transactions are begun and ended at the driver, where that costs least."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Engine

from treaty.registry.store.held import Held
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
        self._held = Held(engine, _OF_A_FILE, {BEGUN: True})

    def begin(self, now: datetime, about: Sequence[str]) -> Transaction:
        """Begin a transaction about some contracts; one that is begun is ended or undone."""
        connection, driver = self._held.take()
        driver.run(_BEGIN[driver.dialect.name])
        return Transaction(connection, driver, now, about)

    def end(self) -> None:
        """Make everything durable."""
        connection, driver = self._held.take()
        driver.commit()
        if connection.in_transaction():  # as the layers above see it, where a unit used them
            connection.commit()
        self._held.rest()

    def undo(self, error: BaseException) -> None:
        """Take everything back; trouble with the database is a reason to connect anew."""
        self._held.undo()
        if isinstance(error, TROUBLE):
            self.close()
        self._held.rest()

    def close(self) -> None:
        """Let go of the database."""
        self._held.close()
