"""A query of the project, read: what it reads and gives, every name understood."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from treaty.sql.column_types import Column
from treaty.sql.parser import SqlText, error_from_findings, parse_expression, parse_select
from treaty.sql.relations import Names, Relation, Source, Table
from treaty.sql.scopes import Frame, QueryReader, resolve_expression
from treaty.sql.select_resolution import resolve_query as read_relation


@dataclass(frozen=True, eq=False)
class Query:
    """One SELECT of the project."""

    text: SqlText
    tree: exp.Expr
    root: Relation
    names: Names
    inputs: tuple[str, ...]
    """The declared inputs that it reads, in the order in which it does."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns it gives."""
        return tuple(column.name for column in self.root.columns)


@dataclass(frozen=True, eq=False)
class Expression:
    """One expression over named rows, such as a condition."""

    text: SqlText
    tree: exp.Expr
    names: Names


def read_query(sql: str, source: str, inputs: Mapping[str, Sequence[Column]]) -> Query:
    """Read a query over declared inputs; every table, column and function that there is not is a finding."""
    text = SqlText(source, sql)
    tree = parse_select(text)
    tables = {name.lower(): Table(name, tuple(columns)) for name, columns in inputs.items()}
    reading = QueryReader(text, tables, read_relation)
    root = read_relation(reading, tree, Frame())
    _refuse_twice(reading, tree, root)
    if reading.problems:
        raise error_from_findings(*sorted(reading.problems, key=lambda one: one.sort_key))
    given = {name.lower(): name for name in inputs}
    return Query(text, tree, root, reading.names, tuple(given[name] for name in reading.used))


def read_expression(sql: str, source: str, rows: Mapping[str, Sequence[Column]]) -> Expression:
    """Read an expression over rows that stand beside each other, each under its name; under "" they need none."""
    text = SqlText(source, sql, None)
    tree = parse_expression(text)
    reading = QueryReader(text, {}, read_relation)
    frame = Frame()
    for name, columns in rows.items():
        table = Table(name, tuple(columns))
        frame.add(Source(name.lower(), table, table.columns))
    own = [places for places in frame.layout if places[1][0][0].alias == ""]
    if own:  # attributes go before the columns of claims
        frame.layout[:] = own
    resolve_expression(reading, tree, frame)
    if reading.problems:
        raise error_from_findings(*reading.problems)
    return Expression(text, tree, reading.names)


def _refuse_twice(reading: QueryReader, tree: exp.Expr, root: Relation) -> None:
    """Note names that a query gives to more than one column: nobody could tell which is meant."""
    counts = Counter(column.name.lower() for column in root.columns)
    for name in [name for name, number in counts.items() if number > 1]:
        reading.problem(
            "sql-column", f"{name} is an output column more than once", "give each column a unique name", tree
        )
