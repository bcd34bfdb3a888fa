"""For any policy, subscription and rows, every path on Spark gives the cells that the read API gives."""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextlib import nullcontext
from pathlib import Path
from typing import Any
from uuid import uuid4

import pyarrow as pa  # type: ignore[import-untyped]
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from pyspark.sql import DataFrame, SparkSession

from tests.serving.publisher import Publisher, Reader, feed_files
from tests.serving.random_views import FIELDS, NOW, POLICIES, PURPOSES, ROWS, cells_of, readable, reader_of
from tests.serving.shop import KEYS, SCHEMA
from treaty.pipeline.project.declarations import ConsumerDelivery, Feed, Format
from treaty.pipeline.sinks.topic.values import json_encoder
from treaty.pipeline.tables import Tables
from treaty.pipeline.tables.consumer_reader import ConsumerRequest, read_for_consumer
from treaty.pipeline.tables.row_changes import SnapshotComparison
from treaty.pipeline.tables.table_reader import ReadRequest
from treaty.policy import EffectiveView, effective_view
from treaty.policy.key_files import key_finder
from treaty.spark.masks import apply_view

VIEWS: dict[str, Any] = {
    "policy": POLICIES,
    "purpose": st.none() | st.sampled_from(PURPOSES),
    "fields": st.lists(st.sampled_from((*FIELDS[1:], "lines[].sku")), unique=True),
    "region": st.none() | st.sampled_from(("eu", "us")),
    "rows": ROWS,
}
QUIET: dict[str, Any] = {"deadline": None, "suppress_health_check": list(HealthCheck)}


def _view(policy: dict[str, Any], purpose: str | None, fields: list[str], region: str | None) -> EffectiveView:
    reader = reader_of(policy, purpose, ["order_id", *fields] if fields else [])
    return effective_view(reader.effective.contract, reader.subscription, region=region)


def _rows(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{"order_id": f"ORD-{number:03}", **row} for number, row in enumerate(rows)]


def _cells(frame: DataFrame) -> dict[str, Any]:
    return cells_of(frame.toArrow())


@settings(max_examples=12, **QUIET)
@given(**VIEWS)
def test_a_data_frame_has_the_cells_of_the_effective_view(
    spark: SparkSession,
    policy: dict[str, Any],
    purpose: str | None,
    fields: list[str],
    region: str | None,
    rows: list[dict[str, Any]],
) -> None:
    view, listed = _view(policy, purpose, fields, region), _rows(rows)

    frame = apply_view(spark.createDataFrame(pa.Table.from_pylist(listed, SCHEMA)), view, key_finder(KEYS), NOW)

    assert _cells(frame) == cells_of(readable(listed, view))


@settings(max_examples=4, **QUIET)
@given(**VIEWS)
def test_tables_views_feeds_topics_and_the_command_line_have_the_cells_of_the_effective_view(
    spark: SparkSession,
    tmp_path_factory: Any,
    policy: dict[str, Any],
    purpose: str | None,
    fields: list[str],
    region: str | None,
    rows: list[dict[str, Any]],
) -> None:
    view, listed = _view(policy, purpose, fields, region), _rows(rows)
    assume(view.refusal is None and rows)
    folder: Path = tmp_path_factory.mktemp("feed")
    has_view = not view.key_names and not view.retention  # a view counts the age of rows from the present
    delivery = ConsumerDelivery(
        "reader", region, Feed(str(folder), Format.JSONL), table="orders", view="orders_view" if has_view else None
    )
    contract = reader_of(policy, purpose, []).effective.contract
    reader = Reader.of("reader", purpose, *(["order_id", *fields] if fields else []))
    publisher = Publisher(Tables(spark, f"lake.t{uuid4().hex}"), contract, (delivery,), {"reader": reader}, KEYS)
    publisher.publish(pa.Table.from_pylist(listed, SCHEMA))

    publisher.deliver(NOW)

    expected = cells_of(readable(listed, view))
    assert _cells(publisher.tables.read("reader.orders")) == expected
    if has_view:
        assert _cells(spark.table(publisher.tables.namespace.full_name("reader.orders_view"))) == expected
    lines = [line for file in feed_files(folder, "reader") for line in file.read_text().splitlines()]
    assert _of_json(lines) == expected
    assert _of_json(_sent_to_a_topic(publisher.tables)) == expected
    request = ConsumerRequest(ReadRequest("orders_v1", limit=1_000), lambda *_: view, key_finder(KEYS), NOW)
    read = read_for_consumer(publisher.tables.catalog, request, lambda: nullcontext(publisher.tables))
    assert _of_json(read.rows.records) == expected


def _sent_to_a_topic(tables: Tables) -> list[bytes]:
    """Return the values of the records that a topic of the reader gets."""
    stamp = tables.stamp("reader.orders")
    assert stamp is not None
    encode = json_encoder(tables.catalog.columns("reader.orders", stamp.snapshot))
    changes = SnapshotComparison(tables.catalog, "reader.orders", None, stamp.snapshot, ["order_id"]).changes()
    return [encode(change.row) for change in changes]


def _of_json(lines: Iterable[str | bytes]) -> dict[str, Any]:
    return {row["order_id"]: row for row in map(_plain, map(json.loads, lines))}


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row with its decimal as a text, as the read API has it; feeds have a number."""
    amount = row.get("amount")
    return {**row, "amount": f"{amount:.2f}"} if isinstance(amount, float) else row
