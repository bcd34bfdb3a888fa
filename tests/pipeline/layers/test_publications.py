"""Rows of a publication: selected, delayed, redacted and checked against the contract."""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from tests.documents import contract
from treaty.contracts.versions import Line
from treaty.errors import InvalidDocument
from treaty.pipeline.layers.publications import (
    build_publication,
    check_for_publication,
    prepare_outgoing,
    select_rows,
    visible_rows,
)
from treaty.pipeline.layers.publications.redaction import redact
from treaty.pipeline.project.declarations import Delay, Publication, Redacted, Redaction, Sql
from treaty.policy import parse_key_ring

PEPPER = "a pepper that nobody knows"
KEY = parse_key_ring("hash", f"a:{PEPPER}", "TREATY_HASH_SECRET")
NOW = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
SALES = contract(
    [
        {"name": "order_id", "logicalType": "string", "primaryKey": True, "required": True},
        {"name": "gross", "logicalType": "number", "physicalType": "decimal(12,2)", "required": True},
        {"name": "payments", "logicalType": "integer", "physicalType": "bigint"},
        {"name": "customer", "logicalType": "string", "classification": "confidential"},
        {
            "name": "address",
            "logicalType": "object",
            "properties": [{"name": "city", "logicalType": "string"}, {"name": "country", "logicalType": "string"}],
        },
        {
            "name": "lines",
            "logicalType": "array",
            "items": {
                "logicalType": "object",
                "properties": [{"name": "sku", "logicalType": "string"}, {"name": "note", "logicalType": "string"}],
            },
        },
        {"name": "settled_at", "logicalType": "timestamp"},
        {"name": "remark", "logicalType": "string"},
    ]
)
PUBLICATION = Publication(
    "sales", Line("orders", 1), ("orders", "payments"), "sales_v1", at="publications/sales.yaml:1"
)
QUERY = """
WITH paid AS (SELECT order_id, sum(amount) AS gross, count(*) AS payments FROM payments GROUP BY order_id)
SELECT o.settled_at, p.gross, o.order_id, p.payments, o.customer_id AS customer, o.address, o.lines, o.internal
FROM orders AS o JOIN paid AS p USING (order_id);  -- one row per order
"""


def sql(text: str) -> Sql:
    return Sql(Path("sql/sales.sql"), text)


def orders(spark: SparkSession) -> DataFrame:
    return spark.sql("""
        SELECT *, 'secret' AS internal, 'valid' AS _outcome FROM VALUES
          ('a', 'ann', timestamp'2026-03-01 12:00:00', named_struct('city', 'Bern', 'country', 'CH'),
           array(named_struct('sku', 's1', 'note', 'ring twice'), null, named_struct('sku', 's2', 'note', null))),
          ('b', null, timestamp'2026-03-01 12:00:00.000001', null, null),
          ('c', 'cem', timestamp'2026-02-01 00:00:00', named_struct('city', null, 'country', 'TR'), array()),
          ('d', 'dan', null, null, null)
        AS t(order_id, customer_id, settled_at, address, lines)""")


def payments(spark: SparkSession) -> DataFrame:
    return spark.sql("""
        SELECT * FROM VALUES ('a', 10.50BD), ('a', 2.25BD), ('b', 1BD), ('c', 3BD), ('d', 4BD)
        AS t(order_id, amount)""")


def inputs(spark: SparkSession) -> Mapping[str, DataFrame]:
    return {"orders": orders(spark), "payments": payments(spark)}


def by_order(frame: DataFrame) -> dict[str, dict[str, Any]]:
    return {row["order_id"]: row.asDict(recursive=True) for row in frame.collect()}


