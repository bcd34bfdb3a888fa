"""Affected keys and the rows of keys."""

from __future__ import annotations

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from treaty.pipeline.layers.keys import affected_keys, rows_of_keys, rows_with_values, with_deleted_keys


def _rows(frame: object) -> list[tuple[object, ...]]:
    return sorted((tuple(row) for row in frame.collect()), key=str)  # type: ignore[attr-defined]


def test_affected_keys_are_distinct_and_complete(spark: SparkSession) -> None:
    changed = {
        "placed": spark.sql("SELECT * FROM VALUES ('a', 1, 9), ('a', 1, 8), ('b', null, 7) AS t(id, `line no`, x)"),
        "paid": spark.sql("SELECT * FROM VALUES (1, 'a'), (2, 'c') AS t(line, order_id)"),
    }
    where = {"placed": ["id", "line no"], "paid": ["order_id", "line"]}
    keys = affected_keys(changed, where, ["id", "line no"])
    assert keys.columns == ["id", "line no"]
    assert _rows(keys) == [("a", 1), ("c", 2)]


def test_rows_of_keys_match_nulls(spark: SparkSession) -> None:
    rows = spark.sql("SELECT * FROM VALUES ('a', 1), ('a', 2), ('b', 3), (null, 4) AS t(`the id`, n)")
    keys = spark.sql("SELECT * FROM VALUES ('a'), (null), ('z') AS t(id)")
    assert _rows(rows_of_keys(rows, keys, ["the id"])) == [("a", 1), ("a", 2), (None, 4)]
    assert _rows(rows_of_keys(rows, F.broadcast(keys), ["the id"])) == [("a", 1), ("a", 2), (None, 4)]


def test_rows_are_found_by_a_few_values(spark: SparkSession) -> None:
    rows = spark.sql("SELECT * FROM VALUES ('a', 1), (\"it's\", 2), ('b', 3), (null, 4) AS t(`the id`, n)")
    assert _rows(rows_with_values(rows, ["it's", "a", "z"], "the id")) == [("it's", 2), ("a", 1)]
    assert _rows(rows_with_values(rows, [3], "n")) == [("b", 3)]


def test_key_without_rows_becomes_a_deleted_row(spark: SparkSession) -> None:
    rows = spark.sql("SELECT * FROM VALUES ('a', 5, 'valid'), ('c', 6, 'quarantined') AS t(id, n, _outcome)")
    keys = spark.sql("SELECT * FROM VALUES ('a'), ('b') AS t(id)")
    columns = spark.sql("SELECT '' AS id, 1L AS n, '' AS _outcome, 1L AS _run").schema
    found = with_deleted_keys(rows, keys, columns)
    assert found.schema.simpleString() == columns.simpleString()
    assert _rows(found) == [
        ("a", 5, "valid", None),
        ("b", None, "deleted", None),
        ("c", 6, "quarantined", None),
    ]
