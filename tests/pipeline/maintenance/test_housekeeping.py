"""Housekeeping over many small runs: files, metadata and snapshots stay bounded, and nothing that is needed goes."""

from __future__ import annotations

import os
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa  # type: ignore[import-untyped]
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import types as spark_types

from treaty.errors import NotFound
from treaty.pipeline.maintenance.housekeeping import maintain_all, maintain_changed
from treaty.pipeline.maintenance.retention import Retention
from treaty.pipeline.tables import NewStamp, Tables, layout
from treaty.pipeline.tables.table_files import folder_bytes
from treaty.pipeline.tables.table_reader import ReadRequest, read_table

TABLE = "products.orders"
COLUMNS = spark_types.StructType(
    [
        spark_types.StructField("order_id", spark_types.StringType()),
        spark_types.StructField("_outcome", spark_types.StringType()),
        spark_types.StructField("_run", spark_types.LongType()),
    ]
)


def _append(tables: Tables, run: int) -> None:
    """Append one row as a run does, through PyIceberg, which is faster than Spark."""
    row = {"order_id": f"order {run}", "_outcome": "valid", "_run": run}
    rows = pa.Table.from_pylist([row])
    stamp = NewStamp(run, {}, "shop.orders 1.0.0", "", {})
    tables.catalog.open_table(TABLE).append(rows, snapshot_properties=stamp.properties())


def _sizes(tables: Tables) -> tuple[int, int, int]:
    """Return the number of snapshots and of files, and the size of the newest metadata."""
    table = tables.catalog.open_table(TABLE)
    metadata = os.path.getsize(table.metadata_location.removeprefix("file://"))  # noqa: PTH202
    return len(table.metadata.snapshots), folder_bytes(tables.catalog, TABLE)[0], metadata


def test_a_hundred_small_runs_leave_a_bounded_table(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout, "DATA_FILE_LIMIT", 45)
    tables = Tables(spark, "lake.housekeeping")
    tables.ensure(TABLE, COLUMNS, {"write.metadata.previous-versions-max": "5"})
    later = datetime.now(UTC) + timedelta(days=31)
    sizes, compacted, treated = [], 0, 0
    for run in range(1, 101):
        _append(tables, run)
        upkeep = maintain_changed(tables, (TABLE,), Retention(30, 20), later)
        treated += bool(upkeep.tables)
        compacted += len(upkeep.compacted)
        assert upkeep.problems == ()
        if run % 5 == 4:
            sizes.append(_sizes(tables))
    assert [stamp.run for stamp in tables.stamps(TABLE)][:20] == list(range(100, 80, -1))
    assert tables.read(TABLE).count() == 100
    assert compacted >= 1
    assert treated < 15  # most runs pay nothing
    assert max(snapshots for snapshots, _, _ in sizes) <= 20 + 20 + 2
    assert max(files for _, files, _ in sizes) <= 200  # without housekeeping there are more than 300
    assert max(size for _, _, size in sizes[10:]) <= 1.1 * max(size for _, _, size in sizes[:10])

    oldest = tables.stamps(TABLE)[-1]
    with pytest.raises(NotFound, match=rf"the oldest state of products.orders that is kept is of run {oldest.run} "):
        read_table(tables.catalog, ReadRequest(TABLE, as_of="3"), lambda: nullcontext(tables))
    with pytest.raises(NotFound, match="states are kept for 30 days and the last 20 runs"):
        read_table(tables.catalog, ReadRequest(TABLE, as_of="2026-01-01"), lambda: nullcontext(tables))
    as_of = read_table(
        tables.catalog, ReadRequest(TABLE, as_of=str(oldest.run), limit=1000), lambda: nullcontext(tables)
    )
    assert len(as_of.rows) == oldest.run


def test_dry_run_counts_what_maintenance_then_removes(spark: SparkSession) -> None:
    tables = Tables(spark, "lake.dry_upkeep")
    tables.ensure(TABLE, COLUMNS, {})
    for run in range(1, 6):
        _append(tables, run)
    folder = Path(tables.catalog.open_table(TABLE).location().removeprefix("file://"))
    old, new = folder / "data" / "left-by-a-crash.parquet", folder / "data" / "being-written.parquet"
    for file in (old, new):
        file.write_text("rows")
    now = datetime.now(UTC)
    os.utime(old, (now.timestamp() - 4 * 86_400,) * 2)
    planned = maintain_all(tables, (TABLE,), Retention(0, 2), now, dry_run=True)
    assert (old.exists(), len(tables.stamps(TABLE))) == (True, 5)
    done = maintain_all(tables, (TABLE,), Retention(0, 2), now)
    assert planned.removed == done.removed
    assert done.removed.snapshots == 3
    assert (old.exists(), new.exists()) == (False, True)
    assert [stamp.run for stamp in tables.stamps(TABLE)] == [5, 4]
    assert tables.read(TABLE).count() == 5
