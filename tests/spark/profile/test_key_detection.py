"""The key of a dataset is found and checked exactly."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from tests.spark.profile.drafts import ROWS, drafted, fields_of, guessed
from treaty.contracts.paths import FieldPath
from treaty.spark.profile.key_detection import find_key
from treaty.spark.profile.model import DoubledKeys
from treaty.spark.profile.text_statistics import collect_text_statistics
from treaty.spark.profile.value_statistics import collect_value_statistics

CASES = [
    ("the only identifier", ["id AS order_id", "id % 2 AS kind"], ["order_id"]),
    ("a bare one before others", ["id AS customer_id", "id AS id"], ["id"]),
    ("that of the thing before others", ["id AS customer_id", "id AS order_id"], ["order_id"]),
    ("one value twice", ["if(id = 7, 8, id) AS order_id", "date'2026-01-01' + cast(id AS int) AS day"], ["order_id"]),
    ("one null", ["if(id = 7, null, id) AS order_id"], ["order_id"]),
    ("five values twice are no key", ["if(id % 20 = 7, id + 1, id) AS order_id"], []),
    (
        "two lines of one order",
        ["if(id = 7, 8, id) AS order_id", "if(id = 7, 2, 1) AS line_no"],
        ["order_id", "line_no"],
    ),
    ("an identifier with its lines", ["id % 3 AS line_no", "id div 3 AS order_id"], ["order_id", "line_no"]),
    (
        "an identifier with a day",
        ["date'2026-01-01' + cast(id div 3 AS int) AS day", "id % 3 AS shop_id"],
        ["shop_id", "day"],
    ),
    ("amounts are no key", ["id AS amount", "id * 1.5 AS total"], []),
    ("codes of any name", ["concat('A-', 1000 + id) AS label"], ["label"]),
    ("personal data are no key", ["concat('a', id, '@mail.example') AS email"], []),
]


@pytest.mark.parametrize(("name", "columns", "key"), CASES, ids=[case[0] for case in CASES])
def test_the_key_of_a_dataset(spark: SparkSession, name: str, columns: list[str], key: list[str]) -> None:
    frame = spark.range(ROWS).selectExpr(*columns)
    profile = collect_text_statistics(frame, collect_value_statistics(frame))
    persons = {FieldPath().field("email")}

    assert list(find_key(frame, profile, "orders", persons)[0]) == key


def test_one_row_has_no_key(spark: SparkSession) -> None:
    frame = spark.range(1).selectExpr("id AS order_id")

    assert find_key(frame, collect_value_statistics(frame), "orders", ()) == ((), DoubledKeys())


def test_the_evidence_of_a_key(spark: SparkSession) -> None:
    frame = spark.sql("SELECT id AS order_id, concat('A', id) AS code FROM range(2000)")

    field = fields_of(drafted(frame).contract)["order_id"]

    assert guessed(field)["primaryKey"] == "high: no two of 2,000 rows share it, counted exactly"
