"""Rendered SQL gives the same values on Spark as the original."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.sql.rule_cases import COLUMNS, OWNERS, ROWS, cases, parse
from treaty.sql.allowed_functions import RULE_FUNCTIONS, Role
from treaty.sql.checked_sql import AggregateMetric, RowCondition, RowCount, RuleQuery

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_CALLS: dict[str, list[str]] = cases("functions")


@pytest.fixture(scope="module")
def spark_with_tables(spark: SparkSession) -> SparkSession:
    """Spark with the tables of the contract."""
    spark.createDataFrame(ROWS, COLUMNS).coalesce(1).createOrReplaceTempView("things")
    spark.createDataFrame(OWNERS, "id int, country string, since date").createOrReplaceTempView("owners")
    return spark


def test_every_function_has_a_case() -> None:
    assert sorted(_CALLS) == sorted(RULE_FUNCTIONS)


def test_row_functions_give_the_same_values(spark_with_tables: SparkSession) -> None:
    calls = [
        call for name, calls in _CALLS.items() if RULE_FUNCTIONS[name].role is not Role.AGGREGATE for call in calls
    ]

    _same_values(spark_with_tables, calls)


def test_aggregates_give_the_same_values(spark_with_tables: SparkSession) -> None:
    calls = [call for name, calls in _CALLS.items() if RULE_FUNCTIONS[name].role is Role.AGGREGATE for call in calls]
    before = spark_with_tables.table("things").where("id < 4").selectExpr(*calls).first()
    rendered = [_aggregate(f"SELECT {call} FROM things WHERE id < 4") for call in calls]  # noqa: S608
    after = spark_with_tables.table("things").selectExpr(*rendered).first()

    assert _with_expression(after, calls) == _with_expression(before, calls)


def test_expressions_give_the_same_values(spark_with_tables: SparkSession) -> None:
    _same_values(spark_with_tables, cases("expressions"))


def test_rules_give_the_same_values(spark_with_tables: SparkSession) -> None:
    rules = cases("rules")
    queries = [rule for rule in rules if isinstance(parse(rule), RuleQuery)]
    aggregates = [rule for rule in rules if rule not in queries]
    before = spark_with_tables.range(1).selectExpr(*[f"({rule})" for rule in (*queries, *aggregates)]).first()
    by_query = spark_with_tables.range(1).selectExpr(*[f"({_rendered(rule)})" for rule in queries]).first()
    by_aggregate = spark_with_tables.table("things").selectExpr(*map(_aggregate, aggregates)).first()

    after = (*(by_query or ()), *(by_aggregate or ()))
    assert _with_expression(after, queries + aggregates) == _with_expression(before, queries + aggregates)


def test_condition_selects_the_rows_that_violate_it(any_spark: SparkSession) -> None:
    parsed = parse("n > 0 AND text LIKE '%a%b%'")
    assert isinstance(parsed, RowCondition)
    things = any_spark.createDataFrame(ROWS, COLUMNS)

    rows = things.selectExpr("id", f"{parsed.broken} AS broken").collect()
    assert {row.id: row.broken for row in rows} == {1: False, 2: True, 3: True, 4: False}


def _same_values(spark: SparkSession, expressions: list[str]) -> None:
    before = spark.table("things").selectExpr(*expressions).collect()
    after = spark.table("things").alias("things").selectExpr(*map(_value_sql, expressions)).collect()

    for old, new in zip(before, after, strict=True):
        assert _with_expression(new, expressions) == _with_expression(old, expressions)


def _with_expression(row: Any, expressions: list[str]) -> list[tuple[str, str]]:
    return [(expression, repr(value)) for expression, value in zip(expressions, row, strict=True)]


def _value_sql(expression: str) -> str:
    """Return the rendered expression, taken from a query in which it is the only column."""
    parsed = parse(f"SELECT {expression} AS v FROM things WHERE id IN (SELECT id FROM owners)")  # noqa: S608
    assert isinstance(parsed, RuleQuery)
    return parsed.template.removeprefix("SELECT ").partition(" AS `v` FROM ")[0]


def _aggregate(rule: str) -> str:
    parsed = parse(rule)
    assert isinstance(parsed, AggregateMetric | RowCount)
    return parsed.expression if isinstance(parsed, AggregateMetric) else f"count_if({parsed.condition})"


def _rendered(rule: str) -> str:
    parsed = parse(rule)
    assert isinstance(parsed, RuleQuery)
    return parsed.render({"things": "things", "owners": "owners"})