def test_rows_are_selected_delayed_redacted_and_have_the_contract_columns(any_spark: SparkSession) -> None:
    publication = replace(
        PUBLICATION,
        sql=sql(QUERY),
        delay=Delay("settled_at", timedelta(hours=24)),
        redacted=(
            Redacted("customer", Redaction.HASH),
            Redacted("address.city", Redaction.NULL),
            Redacted("lines[].sku", Redaction.HASH),
            Redacted("lines.note", Redaction.CONSTANT, "it's withheld ${env:HOME}"),
        ),
    )
    rows = build_publication(inputs(any_spark), publication, SALES, NOW, key=KEY)
    judged = check_for_publication(rows, SALES)
    names = ["order_id", "gross", "payments", "customer", "address", "lines", "settled_at", "remark"]
    assert rows.columns == judged.valid.columns == names
    assert judged.valid.schema["gross"].dataType.simpleString() == "decimal(12,2)"
    found = by_order(judged.valid)
    assert sorted(found) == ["a", "c"]  # b is one microsecond too recent, d has no timestamp

    def hashed(value: str) -> str:
        secret = hmac.digest(PEPPER.encode(), b"treaty hash orders@1 sales_v1", "sha512")
        return "a:" + hmac.digest(secret, value.encode(), "sha256").hex()

    withheld = "it's withheld ${env:HOME}"
    assert found["a"] == {
        "order_id": "a",
        "gross": Decimal("12.75"),
        "payments": 2,
        "customer": hashed("ann"),
        "address": {"city": None, "country": "CH"},
        "lines": [{"sku": hashed("s1"), "note": withheld}, None, {"sku": hashed("s2"), "note": withheld}],
        "settled_at": found["a"]["settled_at"],
        "remark": None,
    }
    assert found["c"]["address"] == {"city": None, "country": "TR"}


def test_without_a_query_columns_are_taken_by_name(spark: SparkSession) -> None:
    frame = spark.sql("SELECT 1 AS _run, 5 AS payments, 'a' AS ORDER_ID, 2.50BD AS gross, 'x' AS other")
    rows = build_publication({"orders": frame}, replace(PUBLICATION, inputs=("orders",)), SALES, NOW)
    assert [item.name for item in rows.schema if str(item.dataType) != "NullType()"][:3] == [
        "order_id",
        "gross",
        "payments",
    ]
    assert check_for_publication(rows, SALES).valid.collect()[0][:4] == ("a", Decimal("2.50"), 5, None)


def test_hashes_of_two_publications_cannot_be_matched(spark: SparkSession) -> None:
    hashed = replace(PUBLICATION, redacted=(Redacted("order_id", Redaction.HASH),))
    frame = spark.sql("SELECT 'a' AS order_id")
    publications = (hashed, replace(hashed, table="partner_v1"), replace(hashed, sql=sql("SELECT 1")))
    first, other, same = (redact(frame, publication, KEY).collect()[0][0] for publication in publications)
    assert first != other
    assert first == same


def test_the_key_of_hashes_is_in_no_query_plan(spark: SparkSession, capsys: pytest.CaptureFixture[str]) -> None:
    hashed = replace(PUBLICATION, redacted=(Redacted("order_id", Redaction.HASH),))
    redact(spark.sql("SELECT 'a' AS order_id"), hashed, KEY).explain(extended=True)
    plan = capsys.readouterr().out
    assert "MapInArrow" in plan
    assert PEPPER not in plan


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"inputs": ("orders", "returns")}, "reads 'returns', which is missing"),
        ({}, "add sql: to combine them"),
        ({"sql": sql("SELECT order_id FROM orders")}, "requires 'gross', but sql/sales.sql has no such column"),
        ({"sql": sql("SELECT\n nothing FROM orders")}, "sql/sales.sql:2: .*nothing"),
        (
            {"sql": sql(QUERY), "redacted": (Redacted("custommer", Redaction.NULL),)},
            "no 'custommer'; there are: settled",
        ),
        ({"sql": sql(QUERY), "redacted": (Redacted("address.town", Redaction.NULL),)}, "no 'town'; there are: city"),
        ({"sql": sql(QUERY), "redacted": (Redacted("gross.cents", Redaction.NULL),)}, "no 'cents'; it is in decimal"),
        ({"sql": sql(QUERY), "redacted": (Redacted("a..b", Redaction.NULL),)}, "redact: cannot read field path"),
        ({"sql": sql(QUERY), "redacted": (Redacted("customer", Redaction.HASH),)}, "no secret is set"),
        ({"sql": sql(QUERY), "delay": Delay("when", timedelta(1))}, "'when', which does not exist"),
        ({"sql": sql(QUERY), "delay": Delay("gross", timedelta(1))}, "'gross', which is decimal"),
    ],
)
def test_impossible_publication_is_refused(spark: SparkSession, change: Any, says: str) -> None:
    with pytest.raises(InvalidDocument, match=says) as refused:
        build_publication(inputs(spark), replace(PUBLICATION, **change), SALES, NOW)
    assert str(refused.value).startswith(("publications/sales.yaml:1: ", "sql/sales.sql:"))


