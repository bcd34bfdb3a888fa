"""The SQL of a project on DataFrames."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from treaty.errors import InvalidDocument
from treaty.pipeline.layers.sql_queries import run_sql
from treaty.pipeline.project.declarations import Sql

_ANSWERS = {
    "an input is read by its name, and columns by that": ("SELECT orders.id FROM orders", [(1,), (2,)]),
    "a WITH may take the name of what it reads": (
        "WITH orders AS (SELECT * FROM orders WHERE id = 1) SELECT id FROM orders",
        [(1,)],
    ),
    "hints, braces, comments and a last semicolon are fine": (
        "-- hi\nSELECT /*+ BROADCAST(people) */ id, '{x}', people.name\nFROM orders JOIN people USING (id); -- end;",
        [(1, "{x}", "Ada")],
    ),
    "names reach into subqueries": (
        "SELECT (SELECT max(p.name) FROM people p WHERE p.id = o.id) FROM orders o WHERE id = 1",
        [("Ada",)],
    ),
}
_REFUSED = {
    "SELECT id,\n  nope\nFROM orders": "sql/x.sql:2: .*`nope` cannot be resolved",
    "SELECT id,,\n  name\nFROM orders": "sql/x.sql:1: Syntax error at or near ','",
    "SELECT id\nFROM orders\nWHERE id = 1 +": "sql/x.sql:3: Syntax error",
    "SELECT *\nFROM elsewhere": "sql/x.sql:2: The table or view `elsewhere` cannot be found",
    "SELECT id\nFROM orders GROUP BY total": 'sql/x.sql: .*"id" is based on columns which are not participating',
}


def test_query_reads_frames_by_name_and_leaves_no_views_behind(any_spark: SparkSession) -> None:
    frames = {
        "orders": any_spark.sql("SELECT * FROM VALUES (1, 10), (2, 20) AS t(id, total)"),
        "people": any_spark.sql("SELECT * FROM VALUES (1, 'Ada') AS t(id, name)"),
    }
    before = {table.name for table in any_spark.catalog.listTables()}
    for what, (text, expected) in _ANSWERS.items():
        answer = run_sql(any_spark, Sql(Path("sql/x.sql"), text), frames)
        assert sorted(tuple(row) for row in answer.collect()) == expected, what
    assert {table.name for table in any_spark.catalog.listTables()} == before


def test_sql_errors_have_file_and_line(spark: SparkSession, capfd: pytest.CaptureFixture[str]) -> None:
    frames = {"orders": spark.sql("SELECT * FROM VALUES (1, 10) AS t(id, total)")}
    for text, words in _REFUSED.items():
        with pytest.raises(InvalidDocument, match=words):
            run_sql(spark, Sql(Path("sql/x.sql"), text), frames)
    assert "QueryContextLogger" not in capfd.readouterr().err
