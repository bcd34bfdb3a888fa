"""PyIceberg, without Spark or Treaty, reads the same rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.table import DataScan
from pyspark.sql import SparkSession

from tests.pipeline.retail.retailer import Retailer, plain

_TABLES = {
    "products.order_capture": "order_id",
    "publications.finance_recognized_sale_v2": "recognition_entry_id",
}
"""A product and a publication with nested fields, deletes and two published states, and their keys."""

_LISTS = ("_violations",)


@pytest.fixture
def catalog(spark: SparkSession) -> Iterator[SqlCatalog]:
    """The catalog of the session, opened with PyIceberg."""
    uri = spark.conf.get("spark.sql.catalog.lake.uri")
    assert uri is not None
    warehouse = spark.conf.get("spark.sql.catalog.lake.warehouse")
    path = uri.removeprefix("jdbc:sqlite:").partition("?")[0]
    opened = SqlCatalog("lake", uri=f"sqlite:///{path}", warehouse=f"file://{warehouse}", init_catalog_tables="false")
    yield opened
    opened.close()


@pytest.mark.parametrize("table", _TABLES)
def test_pyiceberg_reads_the_same_rows_as_spark(retailer: Retailer, catalog: SqlCatalog, table: str) -> None:
    read = catalog.load_table(("retail", *table.split(".")))
    seen = {}
    for wave in (1, 2):
        stamp = retailer.stamp(table, wave)
        seen[wave] = _by(_TABLES[table], _read(read.scan(snapshot_id=stamp.snapshot)))
        assert seen[wave] == _by(_TABLES[table], list(map(_without_no_lists, retailer.rows(table, wave))))

    assert seen[1] != seen[2]
    assert _by(_TABLES[table], _read(read.scan())) == seen[2]
    current = read.current_snapshot()
    assert current is not None
    assert current.summary is not None
    assert current.summary["treaty.run"] == str(retailer.summaries[1].run)
    assert read.properties["treaty.contract"].startswith("retail.")


def _read(scan: DataScan) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = scan.to_arrow().to_pylist(maps_as_pydicts="strict")
    return [plain(row) for row in rows]


def _without_no_lists(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row as PyIceberg does: null lists are empty lists."""
    return {name: [] if value is None and name in _LISTS else value for name, value in row.items()}


def _by(key: str, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(rows, key=lambda row: str(row[key]))