def test_rows_become_visible_after_the_delay(spark: SparkSession) -> None:
    publication = replace(PUBLICATION, sql=sql(QUERY), delay=Delay("settled_at", timedelta(hours=24)))
    assert publication.delay
    rows = select_rows(inputs(spark), publication)

    def keys(frame: DataFrame) -> set[str]:
        return {row["order_id"] for row in frame.select("order_id").collect()}

    clocks = [NOW - timedelta(days=60), NOW - timedelta(microseconds=1), NOW, NOW + timedelta(microseconds=1)]
    seen = [keys(visible_rows(rows, publication.delay, clock)) for clock in clocks]
    assert seen == [set(), {"c"}, {"a", "c"}, {"a", "b", "c"}]


STARTS_WITH_1 = {"metric": "invalidValues", "arguments": {"pattern": "^1"}, "mustBe": 0, "severity": "warning"}
JUDGED = [
    {"name": "order_id", "logicalType": "string", "primaryKey": True, "required": True},
    {"name": "gross", "logicalType": "number", "physicalType": "decimal(12,2)", "quality": [STARTS_WITH_1]},
    {
        "name": "customer",
        "logicalType": "string",
        "classification": "confidential",
        "logicalTypeOptions": {"pattern": "^[a-c]"},
    },
]
LOSSES = """
SELECT * FROM VALUES
  ('a', 1.50BD, 'ann', timestamp'2026-03-01 12:00:00'), ('b', 1.505BD, 'bob', null), (null, 2BD, 'cem', null),
  ('d', 3BD, 'dan', null)
AS t(order_id, gross, customer, settled_at)"""


def test_rows_are_checked_while_they_are_written(spark: SparkSession) -> None:
    name = f"lake.going_out_{'connect' if 'connect' in type(spark).__module__ else 'classic'}"
    spark.sql(f"CREATE NAMESPACE {name}")
    spark.sql(f"CREATE TABLE {name}.sales (order_id string, gross decimal(12,2))")
    held_to = contract(JUDGED)
    frame = spark.sql(LOSSES)

    def written(text: str) -> Any:
        going = prepare_outgoing(check_for_publication(frame.where(text), held_to))
        going.rows.select("order_id", "gross").writeTo(f"{name}.sales").append()
        return going.audit()

    sound = written("order_id = 'a'")
    assert sound.passed
    assert (sound.rows, sound.bad_rows, sound.samples) == (1, 0, ())
    assert spark.table(f"{name}.sales").count() == 1
    assert sound.verdict == "1 row conforms to orders 1.0.0: 4 of 4 rules passed"

    broken = written("true")
    assert not broken.passed
    assert (broken.rows, broken.bad_rows) == (4, 3)
    assert [(item.rule.id, item.violating_rows) for item in broken.blocking] == [
        ("pattern:customer", 1),
        ("required:order_id", 1),
        ("type:gross", 1),
    ]
    assert [item.rule.severity for item in broken.concerns] == ["warning"]
    report = "\n".join((broken.verdict, *broken.reasons, *broken.remarks))
    assert "3 rules of orders 1.0.0 failed: nothing is published" in report
    assert "type:gross: 1 row breaks it" in report
    assert "1.505 in the row of order_id b" in report
    assert "dan" not in report  # classified values are not shown
    assert "*** in the row of order_id d" in report
    assert broken.as_data()["passed"] is False


def test_empty_write_passes(spark: SparkSession, tmp_path: Path) -> None:
    rows = spark.sql(LOSSES).where("false").selectExpr("order_id", "gross", "1L AS payments")
    going = prepare_outgoing(check_for_publication(rows, SALES))
    going.rows.write.parquet(str(tmp_path / "none"))
    assert going.audit().passed
    assert going.audit().rows == 0
