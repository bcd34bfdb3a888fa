"""From events to products: one row for each key."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from tests.pipeline.layers.arrivals import contract
from treaty.contracts.versions import Line
from treaty.errors import InvalidDocument
from treaty.pipeline.layers.products import build_product, product_columns
from treaty.pipeline.project.declarations import Product, Sql

_WHOLE = {"logicalType": "integer", "logicalTypeOptions": {"minimum": 1}}
_EVENT: dict[str, dict[str, Any]] = {
    "id": {"required": True},
    "seq": _WHOLE,
    "state": {},
    "total": {"logicalType": "integer"},
}
_ORDERED = {"ordering": {"key": ["id"], "sequence": "seq"}}
_KEY = {"required": True, "primaryKey": True}
_ORDERS = contract("orders", _EVENT, **_ORDERED)
_CANCELLED = contract("cancelled", {"order_no": {}, "seq": _WHOLE}, ordering={"key": ["order_no"], "sequence": "seq"})
_PRODUCT = contract(
    "order_book", {"id": _KEY, "state": {}, "total": {"logicalType": "integer", "logicalTypeOptions": {"minimum": 0}}}
)


def _events(spark: SparkSession, columns: str, rows: str) -> DataFrame:
    """Return accepted events: fields, then run, file and position."""
    given = spark.sql(f"SELECT * FROM VALUES {rows} AS t({columns}, _raw_run, _source_file, _position)")  # noqa: S608
    return given.selectExpr(
        "*", "'accepted' AS _outcome", "timestamp'2026-01-05 00:00:00Z' AS _arrived_at", "'' AS _digest", "1L AS _run"
    )


def _rows(frame: DataFrame) -> dict[str, tuple[object, ...]]:
    columns = ["_outcome", "state", "total", "_events", "_out_of_order", "_gaps"]
    return {row["id"]: tuple(row[name] for name in columns) for row in frame.collect()}


def test_without_sql_a_key_has_its_latest_event(any_spark: SparkSession) -> None:
    events = _events(
        any_spark,
        "id, seq, state, total",
        """('late', 2, 'paid', 20, 1L, 'a', 1L), ('late', 1, 'new', 10, 2L, 'b', 1L),
           ('twice', 1, 'first', 1, 1L, 'a', 2L), ('twice', 1, 'second', 2, 1L, 'a', 3L),
           ('gap', 2, 'paid', 5, 1L, 'a', 4L), ('gap', 5, 'sent', 5, 1L, 'a', 5L), ('gap', 4, 'x', 5, 1L, 'b', 1L),
           ('gone', 1, 'new', 1, 1L, 'a', 6L), ('gone', 2, 'deleted', 1, 1L, 'a', 7L),
           ('back', 2, 'deleted', 1, 1L, 'a', 8L), ('back', 3, 'new', 1, 1L, 'a', 9L),
           ('wrong', 1, 'new', -1, 1L, 'a', 10L)""",
    )
    product = Product("order_book", Line("shop.order_book", 1), ("orders",), deleted_when="state = 'deleted'")
    found = build_product({"orders": events}, product, _PRODUCT, {"orders": _ORDERS})
    assert [item.name for item in found.schema] == [item.name for item in product_columns(_PRODUCT)][:-1]
    assert _rows(found) == {
        "late": ("valid", "paid", 20, 2, 1, 0),
        "twice": ("valid", "second", 2, 2, 0, 0),
        "gap": ("valid", "sent", 5, 3, 1, 2),
        "back": ("valid", "new", 1, 2, 0, 1),
        "wrong": ("quarantined", None, None, 1, 0, 0),
    }


_SQL = """
SELECT o.id, CASE WHEN c.order_no IS NULL THEN o.state ELSE 'cancelled' END AS state, -- one row per order
  o.total * r.rate AS total
