"""Lineage of the columns of queries and expressions."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql.types import DecimalType, StringType, StructType

from tests.sql.project_cases import cases, query
from treaty.pipeline.project.project_sql import parse_expression
from treaty.sql.lineage import Origin, column_filters, filter_fields, lineage, origins, trace_through


@pytest.mark.parametrize("case", cases("lineage"))
def test_lineage_of_output_columns(case: dict[str, Any]) -> None:
    result = lineage(query(case["sql"]))

    assert {
        name: sorted(f"{origin.input}.{origin.column}" for origin in origins_) for name, origins_ in result.items()
    } == case["gives"]


@pytest.mark.parametrize(
    ("sql", "fields"),
    [
        ("SELECT line FROM orders", []),
        ("SELECT line FROM orders WHERE amount > 0", ["orders.amount"]),
        (
            "SELECT max(line) AS line FROM orders GROUP BY weight HAVING sum(amount) > 1",
            ["orders.amount", "orders.weight"],
        ),
        (
            "SELECT o.line FROM orders o JOIN payments p ON p.order_id = o.order_id",
            ["orders.order_id", "payments.order_id"],
        ),
        ("SELECT o.line FROM orders o JOIN payments p USING (order_id)", ["orders.order_id", "payments.order_id"]),
        (
            "SELECT line FROM orders o WHERE EXISTS (SELECT 1 FROM payments p WHERE p.order_id = o.order_id)",
            ["orders.order_id", "payments.order_id"],
        ),
        ("WITH big AS (SELECT * FROM orders WHERE amount > 9) SELECT line FROM big", ["orders.amount"]),
        ("SELECT line FROM (SELECT line, weight AS c FROM orders) x WHERE x.c > 1", ["orders.weight"]),
        (
            "SELECT line FROM orders WHERE amount > 1 UNION ALL SELECT currency FROM payments WHERE order_id = 'x'",
            ["orders.amount", "payments.order_id"],
        ),
    ],
)
def test_fields_that_decide_which_rows_there_are(sql: str, fields: list[str]) -> None:
    assert sorted(f"{origin.input}.{origin.column}" for origin in filter_fields(query(sql))) == fields


@pytest.mark.parametrize(
    ("sql", "fields"),
    [
        ("SELECT line AS x FROM orders WHERE amount > 0", []),
        (
            "SELECT EXISTS (SELECT 1 FROM payments p WHERE p.order_id = o.order_id) AS x FROM orders o",
            ["orders.order_id", "payments.order_id"],
        ),
        (
            "WITH c AS (SELECT (SELECT count(*) FROM payments p WHERE p.order_id = o.order_id) AS n FROM orders o) "
            "SELECT n + 1 AS x FROM c",
            ["orders.order_id", "payments.order_id"],
        ),
        (
            "SELECT o.order_id IN (SELECT p.order_id FROM payments p WHERE p.paid > 1) AS x FROM orders o",
            ["payments.paid"],
        ),
    ],
)
def test_fields_that_filter_what_a_column_is_computed_from(sql: str, fields: list[str]) -> None:
    assert sorted(f"{origin.input}.{origin.column}" for origin in column_filters(query(sql))["x"]) == fields


def test_lineage_is_followed_across_steps() -> None:
    before = {
        "product": {"total": frozenset({Origin("events", "money.amount")}), "id": frozenset({Origin("events", "id")})}
    }
    result = {
        "x": frozenset({Origin("product", "total"), Origin("product", "id")}),
        "y": frozenset({Origin("other", "z")}),
    }

    assert trace_through(result, before) == {
        "x": frozenset({Origin("events", "money.amount"), Origin("events", "id")}),
        "y": frozenset({Origin("other", "z")}),
    }


def test_lineage_of_an_expression() -> None:
    rows = {
        "": StructType().add("state", StringType()).add("amount", DecimalType(10, 2)),
        "payment": StructType().add("amount", DecimalType(10, 2)).add("paid", DecimalType(10, 2)),
    }

    result = origins(parse_expression("CASE WHEN state = 'x' THEN amount ELSE payment.paid END", "a.yaml:3", rows))

    assert result == {Origin("", "state"), Origin("", "amount"), Origin("payment", "paid")}
