"""Type problems that Spark finds over empty inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.pipeline.plan.shop import contracts, sql, with_product, with_reconciliation
from treaty.contracts.findings import Severity
from treaty.pipeline.plan import find_type_problems, plan
from treaty.pipeline.project.declarations import Claim

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

QUERY = """
SELECT order_id, sum(amount) * 1.005 AS amount, size(collect_set(customer_id)) AS city,
       CAST(min(placed_at) AS DATE) AS placed_at
FROM placed GROUP BY order_id
"""


def test_lossy_types_are_reported(any_spark: SparkSession) -> None:
    (step,) = [
        one for one in plan(with_product("orders", sql=sql("o", QUERY)), contracts()).steps if one.name == "orders"
    ]

    found = find_type_problems(any_spark, step)

    assert [(one.severity, one.message.split(", but")[0]) for one in found] == [
        (Severity.ERROR, "orders: amount is decimal(27,5)"),
        (Severity.ERROR, "orders: city is int"),
        (Severity.ERROR, "orders: placed_at is date"),
    ]
    assert all("/shop/sql/o.sql" in str(one.place) for one in found)


def test_matching_types_are_accepted(any_spark: SparkSession) -> None:
    fine = "SELECT p.order_id, CAST(sum(p.amount) AS DECIMAL(12, 2)) AS amount, NULL AS city FROM placed p GROUP BY 1"
    perhaps = "SELECT customer_id AS order_id, 1 AS nothing_of_the_contract FROM placed"
    steps = [
        one
        for query in (fine, perhaps)
        for one in plan(with_product("orders", sql=sql("o", query)), contracts()).steps
        if one.name == "orders"
    ]

    assert find_type_problems(any_spark, steps[0]) == ()
    assert [(one.severity, one.id) for one in find_type_problems(any_spark, steps[1])] == [
        (Severity.INFO, "perhaps-missing")
    ]


def test_analysis_errors_of_spark_are_reported(any_spark: SparkSession) -> None:
    claims = (
        Claim("placed", "orders"),
        Claim("received", "payments", sql("c", "SELECT order_id,\n paid + true AS total FROM payments")),
    )
    (step,) = [one for one in plan(with_reconciliation(claims=claims), contracts()).steps if one.name == "balance"]

    (found,) = find_type_problems(any_spark, step)

    assert found.id == "sql-refused"
    assert str(found.place) == "/shop/sql/c.sql:2"
