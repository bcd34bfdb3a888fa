"""`treaty monitor` measures the tables of a project from their metadata, and never starts Spark."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml

from tests.cli.conftest import Treaty
from tests.pipeline.projects import laid_out
from treaty.contracts import contract_from
from treaty.contracts.versions import Line
from treaty.errors import Unavailable
from treaty.pipeline.plan import plan
from treaty.pipeline.project import read_project
from treaty.pipeline.run.monitoring import monitor_tables
from treaty.pipeline.tables import TableCatalog

PLACED = {
    "apiVersion": "v3.2.0",
    "kind": "DataContract",
    "id": "shop.placed",
    "version": "1.0.0",
    "status": "active",
    "team": {"name": "shop"},
    "slaProperties": [{"property": "availability", "value": 99.5, "unit": "percent"}],
    "schema": [{"name": "placed", "properties": [{"name": "order_id", "logicalType": "string", "primaryKey": True}]}],
}
FILES = {
    "treaty.yaml": "name: shop\npipeline: {contracts: [contracts]}\n"
    "spark: {iceberg: {uri: 'jdbc:sqlite:lake.db', warehouse: lake}}\n",
    "sources/placed.yaml": "contract: shop.placed@1\nfiles: landing/*.jsonl\n",
    "contracts/placed.yaml": yaml.safe_dump(PLACED),
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    laid_out(tmp_path, FILES)
    return tmp_path


def test_tables_that_were_never_built_are_named(treaty: Treaty, project: Path) -> None:
    result = treaty("monitor")

    assert (result.code, result.errors) == (0, "")
    assert "events.placed" in result.output
    assert "it was not built yet" in result.output


def test_the_report_is_json_and_follow_is_bounded(treaty: Treaty, project: Path) -> None:
    result = treaty("monitor", "--follow", "--every", "1", "--times", "2", "--format", "json")

    first, second = map(json.loads, result.output.splitlines())
    assert first["tables"] == second["tables"]
    assert first["tables"] == [
        {
            "table": "events.placed",
            "line": "shop.placed@1",
            "measured_by": None,
            "problem": "it was not built yet",
            "availability": None,
            "freshness": None,
            "schema_drift": None,
        }
    ]


def test_a_folder_without_a_project_is_refused(treaty: Treaty, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    result = treaty("monitor", "empty")

    assert result.code == 1
    assert result.errors == "error: empty has no declarations; start with sources/NAME.yaml\n"


class BrokenCatalog(TableCatalog):
    """A catalog whose database does not respond."""

    def load(self, table: str) -> None:
        raise Unavailable(f"the catalog of {table} cannot be reached")


def test_a_table_that_cannot_be_read_is_not_available(project: Path) -> None:
    contract = contract_from(PLACED)
    steps = plan(read_project(project), {Line("shop.placed", 1): contract}).steps
    now = datetime(2026, 3, 1, tzinfo=UTC)
    report = monitor_tables(steps, BrokenCatalog.__new__(BrokenCatalog), "shop", now)

    assert [(one.name, one.value, one.promise, one.state) for one in report.measures] == [
        ("availability", 0.0, 99.5, "failing")
    ]
    assert [check.problem for check in report.checks] == ["the catalog of events.placed cannot be reached"]
