"""Where the columns of queries come from."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql.types import DecimalType, StringType, StructType

from tests.sql.project_cases import cases, query
from treaty.pipeline.project.project_sql import parse_expression
from treaty.sql.lineage import Origin, lineage, origins, trace_through


@pytest.mark.parametrize("case", cases("lineage"))
def test_the_fields_that_a_column_is_made_from_are_known(case: dict[str, Any]) -> None:
    found = lineage(query(case["sql"]))

    assert {name: sorted(f"{one.input}.{one.column}" for one in there) for name, there in found.items()} == case[
        "gives"
    ]


def test_lineage_is_followed_across_steps() -> None:
    before = {
        "product": {"total": frozenset({Origin("events", "money.amount")}), "id": frozenset({Origin("events", "id")})}
    }
    found = {
        "x": frozenset({Origin("product", "total"), Origin("product", "id")}),
        "y": frozenset({Origin("other", "z")}),
    }

    assert trace_through(found, before) == {
        "x": frozenset({Origin("events", "money.amount"), Origin("events", "id")}),
        "y": frozenset({Origin("other", "z")}),
    }


def test_an_expression_is_made_from_attributes_and_claims() -> None:
    rows = {
        "": StructType().add("state", StringType()).add("amount", DecimalType(10, 2)),
        "payment": StructType().add("amount", DecimalType(10, 2)).add("paid", DecimalType(10, 2)),
    }

    found = origins(parse_expression("CASE WHEN state = 'x' THEN amount ELSE payment.paid END", "a.yaml:3", rows))

    assert found == {Origin("", "state"), Origin("", "amount"), Origin("payment", "paid")}
