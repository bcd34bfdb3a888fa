"""Lineage of the columns of queries and expressions."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql.types import DecimalType, StringType, StructType

from tests.sql.project_cases import cases, query
from treaty.pipeline.project.project_sql import parse_expression
from treaty.sql.lineage import Origin, lineage, origins, trace_through


@pytest.mark.parametrize("case", cases("lineage"))
def test_lineage_of_output_columns(case: dict[str, Any]) -> None:
    result = lineage(query(case["sql"]))

    assert {
        name: sorted(f"{origin.input}.{origin.column}" for origin in origins_) for name, origins_ in result.items()
    } == case["gives"]


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