FROM orders o
JOIN rates r ON r.state = o.state
LEFT JOIN cancelled c ON c.order_no = o.id
"""


def test_sql_reads_sources_and_enrichments_and_its_rows_are_checked(
    spark: SparkSession,
) -> None:
    orders = _events(
        spark,
        "id, seq, state, total",
        """('a', 1, 'new', 10, 1L, 'o1', 1L), ('b', 2, 'new', -4, 2L, 'o2', 1L), (null, 1, 'new', 1, 2L, 'o2', 2L)""",
    )
    cancelled = _events(spark, "order_no, seq", "('a', 3, 1L, 'c1', 1L), ('b', 3, 1L, 'c1', 2L)")
    rates = spark.sql("SELECT 'new' AS state, 2 AS rate, 'valid' AS _outcome, 1L AS _run")
    product = Product(
        "order_book", Line("shop.order_book", 1), ("orders", "cancelled"), Sql(Path("b.sql"), _SQL), ("rates",)
    )
    found = build_product(
        {"orders": orders, "cancelled": cancelled, "rates": rates},
        product,
        _PRODUCT,
        {"orders": _ORDERS, "cancelled": _CANCELLED},
        {"orders": ["id"], "cancelled": ["order_no"]},
    )
    assert _rows(found) == {
        "a": ("valid", "cancelled", 20, 2, 0, 1),
        "b": ("quarantined", None, None, 2, 1, 1),
    }
    wrong = next(row for row in found.collect() if row["id"] == "b")
    assert [item["rule"] for item in wrong["_violations"]] == ["range:total"]
    assert json.loads(wrong["_given"]) == {"id": "b", "state": "cancelled", "total": -8}


def test_events_of_several_sources_may_share_a_sequence(spark: SparkSession) -> None:
    orders = _events(
        spark, "id, seq, state, total", "('a', 1, 'new', 1, 2L, 'o2', 1L), ('b', 1, 'new', 1, 1L, 'z', 1L)"
    )
    paid = _events(
        spark, "id, seq, state, total", "('a', 2, 'paid', 1, 1L, 'p1', 1L), ('b', 4, 'paid', 1, 1L, 'p1', 2L)"
    )
    sql = Sql(
        Path("b.sql"), "SELECT id, max(state) AS state, 1 AS total FROM (TABLE orders UNION ALL TABLE paid) GROUP BY id"
    )
    product = Product("order_book", Line("shop.order_book", 1), ("orders", "paid"), sql)
    found = build_product({"orders": orders, "paid": paid}, product, _PRODUCT, {"orders": _ORDERS, "paid": _ORDERS})
    assert _rows(found) == {"a": ("valid", "paid", 1, 2, 1, 0), "b": ("valid", "paid", 1, 2, 0, 2)}


def test_without_a_promised_order_nothing_is_counted_as_late(spark: SparkSession) -> None:
    events = _events(spark, "id, seq, state, total", "('a', 2, 'new', 1, 1L, 'a', 1L), ('a', 1, 'old', 1, 1L, 'a', 2L)")
    product = Product("order_book", Line("shop.order_book", 1), ("orders",))
    found = build_product({"orders": events}, product, _PRODUCT, {"orders": contract("orders", _EVENT)})
    assert _rows(found) == {"a": ("valid", "old", 1, 2, None, None)}


def test_sequence_across_keys_has_late_events_but_no_gaps(
    spark: SparkSession,
) -> None:
    by_customer = contract("orders", {**_EVENT, "customer": {}}, ordering={"key": ["customer"], "sequence": "seq"})
    columns = "id, seq, state, total, customer"
    every = _events(
        spark,
        columns,
        """('a', 3, 'new', 1, 'c', 1L, 'a', 1L), ('b', 1, 'new', 1, 'c', 1L, 'a', 2L),
           ('b', 4, 'paid', 1, 'c', 2L, 'b', 1L), ('d', 1, 'new', 1, null, 1L, 'a', 3L),
           ('e', 2, 'new', 1, 'other', 1L, 'a', 4L)""",
    )
    product = Product("order_book", Line("shop.order_book", 1), ("orders",))
    of_b = {"orders": every.where("id = 'b'")}
    found = build_product(of_b, product, _PRODUCT, {"orders": by_customer}, sequences={"orders": every})
    assert _rows(found) == {"b": ("valid", "paid", 1, 2, 1, None)}
    found = build_product({"orders": every}, product, _PRODUCT, {"orders": by_customer})
    assert _rows(found) == {
        "a": ("valid", "new", 1, 1, 0, None),
        "b": ("valid", "paid", 1, 2, 1, None),
        "d": ("valid", "new", 1, 1, 0, None),
        "e": ("valid", "new", 1, 1, 0, None),
    }


def test_impossible_product_is_refused(spark: SparkSession) -> None:
    events = _events(spark, "id, seq, state, total", "('a', 2, 'new', 1, 1L, 'a', 1L)")
    product = Product("book", Line("shop.book", 1), ("orders",), deleted_when="nope = 1", at="products/book.yaml:1")
    inputs, contracts = {"orders": events}, {"orders": _ORDERS}
    with pytest.raises(InvalidDocument, match=r"products/book.yaml:1: deleted_when.*`nope` cannot be resolved"):
        build_product(inputs, product, _PRODUCT, contracts)
    with pytest.raises(InvalidDocument, match=r"shop.book 1.0.0 has no primary key"):
        build_product(inputs, product, contract("book", {"id": {}}), contracts)
    with pytest.raises(InvalidDocument, match=r"events of orders have no field 'order_id'; compute .* with sql:"):
        build_product(inputs, product, contract("book", {"order_id": _KEY}), contracts)
    with pytest.raises(InvalidDocument, match="field '_given', which is a column that the pipeline adds"):
        product_columns(contract("book", {"id": _KEY, "_given": {}}))
