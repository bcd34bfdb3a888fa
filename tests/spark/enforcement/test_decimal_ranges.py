"""Decimals at the bounds of a range."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.documents import contract
from treaty.spark import enforce

_LISTED = (
    "-7, -6.01, -6, -5.99, -5.51, -5.5, -5.49, -5, -1, -0.01, 0, 0.01, 0.99, 1, 1.01, 6.99, 7, "
    "7.01, 8, 9999.99, 10000, 10000.01, null"
)
_RANGES: dict[str, tuple[dict[str, Any], set[str]]] = {
    "fractions": ({"minimum": -5.5, "maximum": 0.01}, {"-5.5", "-5.49", "-5", "-1", "-0.01", "0", "0.01"}),
    "whole numbers": ({"minimum": 1, "maximum": 7}, {"1", "1.01", "6.99", "7"}),
    "bounds outside": ({"exclusiveMinimum": -5.5, "exclusiveMaximum": -1}, {"-5.49", "-5"}),
    "no smallest": ({"maximum": -6}, {"-7", "-6.01", "-6"}),
    "no largest": ({"minimum": 9999.99}, {"9999.99", "10000", "10000.01"}),
    "beyond all longs": ({"minimum": 8, "maximum": 1e30}, {"8", "9999.99", "10000", "10000.01"}),
}


@pytest.mark.parametrize("digits", [18, 38])  # held as a long, and not
@pytest.mark.parametrize("name", _RANGES)
def test_decimals_are_checked_at_the_bounds_of_their_range(spark: SparkSession, name: str, digits: int) -> None:
    options, inside = _RANGES[name]
    amount = {"name": "amount", "logicalType": "number", "physicalType": f"decimal({digits},2)"}
    rows = spark.range(1).selectExpr(f"explode(CAST(array({_LISTED}) AS array<decimal({digits},2)>)) AS amount")
    valid = enforce(rows, contract([amount | {"logicalTypeOptions": options}])).valid.collect()
    assert {row.amount for row in valid} == {None, *map(Decimal, inside)}
