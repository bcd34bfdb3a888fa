"""A connection that is held between two uses, where nothing can break it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from sqlalchemy import Connection, Engine

from treaty.registry.store.quick import Driver
from treaty.registry.store.trouble import TROUBLE


class Held:
    """A connection to a file stays open; of another database, the pool gives one for each use."""

    def __init__(self, engine: Engine, pragmas: Sequence[str] = (), options: Mapping[str, Any] | None = None) -> None:
        self._engine = engine
        self._pragmas = pragmas
        self._options = options or {}
        self._taken: tuple[Connection, Driver] | None = None

    def take(self) -> tuple[Connection, Driver]:
        """Return the connection, and the driver below it."""
        return self._taken or self._connect()

    def rest(self) -> None:
        """Give a connection back to the pool, which sees to what is broken; one to a file stays, without a snapshot."""
        if self._taken is not None:
            if not self._is_to_a_file:
                self.close()
            elif self._taken[0].in_transaction():
                self._taken[0].rollback()

    def undo(self) -> None:
        """Take back what was not made durable, as far as the database is still there."""
        if self._taken is not None:
            with suppress(*TROUBLE):
                self._taken[0].rollback()
                self._taken[0].connection.rollback()

    def close(self) -> None:
        """Let go of the database."""
        taken, self._taken = self._taken, None
        if taken is not None:
            taken[0].close()

    def _connect(self) -> tuple[Connection, Driver]:
        connection = self._engine.connect().execution_options(**self._options)
        self._taken = connection, Driver(connection)
        if self._is_to_a_file:
            for pragma in self._pragmas:
                self._taken[1].run(pragma)
        return self._taken

    @property
    def _is_to_a_file(self) -> bool:
        return self._engine.dialect.name == "sqlite"
