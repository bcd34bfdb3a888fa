"""The tables and columns that SQL of any dialect reads."""

from __future__ import annotations

import pytest

from treaty.legacy.sql_reads import find_sql_reads

READS = {
    "columns of a join": (
        "SELECT o.id, p.amount FROM raw.orders o JOIN raw.payments AS p ON p.order_id = o.id",
        {"raw.orders": {"id"}, "raw.payments": {"amount", "order_id"}},
    ),
    "names without a prefix belong to the only table": (
        "SELECT country, sum(net) FROM mart.revenue WHERE day > '2026-01-01' GROUP BY country",
        {"mart.revenue": {"country", "net", "day"}},
    ),
    "a column that may belong to several tables leaves all open": (
        "SELECT status FROM a.x JOIN a.y ON x.id = y.id",
        {"a.x": {"id", "*"}, "a.y": {"id", "*"}},
    ),
    "a star is every column, a count of rows is none": (
        "SELECT (SELECT count(*) FROM a.y) AS rows, x.* FROM a.x",
        {"a.x": {"*"}, "a.y": set()},
    ),
    "common table expressions are no tables": (
        "WITH recent AS (SELECT id FROM a.x) INSERT INTO b.z SELECT * FROM recent",
        {"a.x": {"id"}},
    ),
    "temporary tables of a script are steps on its way": (
        "CREATE TEMPORARY TABLE t AS SELECT id FROM a.x; SELECT id FROM t JOIN a.y USING (id)",
        {"a.x": {"id"}, "a.y": {"*"}},
    ),
    "the source of a merge": (
        "MERGE INTO mart.revenue t USING raw.orders s ON t.id = s.id WHEN MATCHED THEN UPDATE SET net = s.net",
        {"raw.orders": {"*"}},
    ),
    "references of dbt, and values of Airflow": (
        "SELECT o.id FROM {{ ref('orders') }} o {% if true %} JOIN {{ source('erp', 'fx') }} f ON f.day = o.day"
        " {% endif %} WHERE o.day = '{{ ds }}' AND o.run = {{ run }}",
        {"erp.fx": {"day"}, "orders": {"id", "day", "run"}},
    ),
    "another dialect": ("SELECT TOP 10 [net] FROM [dbo].[Revenue]", {"dbo.revenue": {"net"}}),
}


@pytest.mark.parametrize("name", READS)
def test_reads_are_found(name: str) -> None:
    text, expected = READS[name]

    found = find_sql_reads(text)

    assert found is not None
    assert {table: set(columns) for table, columns in found.reads.items()} == expected


def test_the_tables_that_a_script_writes_are_known() -> None:
    found = find_sql_reads("INSERT INTO mart.revenue SELECT id FROM raw.orders; CREATE TABLE mart.old AS SELECT 1")

    assert found is not None
    assert found.writes == {"mart.revenue", "mart.old"}


@pytest.mark.parametrize("text", ["", "   ", "SELEC id FRM (", "-- " + "x" * 200_001])
def test_what_is_not_sql_gives_nothing(text: str) -> None:
    assert find_sql_reads(text) is None
