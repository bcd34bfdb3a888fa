"""Runs without new data: every step is skipped from metadata alone; time counts only where rows wait for it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

from pyspark.sql import SparkSession

from tests.pipeline.layers.arrivals import contract
from tests.pipeline.projects import laid_out
from tests.pipeline.run.kiosk import NOW, deliver
from treaty.contracts.versions import Line
from treaty.pipeline.project import read_project
from treaty.pipeline.run import Outcome, RunSummary, run_project
from treaty.pipeline.tables import Tables

FILES = {
    "sources/seen.yaml": "contract: shop.seen@1\nfiles: landing/seen/*.jsonl\n",
    "products/bikes.yaml": "contract: shop.bikes@1\nfrom: [seen]\n",
    "publications/at_once.yaml": "contract: shop.at_once@1\nfrom: [bikes]\nas: view\n",
    "publications/later.yaml": "contract: shop.later@1\nfrom: [bikes]\ndelay: {by: at, for: 24 h}\n",
}
FIELDS: dict[str, dict[str, Any]] = {"id": {"primaryKey": True, "required": True}, "at": {"logicalType": "timestamp"}}
CONTRACTS = {Line(f"shop.{name}", 1): contract(name, FIELDS) for name in ("seen", "bikes", "at_once", "later")}


class _NoSpark:
    """A session that must not be used."""

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"Spark was started for {name}")


@dataclass(frozen=True)
class _Bikes:
    folder: Path
    tables: Tables

    def run(self, hours: int) -> RunSummary:
        return run_project(self.tables, read_project(self.folder), dict(CONTRACTS), now=NOW + timedelta(hours=hours))

    def run_without_spark(self, hours: int) -> set[Outcome]:
        tables = Tables(cast("SparkSession", _NoSpark()), self.tables.namespace.name, self.tables.catalog)
        summary = _Bikes(self.folder, tables).run(hours)
        assert summary.succeeded, [step.reasons for step in summary.steps]
        return {step.outcome for step in summary.steps}

    def ids(self, table: str) -> list[str]:
        return sorted(row["id"] for row in self.tables.read(table).collect())


def test_views_and_delayed_rows_need_spark_only_when_something_changes(spark: SparkSession, tmp_path: Path) -> None:
    laid_out(tmp_path, FILES)
    bikes = _Bikes(tmp_path, Tables(spark, "lake.unchanged"))
    old, new = ((NOW + timedelta(hours=hours)).isoformat() for hours in (-30, -2))
    deliver(tmp_path, "seen", 1, [{"id": "old", "at": old}, {"id": "new", "at": new}, {"id": "never"}])

    first = bikes.run(0)
    assert first.succeeded, [step.reasons for step in first.steps]
    assert bikes.ids("publications.later_v1") == ["old"]
    assert bikes.run_without_spark(21) == {Outcome.NOTHING_NEW}

    passed = {step.name: step for step in bikes.run(22).steps}["later"]
    assert (passed.outcome, passed.why) == (Outcome.DONE, "time has passed")
    assert bikes.ids("publications.later_v1") == ["new", "old"]
    assert bikes.run_without_spark(1000) == {Outcome.NOTHING_NEW}

    deliver(tmp_path, "seen", 2, [{"id": "more", "at": old}])
    later = bikes.run(1001)
    assert [step.name for step in later.steps if step.outcome is not Outcome.DONE] == []
    rows = spark.table("lake.unchanged.publications.at_once_v1").collect()
    assert sorted(row["id"] for row in rows) == ["more", "never", "new", "old"]
