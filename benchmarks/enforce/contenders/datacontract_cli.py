"""datacontract-cli: the same contract, on a view of the frame, through its Python library."""

from __future__ import annotations

from collections import Counter
from typing import Any

from datacontract.data_contract import DataContract  # type: ignore[import-not-found]

from benchmarks.enforce.rules import CROSSED
from benchmarks.enforce.task import CONTRACT, Answer, Work

_SERVER = """
servers:
  - server: spark
    type: custom
    customProperties: [{property: customType, value: dataframe}]
"""
_COUNTED_AS = {
    "field_required": "required",
    "field_enum": "enum",
    "field_regex": "pattern",
    "field_minimum": "range",
    "field_maximum": "range",
}


def check(work: Work) -> Answer:
    """Test the contract."""
    return _answer(_tested(work, samples=False))


def failing_rows(work: Work) -> Answer:
    """Test the contract and fetch a few rows of each check that failed."""
    return _answer(_tested(work, samples=True))


def _tested(work: Work, *, samples: bool) -> list[Any]:
    work.orders.createOrReplaceTempView("orders")
    text = CONTRACT.read_text() + _SERVER
    tested = DataContract(data_contract_str=text, spark=work.spark, include_failed_samples=samples).test()
    return list(tested.checks)


def _answer(checks: list[Any]) -> Answer:
    found: Counter[str] = Counter()
    crossed = iter(CROSSED)
    for each in checks:
        if each.type in _COUNTED_AS:
            found[f"{_COUNTED_AS[each.type]}:{each.field}"] += each.diagnostics["value"]
        elif each.type == "field_primary_key_unique":
            found[f"unique:{each.field}"] = each.diagnostics["failed_rows"]
            found[f"unique:{each.field}, values"] = each.diagnostics["value"]
        elif each.type == "model_quality_sql":
            found[f"sql:{next(crossed)}"] = each.diagnostics["value"]
        elif each.type == "row_count":
            found["row_count:row_count"] = each.diagnostics["value"]
    return dict(found)


CASES = {"check": check, "failing rows": failing_rows}
