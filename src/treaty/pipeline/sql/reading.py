"""A query of the project, read: what it reads and gives, every name understood."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from pyspark.sql.types import StructType
from sqlglot import exp

from treaty.pipeline.project.declarations import Sql
from treaty.pipeline.sql.expressions import Reading, read
from treaty.pipeline.sql.frames import Frame
from treaty.pipeline.sql.parsing import Text, parse_expression, parse_select, refused
from treaty.pipeline.sql.queries import read_query as read_relation
from treaty.pipeline.sql.relations import Column, Names, Relation, Source, Table


@dataclass(frozen=True, eq=False)
class Query:
    """One SELECT of the project."""

    text: Text
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

    text: Text
    tree: exp.Expr
    names: Names


def read_query(sql: Sql, inputs: Mapping[str, StructType]) -> Query:
    """Read a query over declared inputs; every table, column and function that there is not is a finding."""
    text = Text(str(sql.path), sql.text)
    tree = parse_select(text)
    tables = {name.lower(): _table(name, columns) for name, columns in inputs.items()}
    reading = Reading(text, tables, read_relation)
    root = read_relation(reading, tree, Frame())
    _refuse_twice(reading, tree, root)
    if reading.problems:
        raise refused(*sorted(reading.problems, key=lambda one: one.sort_key))
    given = {name.lower(): name for name in inputs}
    return Query(text, tree, root, reading.names, tuple(given[name] for name in reading.used))


def read_expression(sql: str, source: str, rows: Mapping[str, StructType]) -> Expression:
    """Read an expression over rows that stand beside each other, each under its name; under "" they need none."""
    text = Text(source, sql, None)
    tree = parse_expression(text)
    reading = Reading(text, {}, read_relation)
    frame = Frame()
    for name, columns in rows.items():
        table = _table(name, columns)
        frame.add(Source(name.lower(), table, table.columns))
    own = [places for places in frame.layout if places[1][0][0].alias == ""]
    if own:  # attributes go before the columns of claims
        frame.layout[:] = own
    read(reading, tree, frame)
    if reading.problems:
        raise refused(*reading.problems)
    return Expression(text, tree, reading.names)


def _table(name: str, columns: StructType) -> Table:
    return Table(name, tuple(Column(item.name, item.dataType) for item in columns))


def _refuse_twice(reading: Reading, tree: exp.Expr, root: Relation) -> None:
    """Note names that a query gives to more than one column: nobody could tell which is meant."""
    counts = Counter(column.name.lower() for column in root.columns)
    for name in [name for name, number in counts.items() if number > 1]:
        reading.problem("sql-column", f"{name} is given more than once", "give each column a name of its own", tree)
