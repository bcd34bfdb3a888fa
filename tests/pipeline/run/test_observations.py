"""What steps observe: drift from violated rules and columns, and the rules that made an audit refuse rows."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import types as spark

from tests.documents import contract
from treaty.contracts.findings import Severity
from treaty.observability.evidence import BrokenRule
from treaty.observability.measures import Bound
from treaty.pipeline.layers.audit import Audit
from treaty.pipeline.run.observations import (
    DriftedField,
    broken_rules,
    payload_drift,
    semantic_values,
    table_drift,
    unknown_fields,
)
from treaty.spark.measures import RuleMeasure
from treaty.spark.rules import Kind, Rule, Threshold
from treaty.spark.semantic_measures import MeasuredValue

CODE = {"name": "code", "logicalType": "string"}


def audit_of(rule: Rule, rows: int = 1_000, **result: Any) -> Audit:
    return Audit("orders", "1.0.0", rows, (RuleMeasure(rule, False, **result),))


@pytest.mark.parametrize(
    ("rule", "result", "broken"),
    [
        (
            Rule("sql:has_destination", Kind.SQL, "", "", threshold=Threshold("mustBeLessOrEqualTo", 0.1, True)),
            {"value": 0.43},
            BrokenRule("has_destination", 0.43, 0.1, "%", Bound.AT_MOST),
        ),
        (
            Rule("sql:amount#small", Kind.SQL, "amount", "", threshold=Threshold("mustBeLessThan", 1, True)),
            {"violating_rows": 25},
            BrokenRule("small", 2.5, 1.0, "%", Bound.AT_MOST),
        ),
        (
            Rule("unique:order_id", Kind.UNIQUE, "order_id", ""),
            {"violating_rows": 2},
            BrokenRule("order_id", 2.0, 0.0, "rows", Bound.AT_MOST),
        ),
        (
            Rule("row_count:some", Kind.ROW_COUNT, "", "", threshold=Threshold("mustBeGreaterThan", 10)),
            {"value": 3},
            BrokenRule("some", 3.0, 10.0, "", Bound.AT_LEAST),
        ),
        (
            Rule("row_count:span", Kind.ROW_COUNT, "", "", threshold=Threshold("mustBeBetween", (10, 20))),
            {"value": 3},
            BrokenRule("span", 3.0, 10.0, "", Bound.AT_LEAST),
        ),
        (
            Rule("sql:word", Kind.SQL, "", "", threshold=Threshold("mustBe", "open")),
            {"value": "closed"},
            BrokenRule("word"),
        ),
    ],
)
def test_a_broken_rule_has_its_value_and_limit(rule: Rule, result: dict[str, Any], broken: BrokenRule) -> None:
    assert broken_rules(audit_of(rule, **result)) == (broken,)


def test_fields_that_most_rows_lack_or_retype_have_drifted() -> None:
    violations = {"required:customer.email": 60, "type:amount": 50, "required:code": 49, "enum:state": 100}

    assert payload_drift(violations, 100) == (
        DriftedField("customer.email", "field_removed", Severity.ERROR),
        DriftedField("amount", "field_type_changed", Severity.ERROR),
    )
    assert payload_drift(violations, 0) == ()


def test_unknown_fields_break_closed_contracts_only() -> None:
    opened, closed = contract({"fields": [CODE]}), contract({"fields": [CODE], "content": "closed"})

    assert unknown_fields(["coupon"], opened) == (DriftedField("coupon", "field_added", Severity.INFO),)
    assert unknown_fields(["coupon"], closed) == (DriftedField("coupon", "field_added", Severity.ERROR),)


def test_columns_of_a_table_are_compared_without_those_of_the_pipeline() -> None:
    columns = spark.StructType(
        [
            spark.StructField("code", spark.LongType()),
            spark.StructField("extra", spark.StringType()),
            spark.StructField("_run", spark.LongType()),
        ]
    )
    drift = table_drift(columns, contract({"fields": [CODE, {"name": "lost", "logicalType": "string"}]}))

    assert sorted((one.field, one.kind) for one in drift) == [
        ("code", "field_type_changed"),
        ("extra", "field_added"),
        ("lost", "field_removed"),
    ]


def test_a_measured_rule_that_quarantines_is_counted_by_its_violations() -> None:
    rule = {"name": "small", "type": "sql", "query": "code < 'x'", "mustBe": True}
    measures = [{"name": "large_pct", "rule": "small"}, {"name": "lost_pct", "rule": "lost"}]
    document = contract({"fields": [{**CODE, "quality": [rule]}], "measures": measures})

    assert semantic_values(document, None, {"sql:code#small": 5}, 20) == (MeasuredValue("large_pct", 25.0),)
    assert semantic_values(document, None, {}, 20) == (MeasuredValue("large_pct", 0.0),)
    assert semantic_values(document, None, {}, 0) == ()
