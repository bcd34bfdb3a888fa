"""Semantic measures are taken with the rules of a contract; one that cannot be taken is listed with the reason."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from pyspark.sql import SparkSession

from treaty.contracts import Contract, contract_from
from treaty.pipeline.layers.audit import audit
from treaty.spark import Enforcement, enforce

ROWS = """SELECT * FROM VALUES
  ('A', 'open', 10.0D, 'DE'), ('B', 'paid', 20.0D, 'DE'), ('C', 'paid', 30.0D, 'FR'), ('C', 'open', 40.0D, 'DE')
  AS t(order_id, state, amount, country)"""
NOW = datetime(2026, 3, 1, tzinfo=UTC)


def orders(*measures: dict[str, Any], quality: tuple[dict[str, Any], ...] = ()) -> Contract:
    kinds = {"order_id": "string", "state": "string", "amount": "number", "country": "string"}
    return contract_from(
        {
            "apiVersion": "v3.2.0",
            "kind": "DataContract",
            "id": "shop.orders",
            "version": "1.0.0",
            "status": "active",
            "schema": [
                {
                    "name": "orders",
                    "quality": list(quality),
                    "properties": [{"name": name, "logicalType": kind} for name, kind in kinds.items()],
                }
            ],
            "measures": list(measures),
        }
    )


def taken(spark: SparkSession, contract: Contract) -> dict[str, float]:
    measures = enforce(spark.sql(ROWS), contract).measures(NOW)
    return {measured.name: measured.value for measured in measures.semantic}


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("100.0 * count_if(state = 'open') / count(*)", 50.0),
        ("SELECT count(*) FROM {object} WHERE amount > 15", 3.0),
        ("100.0 * sum(if(state = 'open', amount, 0)) / sum(amount)", 50.0),
        (
            "SELECT count(*) FROM (SELECT order_id FROM {object} GROUP BY order_id HAVING count(DISTINCT country) > 1)",
            1.0,
        ),
        ("count(DISTINCT order_id, country) - count(DISTINCT order_id)", 1.0),
    ],
)
def test_an_expression_gives_a_number(spark: SparkSession, expression: str, value: float) -> None:
    assert taken(spark, orders({"name": "a", "expression": expression})) == {"a": value}


def test_a_rule_gives_its_share_its_rows_or_its_value(spark: SparkSession) -> None:
    quality = (
        {"name": "paid", "type": "sql", "query": "state = 'paid'", "mustBeLessThan": 60, "unit": "percent"},
        {"name": "mean", "type": "sql", "query": "SELECT avg(amount) FROM {object}", "mustBeGreaterThan": 1},
    )
    contract = orders(
        {"name": "share", "rule": "paid"},
        {"name": "rows_unpaid", "rule": "paid", "unit": "rows"},
        {"name": "mean_amount", "rule": "mean", "unit": "EUR"},
        {"name": "unknown", "rule": "lost"},
        quality=quality,
    )

    assert taken(spark, contract) == {"share": 50.0, "rows_unpaid": 2.0, "mean_amount": 25.0}


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("amount", "its SQL has no aggregate ('amount')"),
        ("max(reflect('java.lang.System', 'getenv', 'HOME'))", "its SQL calls reflect, which calls Java code"),
        ("max(state)", "it is a string, not a number"),
        ("max(lost)", "its SQL reads 'lost', which is not a column of its tables"),
    ],
)
def test_a_measure_that_cannot_be_taken_says_why(spark: SparkSession, expression: str, reason: str) -> None:
    enforcement: Enforcement = enforce(spark.sql(ROWS), orders({"name": "a", "expression": expression}))

    assert enforcement.measures(NOW).semantic == ()
    (unchecked,) = [term for term in enforcement.unchecked if term.what == "measure a"]
    assert unchecked.why.startswith(reason)


def test_a_share_of_no_rows_has_no_value(spark: SparkSession) -> None:
    contract = orders({"name": "a", "expression": "100.0 * count_if(state = 'open') / count(*)"})
    measures = enforce(spark.sql(ROWS).limit(0), contract).measures(NOW)

    assert measures.semantic == ()


def test_an_audit_takes_measures_of_the_whole_table(spark: SparkSession) -> None:
    quality = ({"name": "paid", "type": "sql", "query": "state = 'paid'", "severity": "warning", "mustBe": True},)
    contract = orders(
        {"name": "unpaid_pct", "rule": "paid", "target": {"at_most": 1}},
        {"name": "total", "expression": "sum(amount)"},
        quality=quality,
    )
    result = audit(spark.sql(ROWS), contract, NOW)

    assert {measured.name: measured.value for measured in result.measured} == {"unpaid_pct": 50.0, "total": 100.0}
    assert result.passed


def test_an_audit_without_rules_still_takes_measures(spark: SparkSession) -> None:
    result = audit(spark.sql(ROWS), orders({"name": "total", "expression": "sum(amount)"}), NOW)

    assert [(measured.name, measured.value) for measured in result.measured] == [("total", 100.0)]
