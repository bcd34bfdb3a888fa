"""Tables as runs write them: sorted by their key in small row groups, with deletes, and read by the read API."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from tests.pipeline.tables.orders import place_of
from treaty.pipeline.tables import NewStamp, Tables
from treaty.pipeline.tables.layout import point_read_layout
from treaty.serving.conditions import Comparison, Condition
from treaty.serving.published_table import LoadedTable, PublishedSnapshot, PublishedTable
from treaty.serving.row_groups import RowGroupReader

TABLE = "publications.orders_v1"
ROWS = 60_000


def published(tables: Tables) -> PublishedTable:
    def load() -> LoadedTable:
        loaded, stamps = tables.catalog.open_published(TABLE)
        listed = (PublishedSnapshot(one.snapshot, one.run, "1.0.0", one.committed_at) for one in stamps)
        return LoadedTable(loaded, tuple(listed))

    clock = iter(range(0, 10**6, 10))
    return PublishedTable(load, lambda: float(next(clock)))


def read(table: PublishedTable, *conditions: Condition) -> list[Any]:
    snapshot = table.snapshot()
    schema, io = table.schema(snapshot), table.loaded().table.io
    return list(RowGroupReader().read(io, table.files(snapshot), schema, schema.names, conditions))


def test_rows_are_sorted_found_by_key_and_stay_so(spark: SparkSession, request: pytest.FixtureRequest) -> None:
    tables = Tables(spark, place_of(request))
    numbers = spark.range(ROWS).select(
        F.concat(F.lit("ORD-"), F.lpad(F.xxhash64("id").cast("string"), 20, "0")).alias("order_id"),
        F.sha2(F.col("id").cast("string"), 512).alias("note"),
    )
    tables.ensure(TABLE, numbers.schema, point_read_layout(["order_id"]))
    staged = tables.stage(TABLE, 1)
    staged.append(numbers, NewStamp(1, {}, "shop.orders 1.0.0", "d", {}))
    staged.publish()

    table = published(tables)
    groups = read(table)
    keys = [key for group in groups for key in group.rows["order_id"].to_pylist()]
    wanted = Condition("order_id", Comparison.EQUAL, (keys[12_345],))
    (found,) = read(table, wanted)

    assert len(keys) == ROWS
    assert len(groups) > 3
    assert all(group.rows["order_id"].to_pylist() == sorted(group.rows["order_id"].to_pylist()) for group in groups)
    assert found.rows["order_id"].to_pylist() == [keys[12_345]]

    gone = spark.createDataFrame([(keys[12_345],)], "order_id string")
    staged = tables.stage(TABLE, 2)
    staged.delete_keys(gone, ["order_id"])
    staged.append(numbers.limit(1), NewStamp(2, {}, "shop.orders 1.0.0", "d", {}))
    staged.publish()

    assert read(table, wanted) == []
    assert sum(group.rows.num_rows for group in read(table)) == ROWS

    tables.compact(TABLE)

    compacted = read(table)
    assert table.snapshot().run == 2
    assert sum(group.rows.num_rows for group in compacted) == ROWS
    assert all(one.rows["order_id"].to_pylist() == sorted(one.rows["order_id"].to_pylist()) for one in compacted)
