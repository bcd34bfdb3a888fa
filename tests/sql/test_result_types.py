"""Types that follow from the SQL are those that Spark finds; where they do not follow, there is none."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from treaty.pipeline.layers.sql_queries import run_sql
from treaty.pipeline.project.declarations import Sql
from treaty.pipeline.project.project_sql import parse_query, spark_type_of

COLUMNS = (
    "i int, l bigint, s smallint, f float, d double, m decimal(12,2), p decimal(38,10), t string, b boolean, "
    "day date, at timestamp, xs array<int>, st struct<a: int, n: string>"
)
ROWS = """
i ; l ; m ; t ; day ; at ; st ; st.a ; st.n ; xs ; xs[0]
1 ; 3000000000 ; 1.5 ; 0.05 ; 10.50 ; 1e3 ; 'x' ; true
CAST(t AS decimal(10,3)) ; CAST(t AS decimal(4)) ; CAST(t AS decimal) ; t::bigint
try_cast(t AS date) ; CAST(i AS string)
i + s ; i + l ; i * 2 ; i - 1.5 ; m + 1 ; m + i ; m * 3 ; m * m ; m / 3 ; m - p ; p * p ; m * 1.005 ; m % 7 ; -m ; -i
i / 2 ; i / l ; d + i ; f + d ; f * f ; m * d ; i + f
i = 1 ; i > l AND b ; NOT b ; t IS NULL ; i IN (1, 2) ; i BETWEEN 1 AND 2 ; t LIKE 'a%' ; b OR i < 3
CASE WHEN b THEN i ELSE 2 END ; CASE t WHEN 'x' THEN m END ; CASE WHEN b THEN NULL ELSE t END ; if(b, 1, 2)
coalesce(t, 'x') ; coalesce(i, l) ; nvl(t, 'x') ; nullif(m, 0) ; greatest(i, 3)
upper(t) ; length(t) ; t || 'x' ; year(day) ; to_date(t) ; date_trunc('day', at) ; md5('x') ; concat_ws('-', t, t)
row_number() OVER (ORDER BY i) ; lag(m) OVER (PARTITION BY t ORDER BY i) ; sum(i) OVER (PARTITION BY t)
EXISTS (SELECT 1 FROM rows r WHERE r.i = rows.i) ; (SELECT max(m) FROM rows)
"""
AGGREGATES = """
count(*) ; count(DISTINCT t) ; sum(i) ; sum(l) ; sum(m) ; sum(p) ; sum(d) ; sum(f) ; avg(i) ; avg(m) ; avg(p) ; avg(d)
max(m) ; min(day) ; first(t) ; max_by(t, i) ; collect_list(i) ; collect_set(t) ; count_if(b) ; bool_or(b)
sum(m) FILTER (WHERE b) ; max(i) + 1 ; sum(m) * 1.19 ; count(*) > 1
"""
NOT_KNOWN = "transform(xs, x -> x + 1) ; map(t, i) ; day - day ; coalesce(m, i) ; i + t ; CASE WHEN b THEN 1 ELSE m END"


def query_of(expressions: str) -> Sql:
    parts = [part.strip() for line in expressions.splitlines() for part in line.split(" ; ") if part.strip()]
    columns = ",\n".join(f"{part} AS c{number}" for number, part in enumerate(parts))
    return Sql(Path("q.sql"), f"SELECT {columns} FROM rows")  # noqa: S608


@pytest.mark.parametrize("expressions", [ROWS, AGGREGATES], ids=["rows", "aggregates"])
def test_known_types_are_those_of_spark(spark: SparkSession, expressions: str) -> None:
    rows = spark.createDataFrame([], COLUMNS)
    sql = query_of(expressions)

    known = [spark_type_of(column.type) for column in parse_query(sql, {"rows": rows.schema}).root.columns]

    found = run_sql(spark, sql, {"rows": rows}).schema
    lines = sql.text.splitlines()
    assert dict(zip(lines, [kind and kind.simpleString() for kind in known], strict=True)) == dict(
        zip(lines, [field.dataType.simpleString() for field in found], strict=True)
    )


def test_other_types_are_not_guessed(spark: SparkSession) -> None:
    rows = spark.createDataFrame([], COLUMNS)

    columns = parse_query(query_of(NOT_KNOWN), {"rows": rows.schema}).root.columns

    assert [column.type for column in columns] == [None] * 6
