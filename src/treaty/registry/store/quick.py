"""Statements that every write runs, at the driver's own speed: written once, their values bound by us."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from operator import itemgetter
from typing import Any, TypeAlias

import orjson
from sqlalchemy import JSON, Connection, Dialect, Table
from sqlalchemy.exc import DataError, DBAPIError

from treaty.registry.store.types import Moment, in_microseconds, json_text

_MOST_VALUES = 30_000
"""The most values in one statement: SQLite takes 32,766, PostgreSQL 65,535."""

_OFTEN = 64
_PLAIN = orjson.OPT_PASSTHROUGH_DATETIME | orjson.OPT_PASSTHROUGH_DATACLASS

Bind: TypeAlias = Callable[[Any], Any]


class Driver:
    """A connection without the layers above the driver; errors are those that everybody here knows.

    `{}` in a statement stands for a value.
    """

    __slots__ = ("_commit", "_execute", "dialect", "mark")

    def __init__(self, connection: Connection) -> None:
        self.dialect = connection.dialect
        self.mark = placeholder(connection.dialect)
        raw: Any = connection.connection.dbapi_connection
        self._execute = raw.execute
        self._commit = partial(raw.execute, "COMMIT") if self.dialect.name == "sqlite" else raw.commit  # parsed once

    def run(self, sql: str, values: Sequence[Any] = ()) -> Any:
        """Run a statement that is written for this driver, and return its cursor."""
        try:
            return self._execute(sql, values)
        except self.dialect.loaded_dbapi.Error as error:
            raise self._known(error) from None

    def row(self, sql: str, *values: Any) -> tuple[Any, ...] | None:
        """Return the first row that a question has."""
        found: tuple[Any, ...] | None = self.run(_marked(sql, self.mark), values).fetchone()
        return found

    def commit(self) -> None:
        """End the transaction: what was written is there for good."""
        try:
            self._commit()
        except self.dialect.loaded_dbapi.Error as error:
            raise self._known(error) from None

    def _known(self, error: Exception) -> DBAPIError:
        is_value = isinstance(error, self.dialect.loaded_dbapi.DataError)
        return (DataError if is_value else DBAPIError)("a quick statement", None, error)


@dataclass(frozen=True, slots=True)
class Written:
    """A statement as one kind of database wants it, and how values are made ready for it."""

    opening: str
    marks: str
    at_once: int
    by_rows: dict[int, str]
    pick: Callable[[Any], tuple[Any, ...]]
    binds: tuple[tuple[int, Bind], ...]

    def values(self, row: Mapping[str, Any]) -> list[Any]:
        """Return the values of a row as the driver takes them."""
        values = list(self.pick(row))
        for place, bind in self.binds:
            if (value := values[place]) is not None:
                values[place] = bind(value)
        return values

    def adding(self, rows: int) -> str:
        """Return the statement for so many rows, and keep those that come often."""
        statement = self.opening + ", ".join([self.marks] * rows)
        if rows <= _OFTEN:
            self.by_rows[rows] = statement
        return statement


class QuickInsert:
    """Adds rows to a table by one statement; building that anew each time would cost more than running it."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self._written: dict[str, Written] = {}

    def run(self, driver: Driver, rows: Sequence[Mapping[str, Any]]) -> None:
        """Add the rows; each names every column."""
        written = self._written.get(driver.dialect.name) or self._for(driver.dialect)
        if len(rows) == 1:
            driver.run(written.by_rows[1], written.values(rows[0]))
            return
        for start in range(0, len(rows), written.at_once):
            some = rows[start : start + written.at_once]
            values = [value for row in some for value in written.values(row)]
            driver.run(written.by_rows.get(len(some)) or written.adding(len(some)), values)

    def _for(self, dialect: Dialect) -> Written:
        columns = self.table.columns
        quote = dialect.identifier_preparer.quote
        names = ", ".join(quote(column.name) for column in columns)
        found = [(place, _bind(column.type, dialect)) for place, column in enumerate(columns)]
        opening = f"INSERT INTO {quote(self.table.name)} ({names}) VALUES "  # noqa: S608
        marks = f"({', '.join([placeholder(dialect)] * len(columns))})"
        written = self._written[dialect.name] = Written(
            opening,
            marks,
            _MOST_VALUES // len(columns),
            {1: opening + marks},
            itemgetter(*columns.keys()),
            tuple((place, bind) for place, bind in found if bind is not None),
        )
        return written


@lru_cache(200)
def _marked(sql: str, mark: str) -> str:
    """Return a statement as a driver wants it; kept, since building a text that the driver then looks up costs both."""
    return sql.replace("{}", mark)


def placeholder(dialect: Dialect) -> str:
    """Return the sign that stands for a value."""
    return "%s" if dialect.name == "postgresql" else "?"


def _json_text(value: Any) -> str:
    """Write what a JSON column keeps, at a third of the cost where it is plain."""
    try:
        return orjson.dumps(value, option=_PLAIN).decode()
    except TypeError:
        return json_text(value)


def _bind(kind: Any, dialect: Dialect) -> Bind | None:
    """Return how a value of a column is made ready: as everywhere, or the same with fewer calls."""
    if isinstance(kind, Moment):
        return in_microseconds
    if isinstance(kind, JSON) and dialect.name == "sqlite":
        return _json_text
    bind: Bind | None = kind.dialect_impl(dialect).bind_processor(dialect)
    return bind
