"""Views, Iceberg tables and database tables are read by name."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.spark.readers.frames import rows
from treaty.errors import NotFound, Unavailable
from treaty.spark.readers import read_data


@pytest.fixture
def shop(tmp_path: Path) -> str:
    file = tmp_path / "shop.db"
    with closing(sqlite3.connect(file)) as database:
        database.execute("CREATE TABLE orders (id INTEGER, name TEXT)")
        database.execute("INSERT INTO orders VALUES (1, 'ann')")
        database.commit()
    return f"jdbc:sqlite:{file}"


def test_an_iceberg_table(any_spark: SparkSession) -> None:
    any_spark.sql("CREATE NAMESPACE IF NOT EXISTS lake.reading")
    any_spark.range(2).writeTo("lake.reading.orders").createOrReplace()

    assert sorted(rows(read_data(any_spark, "lake.reading.orders"))) == [(0,), (1,)]


def test_a_view(any_spark: SparkSession) -> None:
    any_spark.range(1).createOrReplaceTempView("a_view_of_orders")

    assert rows(read_data(any_spark, "a_view_of_orders")) == [(0,)]


def test_a_database_table(spark: SparkSession, shop: str) -> None:
    assert rows(read_data(spark, f"{shop}#orders")) == [(1, "ann")]
    assert rows(read_data(spark, shop, table="orders")) == [(1, "ann")]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nothing.here", "there is no table nothing.here; write catalog.namespace.table"),
        ("lake.reading.nothing", "there is no table lake.reading.nothing"),
        ("nowhere.reading.orders", "its catalog is unknown; set spark.iceberg"),
        ("table:csv.`/etc/hostname`", "there is no table|unknown|cannot read"),
    ],
)
def test_a_missing_table_gives_a_clear_error(spark: SparkSession, name: str, message: str) -> None:
    with pytest.raises(Exception, match=message) as caught:
        read_data(spark, name)
    assert caught.type.__module__ == "treaty.errors"


def test_a_missing_database_is_not_created(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="no database at"):
        read_data(spark, f"jdbc:sqlite:{tmp_path}/none.db#orders")
    assert list(tmp_path.iterdir()) == []


def test_a_missing_database_table_gives_a_clear_error(spark: SparkSession, shop: str) -> None:
    with pytest.raises(NotFound, match="there is no table customers of jdbc:sqlite:"):
        read_data(spark, f"{shop}#customers")


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("jdbc:postgresql://127.0.0.1:1/shop?user=a&password=hush#orders", "cannot read table orders of .*refused"),
        ("jdbc:mysql://127.0.0.1:1/shop#orders", "no JDBC driver for table orders of jdbc:mysql://127.0.0.1:1/shop"),
    ],
)
def test_an_unreachable_database_gives_a_clear_error(spark: SparkSession, url: str, message: str) -> None:
    with pytest.raises(Unavailable, match=message) as caught:
        read_data(spark, url)
    assert "hush" not in str(caught.value)
