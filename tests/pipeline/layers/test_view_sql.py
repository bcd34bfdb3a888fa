"""Publications as views: pinned to audited snapshots, with exactly the columns of the contract."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.documents import contract
from treaty.contracts.versions import Line
from treaty.errors import Conflict, InvalidDocument
from treaty.pipeline.layers.publications.view_sql import PinnedInput, view_query
from treaty.pipeline.project.declarations import Delay, Form, Publication, Redacted, Redaction, Sql
from treaty.pipeline.tables.ddl import create_view, view_stamp
from treaty.pipeline.tables.layout import TableNamespace
from treaty.pipeline.tables.snapshots import NewStamp

NOW = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
SALES = contract(
    [
        {"name": "order_id", "logicalType": "string", "primaryKey": True},
        {"name": "gross", "logicalType": "number", "physicalType": "decimal(14,2)"},
        {"name": "address", "logicalType": "object", "properties": [{"name": "city"}, {"name": "country"}]},
        {"name": "remark", "logicalType": "string"},
    ]
)


def _sql(text: str) -> Sql:
    return Sql(Path("sql/sales.sql"), text)


VIEW = Publication(
    "sales",
    Line("orders", 1),
    ("orders",),
    "sales_v1",
    form=Form.VIEW,
    at="publications/sales.yaml:1",
    sql=_sql("WITH x AS (SELECT * FROM orders) SELECT x.*, 1 AS extra FROM x; -- all"),
    redacted=(Redacted("address.city", Redaction.CONSTANT, "it's a ${secret}"),),
    delay=Delay("settled_at", timedelta(hours=24)),
)
STAMP = NewStamp(7, {"products.orders": 6}, "orders 1.0.0", "it's \\ ${digest}", {"published": 1})
INSERT = """
INSERT INTO {table}
SELECT order_id, gross, named_struct('city', city, 'country', 'CH'), settled_at, _outcome FROM VALUES
  ('{key}1', 1.5, 'Bern', timestamp'2026-01-01 00:00:00', 'valid'),
  ('{key}2', 2.5, 'Bern', timestamp'2126-01-01 00:00:00', 'valid'),
  ('{key}3', 3.5, 'Bern', timestamp'2026-01-01 00:00:00', 'quarantined')
AS t(order_id, gross, city, settled_at, _outcome)"""


def orders(spark: SparkSession, place: TableNamespace) -> PinnedInput:
    """Create a table with three rows, two of them current and one visible, and return its stamp."""
    table = place.full_name("products.orders")
    spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {place.name}")
    spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {place.layer_namespace('products')}")
    spark.sql(
        f"CREATE TABLE {table} (order_id string, gross decimal(12,2), address struct<city: string, country: string>, "
        "settled_at timestamp, _outcome string)"
    )
    spark.sql(INSERT.format(table=table, key="a"))
    snapshot = spark.sql(f"SELECT snapshot_id FROM {table}.snapshots").collect()[0][0]  # noqa: S608
    return PinnedInput(table, snapshot, ("order_id", "gross", "address", "settled_at"), ("valid", "resolved"))


def test_view_shows_current_visible_rows_of_the_pinned_snapshot(any_spark: SparkSession) -> None:
    kind = "connect" if "connect" in type(any_spark).__module__ else "classic"
    place = TableNamespace(f"lake.views_{kind}")
    pinned = orders(any_spark, place)
    assert view_stamp(any_spark, place, "publications.sales_v1") is None
    query = view_query(any_spark, VIEW, SALES, {"orders": pinned})
    create_view(any_spark, place, "publications.sales_v1", query.text, STAMP, NOW)
    any_spark.sql(INSERT.format(table=pinned.table, key="b"))
    seen = any_spark.table(place.full_name("publications.sales_v1"))
    assert [f"{item.name} {item.dataType.simpleString()}" for item in seen.schema] == [
        "order_id string",
        "gross decimal(14,2)",
        "address struct<city:string,country:string>",
        "remark string",
    ]
    assert [(row[0], row[2]["city"], row[3]) for row in seen.collect()] == [("a1", "it's a ${secret}", None)]
    assert [row[0] for row in any_spark.sql(query.without_delay).orderBy("order_id").collect()] == ["a1", "a2"]
    found = view_stamp(any_spark, place, "publications.sales_v1")
    assert found
    assert (found.run, found.digest, found.reflects, found.committed_at) == (
        7,
        STAMP.digest,
        {"products.orders": 6},
        NOW,
    )

    plain = view_query(any_spark, replace(VIEW, sql=None, delay=None, redacted=()), SALES, {"orders": pinned})
    create_view(any_spark, place, "publications.sales_v1", plain.text, replace(STAMP, run=8), NOW)
    assert any_spark.table(place.full_name("publications.sales_v1")).count() == 2
    assert view_stamp(any_spark, place, "publications.sales_v1").run == 8  # type: ignore[union-attr]
    with pytest.raises(Conflict, match=r"products\.orders is a table, so it cannot become a view"):
        create_view(any_spark, place, "products.orders", plain.text, STAMP, NOW)


def test_impossible_view_is_refused(spark: SparkSession) -> None:
    pinned = orders(spark, TableNamespace("lake.views_refused"))
    refused: dict[str, Any] = {
        "cannot be hashed in a view": {"redacted": (Redacted("order_id", Redaction.HASH),)},
        "is double, but orders@1 requires decimal": {"sql": _sql("SELECT 1D AS gross, * EXCEPT (gross) FROM orders")},
        "requires 'order_id', but sql/sales.sql": {"sql": _sql("SELECT gross, address, settled_at FROM orders")},
        "sql/sales.sql:2: ": {"sql": _sql("SELECT\n nothing FROM orders")},
        "'when', which does not exist": {"delay": Delay("when", timedelta(1))},
    }
    for says, change in refused.items():
        with pytest.raises(InvalidDocument, match=says):
            view_query(spark, replace(VIEW, **change), SALES, {"orders": pinned})
