"""Statements that every write runs, at the driver's own speed: compiled once, their values bound by us."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from operator import itemgetter
from typing import Any, TypeAlias

from sqlalchemy import Connection, Dialect, Table
from sqlalchemy.exc import DataError, DBAPIError

Bind: TypeAlias = Callable[[Any], Any]
Written: TypeAlias = tuple[str, Callable[[Any], tuple[Any, ...]], tuple[tuple[int, Bind], ...]]


class QuickInsert:
    """Adds rows to a table, as `insert(table)` does, for a fraction of what building that statement costs."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self._written: dict[str, Written] = {}

    def run(self, connection: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
        """Add the rows; each names every column."""
        sql, pick, binds = self._for(connection.dialect)
        values = [list(pick(row)) for row in rows]
        for place, bind in binds:
            for row in values:
                row[place] = bind(row[place])
        with _driver(connection) as cursor:
            cursor.executemany(sql, values)

    def _for(self, dialect: Dialect) -> Written:
        if dialect.name not in self._written:
            columns = self.table.columns
            names = ", ".join(dialect.identifier_preparer.quote(column.name) for column in columns)
            marks = ", ".join([placeholder(dialect)] * len(columns))
            found = [(place, _bind(column.type, dialect)) for place, column in enumerate(columns)]
            binds = tuple((place, bind) for place, bind in found if bind is not None)
            table = dialect.identifier_preparer.quote(self.table.name)
            sql = f"INSERT INTO {table} ({names}) VALUES ({marks})"  # noqa: S608
            self._written[dialect.name] = sql, itemgetter(*columns.keys()), binds
        return self._written[dialect.name]


def quick_row(connection: Connection, sql: str, *values: Any) -> tuple[Any, ...] | None:
    """Return the first row that a question has; `{}` in it stands for a value."""
    marks = [placeholder(connection.dialect)] * len(values)
    with _driver(connection) as cursor:
        cursor.execute(sql.format(*marks), values)
        row: tuple[Any, ...] | None = cursor.fetchone()
    return row


@contextmanager
def _driver(connection: Connection) -> Iterator[Any]:
    """Give the driver's own cursor; its errors become those that everybody here knows."""
    cursor = connection.connection.cursor()
    try:
        yield cursor
    except connection.dialect.loaded_dbapi.DataError as error:
        raise DataError("a quick statement", None, error) from None
    except connection.dialect.loaded_dbapi.Error as error:
        raise DBAPIError("a quick statement", None, error) from None
    finally:
        cursor.close()


def placeholder(dialect: Dialect) -> str:
    """Return the sign that stands for a value."""
    return "%s" if dialect.name == "postgresql" else "?"


def _bind(kind: Any, dialect: Dialect) -> Bind | None:
    bind: Bind | None = kind.dialect_impl(dialect).bind_processor(dialect)
    return bind
