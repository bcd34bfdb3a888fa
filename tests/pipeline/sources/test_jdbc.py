"""A database table as a source: rows above the highest value so far."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.pipeline.sources.landing import NOON, asking, table
from tests.pipeline.tables.orders import place_of
from treaty.errors import NotFound
from treaty.pipeline.layers.raw import RAW
from treaty.pipeline.project.declarations import raw_table
from treaty.pipeline.sources import ArrivalRequest, Arrivals, read_arrivals
from treaty.pipeline.tables import NewStamp, Tables

RAW_TABLE = raw_table("order_placed")


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """A database with three orders."""
    file = tmp_path / "shop.db"
    _insert(file, "CREATE TABLE orders (id INTEGER, name TEXT, amount NUMERIC(10, 2), code TEXT)")
    _insert(file, "INSERT INTO orders VALUES (9, 'a', 1.10, 'k1'), (10, NULL, 2, 'k2'), (2, 'ü\"', 3, 'k3')")
    return file


def test_rows_above_the_highest_value_are_new(
    any_spark: SparkSession, request: pytest.FixtureRequest, database: Path
) -> None:
    tables = Tables(any_spark, place_of(request))
    first = _run(tables, 1, database)
    assert first.extra == {"highest": "10"}
    assert _run(tables, 2, database).rows is None
    _insert(database, "INSERT INTO orders VALUES (11, 'd', 4, 'k4'), (100, 'e', 5, 'k5')")
    assert _run(tables, 3, database).extra == {"highest": "100"}
    assert _run(tables, 4, database).rows is None

    rows = sorted(tables.read(RAW_TABLE).collect(), key=lambda row: row["position"])
    assert [(row["position"], row["_run"]) for row in rows] == [(2, 1), (9, 1), (10, 1), (11, 3), (100, 3)]
    assert json.loads(rows[0]["payload"]) == {"id": 2, "name": 'ü"', "amount": 3.00, "code": "k3"}
    assert rows[1]["payload"] == b'{"id":9,"name":"a","amount":1.10,"code":"k1"}'
    assert {row["file"] for row in rows} == {f"table orders of jdbc:sqlite:{database}"}
    assert {row["headers"]["encoding"] for row in rows} == {"json"}


def test_increasing_column_may_be_a_text(spark: SparkSession, request: pytest.FixtureRequest, database: Path) -> None:
    tables = Tables(spark, place_of(request))
    assert _run(tables, 1, database, "CODE").extra == {"highest": "k3"}
    _insert(database, "INSERT INTO orders VALUES (1, 'd', 4, 'k4')")
    _run(tables, 2, database, "CODE")
    assert [row["_run"] for row in sorted(tables.read(RAW_TABLE).collect(), key=lambda row: row["_run"])] == [
        1,
        1,
        1,
        2,
    ]


def test_missing_databases_tables_and_columns_are_named(spark: SparkSession, database: Path) -> None:
    with pytest.raises(NotFound, match="orders has no column 'nr'; it has: id, name, amount, code"):
        read_arrivals(spark, table(database, "nr"), asking())
    with pytest.raises(NotFound, match=r"there is no database at .*nowhere\.db"):
        read_arrivals(spark, table(database.parent / "nowhere.db"), asking())


def _run(tables: Tables, run: int, database: Path, column: str = "id") -> Arrivals:
    tables.ensure(RAW_TABLE, RAW, {})
    before = tables.stamp(RAW_TABLE)
    found = read_arrivals(tables.spark, table(database, column), ArrivalRequest(run, NOON, before=before))
    if found.rows is not None:
        tables.append(RAW_TABLE, found.rows, NewStamp(run, {}, "", "", {}, found.extra))
    return found


def _insert(file: Path, statement: str) -> None:
    with closing(sqlite3.connect(file)) as connection:
        connection.execute(statement)
        connection.commit()
