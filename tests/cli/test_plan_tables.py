"""`treaty plan` and the readers of tables: what is in the lake is looked at without Spark, foreign writes included."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as arrow  # type: ignore[import-untyped]
import pytest

from tests.cli.conftest import Treaty, Write
from treaty.cli.pipeline_project import open_catalog, open_offline
from treaty.pipeline.plan import plan
from treaty.pipeline.tables import NewStamp, TableCatalog
from treaty.pipeline.tables.view_states import record_view_state
from treaty.settings import load_settings

FIELDS = [{"name": "bike_id", "logicalType": "string", "required": True, "primaryKey": True}]
VIEW = "publications.bikes_now_v1"


@pytest.fixture
def lake(write: Write, tmp_path: Path) -> TableCatalog:
    """A project with a view, and the catalog of its lake."""
    for name in ("seen", "bikes", "now"):
        write(f"contracts/{name}.yaml", {"id": f"bikes.{name}", "status": "active", "fields": FIELDS})
    write("sources/bike_seen.yaml", "contract: bikes.seen@1\nfiles: landing/*.jsonl\n")
    write("products/bikes.yaml", "contract: bikes.bikes@1\nfrom: [bike_seen]\n")
    write("publications/bikes_now.yaml", "contract: bikes.now@1\nfrom: [bikes]\nas: view\ntable: bikes_now_v1\n")
    iceberg = f"{{name: lake, uri: 'jdbc:sqlite:{tmp_path}/lake.db', warehouse: {tmp_path}/lake}}"
    write("treaty.yaml", f"name: bikes\nspark: {{iceberg: {iceberg}}}\n")
    return open_catalog(load_settings(None, start=tmp_path))


def _write(lake: TableCatalog, table: str, stamp: NewStamp | None, **row: str) -> None:
    properties = stamp.properties() if stamp else {}
    lake.open_table(table).append(arrow.Table.from_pylist([row]), snapshot_properties=properties)


def test_a_foreign_write_is_an_error_of_the_plan(treaty: Treaty, lake: TableCatalog) -> None:
    lake.create_table("products.bikes", ["bike_id"], {})
    _write(lake, "products.bikes", NewStamp(7, {}, "bikes.bikes 1.0.0", "", {}), bike_id="A")
    assert [problem["id"] for problem in _plan(treaty)["problems"]] == []

    _write(lake, "products.bikes", None, bike_id="B")

    result = treaty("plan")
    assert result.code == 3
    assert "another process wrote to products.bikes" in " ".join(result.output.split())
    assert [problem["id"] for problem in _plan(treaty)["problems"]] == ["foreign-write"]


def test_readers_without_spark_warn_once_and_show_the_published_rows(
    lake: TableCatalog, capsys: pytest.CaptureFixture[str]
) -> None:
    table = "reconciliation.sales_exceptions"
    lake.create_table(table, ["owner", "state"], {})
    _write(lake, table, NewStamp(7, {}, "bikes.sales 1.0.0", "", {}), owner="Till", state="open")
    _write(lake, table, None, owner="nobody", state="open")

    listed = [lake.read_rows(table, where={"state": {"open"}}), lake.find_rows(table, "state = 'open'", ["owner"])]

    assert [[row["owner"] for row in rows] for rows in listed] == [["Till"], ["Till"]]
    warning = capsys.readouterr().err
    assert warning.startswith(f"warning: another process wrote to {table} ")
    assert warning.count("\n") == 1


def test_plan_knows_a_view_that_was_built(treaty: Treaty, lake: TableCatalog, tmp_path: Path) -> None:
    assert [reason["words"] for reason in _view(treaty)["why"]] == ["it was never built"]
    opened = open_offline(tmp_path, None)
    step = next(one for one in plan(opened.project, opened.contracts.by_line).steps if one.table == VIEW)
    lake.create_table("products.bikes", ["bike_id"], {})
    _write(lake, "products.bikes", NewStamp(7, {}, "bikes.bikes 1.0.0", "", {}), bike_id="A")
    stamp = NewStamp(7, {"products.bikes": 7}, "bikes.now 1.0.0", step.digest, {})
    record_view_state(lake, VIEW, "SELECT 1", stamp, datetime(2026, 1, 1, tzinfo=UTC))

    assert [reason["words"] for reason in _view(treaty)["why"]] == ["products.bikes would change"]


def _plan(treaty: Treaty) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = json.loads(treaty("plan", "--format", "json").output)
    return found


def _view(treaty: Treaty) -> dict[str, Any]:
    return next(step for step in _plan(treaty)["steps"] if step["table"] == VIEW)
