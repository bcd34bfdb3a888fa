"""The retailer's project, run on a history that arrives in two parts."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from examples.retail.history import Options, write
from tests.pipeline.projects import SMALL
from tests.pipeline.retail.observed_outcomes import ObservedOutcomes, observe_outcomes
from treaty.cli.pipeline_project import open_project
from treaty.pipeline.run import RunEnvironment, RunSummary, run_project
from treaty.pipeline.tables import Stamp, Tables

RETAIL = Path(__file__).parents[3] / "examples" / "retail"
HISTORY = Options(orders=1_000, seed=7, days=30, batch="week")
"""The history of the README; a thousand orders have every kind of defect."""
SECRET = "known to the retailer only"  # noqa: S105
NOW = datetime(2026, 6, 1, tzinfo=UTC)


@dataclass
class Retailer:
    """A copy of the project with its own tables, and the outcomes after each wave."""

    folder: Path
    tables: Tables
    summaries: list[RunSummary] = field(default_factory=list)
    observed: list[ObservedOutcomes] = field(default_factory=list)

    @property
    def landing(self) -> Path:
        """The folder with the events and the ledgers."""
        return self.folder / "landing"

    def hear(self) -> None:
        """Generate the next wave, run the project, and record the outcomes."""
        wave = len(self.summaries) + 1
        write(replace(HISTORY, wave=wave), self.landing)
        opened = open_project(self.folder, None)
        contracts = dict(opened.contracts.by_line)
        now = NOW + timedelta(days=wave)
        self.summaries.append(
            run_project(self.tables, opened.project, contracts, environment=RunEnvironment(hash_secret=SECRET), now=now)
        )
        assertions = [
            assertion.name
            for reconciliation in opened.project.reconciliations
            for assertion in reconciliation.assertions
        ]
        self.observed.append(observe_outcomes(self.tables, self.landing, assertions))

    def stamp(self, table: str, wave: int) -> Stamp:
        """Return the stamp that the run of a wave published."""
        run = self.summaries[wave - 1].run
        return next(stamp for stamp in self.tables.stamps(table) if stamp.run == run)

    def rows(self, table: str, wave: int = 2) -> list[dict[str, Any]]:
        """Return the rows of a table that readers saw after a wave."""
        found = self.tables.read(table, self.stamp(table, wave)).collect()
        return [plain(row.asDict(recursive=True)) for row in found]


def plain(value: Any) -> Any:
    """Return a comparable value: timestamps in UTC, which Spark returns in the local time zone."""
    if isinstance(value, datetime):
        return value.astimezone(UTC)
    if isinstance(value, dict):
        return {name: plain(inside) for name, inside in value.items()}
    return [plain(inside) for inside in value] if isinstance(value, list) else value


def open_retailer(spark: SparkSession, folder: Path, name: str) -> Retailer:
    """Copy the project of the example and its contracts, with tables in a separate namespace."""
    for part in ("pipeline", "contracts"):
        shutil.copytree(RETAIL / part, folder / part, ignore=shutil.ignore_patterns(".treaty", "landing", "feeds"))
    session = spark.newSession()
    for key, value in SMALL.items():
        session.conf.set(key, value)
    session.sql(f"CREATE NAMESPACE IF NOT EXISTS lake.{name}")
    return Retailer(folder / "pipeline", Tables(session, f"lake.{name}"))
