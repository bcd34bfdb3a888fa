"""Statements that every write runs, at the driver's own speed: compiled once, their values bound by us."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, TypeAlias

from sqlalchemy import Connection, Dialect, Table
from sqlalchemy.exc import DataError, DBAPIError

_MOST_VALUES = 30_000
"""The most values in one statement: SQLite takes 32,766, PostgreSQL 65,535."""

Bind: TypeAlias = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Written:
    """A statement as one kind of database wants it, and how values are made ready for it."""

    opening: str
    marks: str
    pick: Callable[[Any], tuple[Any, ...]]
    binds: tuple[tuple[int, Bind], ...]


class QuickInsert:
    """Adds rows to a table by one statement; building that anew each time would cost more than running it."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self._written: dict[str, Written] = {}

    def run(self, connection: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
        """Add the rows; each names every column."""
        written = self._for(connection.dialect)
        at_once = _MOST_VALUES // len(self.table.columns)
        for start in range(0, len(rows), at_once):
            self._run(connection, written, rows[start : start + at_once])

    def _run(self, connection: Connection, written: Written, rows: Sequence[Mapping[str, Any]]) -> None:
        values: list[Any] = []
        for row in rows:
            own = list(written.pick(row))
            for place, bind in written.binds:
                own[place] = bind(own[place])
            values += own
        with _Cursor(connection) as cursor:
            cursor.execute(written.opening + ", ".join([written.marks] * len(rows)), values)

    def _for(self, dialect: Dialect) -> Written:
        if dialect.name not in self._written:
            columns = self.table.columns
            quote = dialect.identifier_preparer.quote
            names = ", ".join(quote(column.name) for column in columns)
            found = [(place, _bind(column.type, dialect)) for place, column in enumerate(columns)]
            self._written[dialect.name] = Written(
                f"INSERT INTO {quote(self.table.name)} ({names}) VALUES ",  # noqa: S608
                f"({', '.join([placeholder(dialect)] * len(columns))})",
                itemgetter(*columns.keys()),
                tuple((place, bind) for place, bind in found if bind is not None),
            )
        return self._written[dialect.name]


def run_quickly(connection: Connection, sql: str) -> None:
    """Run a statement that has no values and no answer."""
    with _Cursor(connection) as cursor:
        cursor.execute(sql)


def quick_existing(connection: Connection, sql: str, values: Sequence[Any]) -> set[Any]:
    """Return which of the values a question knows; `{}` in it stands for all of them."""
    marks = ", ".join([placeholder(connection.dialect)] * len(values))
    with _Cursor(connection) as cursor:
        cursor.execute(sql.format(marks), tuple(values))
        return {row[0] for row in cursor.fetchall()}


def quick_row(connection: Connection, sql: str, *values: Any) -> tuple[Any, ...] | None:
    """Return the first row that a question has; `{}` in it stands for a value."""
    marks = [placeholder(connection.dialect)] * len(values)
    with _Cursor(connection) as cursor:
        cursor.execute(sql.format(*marks), values)
        row: tuple[Any, ...] | None = cursor.fetchone()
    return row


class _Cursor:
    """The driver's own cursor; its errors become those that everybody here knows."""

    __slots__ = ("_cursor", "_driver")

    def __init__(self, connection: Connection) -> None:
        self._driver = connection.dialect.loaded_dbapi
        self._cursor = connection.connection.cursor()

    def __enter__(self) -> Any:
        return self._cursor

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        self._cursor.close()
        if isinstance(error, self._driver.DataError):
            raise DataError("a quick statement", None, error) from None
        if isinstance(error, self._driver.Error):
            raise DBAPIError("a quick statement", None, error) from None


def placeholder(dialect: Dialect) -> str:
    """Return the sign that stands for a value."""
    return "%s" if dialect.name == "postgresql" else "?"


def _bind(kind: Any, dialect: Dialect) -> Bind | None:
    bind: Bind | None = kind.dialect_impl(dialect).bind_processor(dialect)
    return bind
