# ruff: noqa: S608
"""Generated queries on SQLite: a keyed query gives, on the rows of a key, the results of that key."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st
from pyspark.sql.types import IntegerType, StringType, StructField, StructType

from treaty.pipeline.project.declarations import Sql
from treaty.pipeline.project.project_sql import parse_query
from treaty.sql.key_dependency import KeyedQuery, UnkeyedQuery, analyse_key_dependency

COLUMNS = {"k": StringType(), "x": IntegerType(), "y": IntegerType()}
SCHEMA = StructType([StructField(name, kind) for name, kind in COLUMNS.items()])
INPUTS = {"a": SCHEMA, "b": SCHEMA, "c": SCHEMA, "free": SCHEMA}
KEYS = {"a": ("k",), "b": ("k",), "c": ("k",)}
ROWS: dict[str, list[tuple[str | None, int | None, int | None]]] = {
    "a": [("1", 1, 1), ("1", 2, 1), ("2", 1, None), ("3", 3, 2), (None, 1, 1)],
    "b": [("1", 1, 2), ("2", 2, 2), ("2", 2, 3), ("4", None, 1), (None, 2, 2)],
    "c": [("1", 5, 1), ("3", 1, 1), ("3", 1, 1), ("5", 2, None)],
    "free": [("1", 1, 9), ("2", 2, 8), ("9", 7, 7)],
}
HOMES = ["1", "2", "3", "4", "5", "6", None]

columns = st.sampled_from(["k", "x", "y"])
conditions = st.sampled_from(
    [
        "{0}.k = {1}.k",
        "{0}.k = {1}.k",
        "{0}.k = {1}.k AND {0}.x = {1}.x",
        "{0}.x = {1}.x",
        "{0}.k = {1}.k OR {0}.x = {1}.x",
        "{0}.k <> {1}.k",
        "{0}.x < {1}.x AND {1}.k = {0}.k",
    ]
)
kinds = st.sampled_from(["JOIN", "JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"])


@st.composite
def tables(draw: st.DrawFn, depth: int) -> str:
    """A table, or a query in its place that gives k, x and y."""
    if depth == 0 or draw(st.integers(0, 2)) == 0:
        return draw(st.sampled_from(["a", "b", "c", "free"]))
    return f"({draw(queries(depth - 1))})"


@st.composite
def outputs(draw: st.DrawFn, aliases: list[str]) -> list[str]:
    """Three values for k, x and y; often the key for k."""
    keys = [f"{alias}.k" for alias in aliases]
    key = draw(st.sampled_from([*keys, *keys, *keys, f"coalesce({', '.join(keys)}, {keys[0]})", f"{aliases[0]}.x"]))
    rest = [f"{draw(st.sampled_from(aliases))}.{draw(columns)}" for _ in range(2)]
    return [key, *rest]


@st.composite
def subqueries(draw: st.DrawFn, alias: str) -> str:
    """A condition with a query inside."""
    table = draw(st.sampled_from(["a", "b", "free"]))
    held = draw(st.sampled_from([f"q.k = {alias}.k", f"q.k = {alias}.k AND q.x > 1", f"q.x = {alias}.x", "q.x = 1"]))
    return draw(st.sampled_from([
        f"EXISTS (SELECT 1 FROM {table} q WHERE {held})",
        f"NOT EXISTS (SELECT 1 FROM {table} q WHERE {held})",
        f"{alias}.k IN (SELECT q.k FROM {table} q)",
        f"{alias}.k IN (SELECT q.k FROM {table} q GROUP BY q.k HAVING count(*) > 1)",
        f"{alias}.k NOT IN (SELECT q.k FROM {table} q)",
        f"{alias}.x IN (SELECT q.x FROM {table} q WHERE {held})",
        f"{alias}.x NOT IN (SELECT q.x FROM {table} q WHERE {held})",
        f"({alias}.x > 1 OR {alias}.k IN (SELECT q.k FROM {table} q))",
        f"{alias}.x <= (SELECT max(q.x) FROM {table} q WHERE {held})",
        f"{alias}.x <= (SELECT count(*) FROM {table} q)",
    ]))  # fmt: skip


@st.composite
def queries(draw: st.DrawFn, depth: int = 2) -> str:
    """A query that gives k, x and y."""
    if depth and draw(st.integers(0, 4)) == 0:
        word = draw(st.sampled_from(["UNION ALL", "UNION", "EXCEPT", "INTERSECT"]))
        return f"{draw(queries(0))} {word} {draw(queries(0))}"
    number = draw(st.integers(1, 3))
    aliases = [f"t{depth}{place}" for place in range(number)]
    text = f"{draw(tables(depth))} AS {aliases[0]}"
    for place in range(1, number):
        other = aliases[draw(st.integers(0, place - 1))]
        on = draw(conditions).format(other, aliases[place])
        text += f" {draw(kinds)} {draw(tables(depth))} AS {aliases[place]} ON {on}"
    where = draw(st.sampled_from(["", "", f" WHERE {aliases[0]}.x > 1", f" WHERE {aliases[-1]}.k = {aliases[0]}.k"]))
    if draw(st.integers(0, 2)) == 0:
        where = f" WHERE {draw(subqueries(aliases[0]))}"
    key, left, right = draw(outputs(aliases))
    shape = draw(st.integers(0, 5))
    if shape == 0:
        by = draw(st.sampled_from([key, f"{key}, {left}", left]))
        first = key if key in by else f"max({key})"
        return f"SELECT {first} AS k, max({left}) AS x, count({right}) AS y FROM {text}{where} GROUP BY {by}"
    if shape == 1:
        by = draw(st.sampled_from([f"PARTITION BY {key}", f"PARTITION BY {right}, {key}", f"PARTITION BY {left}", ""]))
        return f"SELECT {key} AS k, {left} AS x, sum({right}) OVER ({by}) AS y FROM {text}{where}"
    if shape == 2:
        return f"SELECT DISTINCT {key} AS k, {left} AS x, {right} AS y FROM {text}{where}"
    if shape == 3 and not depth:
        return f"SELECT max({key}) AS k, max({left}) AS x, count(*) AS y FROM {text}{where}"
    return f"SELECT {key} AS k, {left} AS x, {right} AS y FROM {text}{where}"


@pytest.fixture(scope="module")
def engine() -> Iterator[sqlite3.Connection]:
    """SQLite with the inputs as views over all rows, or over those of one key."""
    with sqlite3.connect(":memory:") as connection:
        connection.execute("CREATE TABLE home (is_all, k)")
        for name, rows in ROWS.items():
            connection.execute(f"CREATE TABLE all_{name} (k, x, y)")
            connection.executemany(f"INSERT INTO all_{name} VALUES (?, ?, ?)", rows)
            only = "" if name not in KEYS else " WHERE (SELECT is_all FROM home) OR k IS (SELECT k FROM home)"
            connection.execute(f"CREATE VIEW {name} AS SELECT * FROM all_{name}{only}")
        yield connection
    connection.close()


def result(engine: sqlite3.Connection, sql: str, home: tuple[bool, str | None]) -> Counter[tuple[object, ...]]:
    engine.execute("DELETE FROM home")
    engine.execute("INSERT INTO home VALUES (?, ?)", home)
    return Counter(engine.execute(sql).fetchall())


@settings(max_examples=300, deadline=None)
@given(sql=queries())
def test_keyed_query_gives_the_rows_of_each_key(engine: sqlite3.Connection, sql: str) -> None:
    dependency = analyse_key_dependency(parse_query(Sql(Path("generated.sql"), sql), INPUTS), KEYS)
    note(f"{sql}\n{dependency}")
    if isinstance(dependency, UnkeyedQuery):
        return
    place = ["k", "x", "y"].index(dependency.outputs[0])

    full = result(engine, sql, (True, None))

    for home in HOMES:
        of_home = Counter({row: count for row, count in full.items() if row[place] == home})
        assert result(engine, sql, (False, home)) == of_home


def test_generated_queries_are_keyed_and_unkeyed() -> None:
    seen: Counter[type] = Counter()

    @settings(max_examples=120, deadline=None, database=None)
    @given(sql=queries())
    def count(sql: str) -> None:
        seen[type(analyse_key_dependency(parse_query(Sql(Path("generated.sql"), sql), INPUTS), KEYS))] += 1

    count()

    assert seen[KeyedQuery] > 5
    assert seen[UnkeyedQuery] > 5
