"""Schema drift: differences between the declared and the actual schema."""

from __future__ import annotations

from pyspark.sql import SparkSession

from tests.documents import contract
from treaty.contracts.findings import Severity
from treaty.spark import TextTyping, schema_drift

ORDERS = contract(
    [
        {"name": "id", "logicalType": "integer", "primaryKey": True},
        {"name": "code", "logicalType": "string"},
        {"name": "n", "logicalType": "integer"},
    ]
)


def test_drift_is_graded_like_a_change(spark: SparkSession) -> None:
    frame = spark.sql("SELECT CAST(1 AS SMALLINT) AS id, 1.5D AS n, 'x' AS extra")

    drift = schema_drift(frame, ORDERS)

    assert {(judged.change.field, judged.change.kind, judged.severity) for judged in drift.judged} == {
        ("code", "field_removed", Severity.ERROR),
        ("extra", "field_added", Severity.INFO),
        ("id", "field_type_changed", Severity.INFO),
        ("n", "field_type_changed", Severity.ERROR),
    }
    assert drift.worst is Severity.ERROR


def test_untyped_texts_are_no_drift(spark: SparkSession) -> None:
    frame = spark.sql("SELECT '1' AS id, 'a' AS code, '5' AS n")

    assert schema_drift(frame, ORDERS, texts=TextTyping.UNTYPED).judged == ()
