"""On a real Spark: what is written anew means what was written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.sql.rule_cases import COLUMNS, OWNERS, ROWS, cases, read
from treaty.sql.allowed_functions import RULE_FUNCTIONS, Role
from treaty.sql.checked_sql import AggregateMetric, RowCondition, RowCount, RuleQuery

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_CALLS: dict[str, list[str]] = cases("functions")


@pytest.fixture(scope="module")
def stocked(spark: SparkSession) -> SparkSession:
    """Spark with the things and their owners under the contract's names."""
    spark.createDataFrame(ROWS, COLUMNS).coalesce(1).createOrReplaceTempView("things")
    spark.createDataFrame(OWNERS, "id int, country string, since date").createOrReplaceTempView("owners")
    return spark


def test_every_function_has_a_case() -> None:
    assert sorted(_CALLS) == sorted(RULE_FUNCTIONS)


def test_calls_on_the_row_keep_their_meaning(stocked: SparkSession) -> None:
    calls = [
        call for name, calls in _CALLS.items() if RULE_FUNCTIONS[name].role is not Role.AGGREGATE for call in calls
    ]

    _same_values(stocked, calls)


def test_aggregates_keep_their_meaning(stocked: SparkSession) -> None:
    calls = [call for name, calls in _CALLS.items() if RULE_FUNCTIONS[name].role is Role.AGGREGATE for call in calls]
    before = stocked.table("things").where("id < 4").selectExpr(*calls).first()
    anew = [_aggregate(f"SELECT {call} FROM things WHERE id < 4") for call in calls]  # noqa: S608
    after = stocked.table("things").selectExpr(*anew).first()

    assert _told_apart(after, calls) == _told_apart(before, calls)


def test_expressions_keep_their_meaning(stocked: SparkSession) -> None:
    _same_values(stocked, cases("expressions"))


def test_rules_keep_their_meaning(stocked: SparkSession) -> None:
    rules = cases("rules")
    queries = [rule for rule in rules if isinstance(read(rule), RuleQuery)]
    aggregates = [rule for rule in rules if rule not in queries]
    before = stocked.range(1).selectExpr(*[f"({rule})" for rule in (*queries, *aggregates)]).first()
    by_query = stocked.range(1).selectExpr(*[f"({_rendered(rule)})" for rule in queries]).first()
    by_aggregate = stocked.table("things").selectExpr(*map(_aggregate, aggregates)).first()

    after = (*(by_query or ()), *(by_aggregate or ()))
    assert _told_apart(after, queries + aggregates) == _told_apart(before, queries + aggregates)


def test_a_condition_tells_the_rows_that_break_it(any_spark: SparkSession) -> None:
    found = read("n > 0 AND text LIKE '%a%b%'")
    assert isinstance(found, RowCondition)
    things = any_spark.createDataFrame(ROWS, COLUMNS)

    rows = things.selectExpr("id", f"{found.broken} AS broken").collect()
    assert {row.id: row.broken for row in rows} == {1: False, 2: True, 3: True, 4: False}


def _same_values(spark: SparkSession, expressions: list[str]) -> None:
    before = spark.table("things").selectExpr(*expressions).collect()
    after = spark.table("things").alias("things").selectExpr(*map(_value_sql, expressions)).collect()

    for old, new in zip(before, after, strict=True):
        assert _told_apart(new, expressions) == _told_apart(old, expressions)


def _told_apart(row: Any, expressions: list[str]) -> list[tuple[str, str]]:
    return [(expression, repr(value)) for expression, value in zip(expressions, row, strict=True)]


def _value_sql(expression: str) -> str:
    """Return an expression written anew, by way of a query of which it is the only column."""
    found = read(f"SELECT {expression} AS v FROM things WHERE id IN (SELECT id FROM owners)")  # noqa: S608
    assert isinstance(found, RuleQuery)
    return found.template.removeprefix("SELECT ").partition(" AS `v` FROM ")[0]


def _aggregate(rule: str) -> str:
    found = read(rule)
    assert isinstance(found, AggregateMetric | RowCount)
    return found.expression if isinstance(found, AggregateMetric) else f"count_if({found.condition})"


def _rendered(rule: str) -> str:
    found = read(rule)
    assert isinstance(found, RuleQuery)
    return found.render({"things": "things", "owners": "owners"})
