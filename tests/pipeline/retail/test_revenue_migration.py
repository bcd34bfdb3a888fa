"""Finance moves from a nightly job to a contract in ten days: parallel runs, findings, a fix, and the cut-over."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from examples.retail.history import Options, write
from examples.retail.legacy_revenue import Order, expected_differences, read_orders, write_mart
from tests.pipeline.projects import SMALL
from treaty.cli.pipeline_project import open_project
from treaty.legacy.differences import DifferenceClass, Disposition
from treaty.legacy.feeds import LegacyFeed
from treaty.pipeline.parallel.classified_rows import differing_rows, explode_differences
from treaty.pipeline.parallel.feed_comparison import compare_feed, read_feed
from treaty.pipeline.parallel.paired_rows import pair_rows
from treaty.pipeline.project.declarations import table_of
from treaty.pipeline.project.emulations import find_compared_feed
from treaty.pipeline.run import RunEnvironment, run_project
from treaty.pipeline.tables import Tables
from treaty.pipeline.tables.table_reader import published_rows
from treaty.registry.model import FindingAnswer, ParallelRunAnswer
from treaty.registry.service import Registry

RETAIL = Path(__file__).parents[3] / "examples" / "retail"
START = date(2026, 3, 1)
DAYS = 10
HISTORY = Options(
    orders=4_000, days=DAYS, start=START, defects=False, late_share=0.0, only=("order_placed", "order_cancelled")
)
"""Four hundred orders a day, half of them in euro."""
EMULATION = "publications/legacy_revenue_files.yaml"
EVENTS = ("retail.orders.order_placed", "retail.orders.order_cancelled")
CAUSED_BY_NEW = {
    (DifferenceClass.MISSING_IN_NEW, ""),
    (DifferenceClass.LATE, "not yet in new"),
    (DifferenceClass.VALUE, "lower in legacy"),
}
"""The class of a finding and its pattern, where the pattern says more than the class."""


@dataclass
class Migration:
    """The project of the example with its own tables and registry, run day by day."""

    folder: Path
    tables: Tables
    registry: Registry
    runs: list[ParallelRunAnswer] = field(default_factory=list)

    @property
    def day(self) -> date:
        """The day of the newest parallel run."""
        return self.runs[-1].as_of

    @property
    def mart(self) -> Path:
        """The folder that the nightly job writes to."""
        return self.folder / "mart"

    @property
    def feed(self) -> LegacyFeed:
        """The legacy feed as the project declares it."""
        return open_project(self.folder, None).project.legacy[0]

    def live_a_day(self) -> ParallelRunAnswer:
        """Let the events of a day arrive, run the nightly job and the pipeline, and compare them."""
        night = len(self.runs) + 1
        for event in EVENTS:
            name = f"{event}/part-{night:04}.jsonl"
            (self.folder / "landing" / event).mkdir(parents=True, exist_ok=True)
            shutil.copy(self.folder / "history" / name, self.folder / "landing" / name)
        self.runs.append(self.compare(START + timedelta(days=night - 1)))
        return self.runs[-1]

    def compare(self, day: date) -> ParallelRunAnswer:
        """Run the nightly job, the pipeline and the comparison of a day."""
        write_mart(self.orders(day), self.mart, day)
        self.run_pipeline(day)
        opened = open_project(self.folder, None)
        compared = compare_feed(self.tables, opened.project, opened.contracts.by_line, self.feed, day)
        return self.registry.parallel_runs.record(str(compared.line), self.feed.owner, compared.result)

    def run_pipeline(self, day: date) -> None:
        """Run the pipeline at the end of a day."""
        opened = open_project(self.folder, None)
        now = datetime(day.year, day.month, day.day, 23, 59, tzinfo=UTC)
        contracts = dict(opened.contracts.by_line)
        summary = run_project(self.tables, opened.project, contracts, environment=RunEnvironment(), now=now)
        assert summary.unsuccessful == ()

    def orders(self, day: date) -> list[Order]:
        """Return the orders that had arrived by the end of a day."""
        return read_orders(self.folder / "landing", (day - START).days + 1)

    def differences(self, name: str = "legacy_revenue") -> set[tuple[str, str, str]]:
        """Return all differences of the newest day by key, column and class, of the feed or of its emulation."""
        project = open_project(self.folder, None).project
        feed = find_compared_feed(project, name)
        publication = next(
            one for one in project.publications if feed.comparison and one.name == feed.comparison.publication
        )
        _, new = published_rows(self.tables, table_of(publication))
        assert feed.comparison is not None
        paired = pair_rows(read_feed(self.tables.spark, feed), new, feed, feed.comparison)
        rows = explode_differences(
            differing_rows(paired, feed), paired, feed, feed.comparison, self.day, frozenset()
        ).collect()
        found = [(row["key"], row["column"], row["class"]) for row in rows]
        assert len(found) == len(set(found))
        return set(found)

    def undecided(self) -> list[FindingAnswer]:
        """Return the findings of the newest day about which nothing is decided."""
        return [one for one in self.registry.parallel_runs.get("legacy_revenue").findings if one.state != "disposed"]

    def fix_the_new_logic(self) -> None:
        """Put the second version of the SQL into the project."""
        shutil.copy(RETAIL / "revenue_migration/sql/finance_order_revenue.sql", self.folder / "sql")

    def serve_the_old_files(self) -> dict[str, list[str]]:
        """Publish the emulation as well, and return the lines of its files by name."""
        shutil.copy(RETAIL / "revenue_migration" / EMULATION, self.folder / EMULATION)
        self.run_pipeline(self.day)
        latest = json.loads((self.folder / "feeds/legacy_revenue_v1/latest.json").read_text())
        folder = self.folder / "feeds/legacy_revenue_v1" / f"run={latest['run']}"
        return {path.name: path.read_text(encoding="iso-8859-1").splitlines() for path in folder.glob("*.csv")}

    def dispose_defects_of_legacy(self) -> None:
        """Decide about all findings that are not caused by the new SQL."""
        for finding in self.undecided():
            if not {(finding.difference_class, finding.pattern), (finding.difference_class, "")} & CAUSED_BY_NEW:
                self.registry.parallel_runs.dispose(
                    "legacy_revenue",
                    finding.fingerprint,
                    disposition=Disposition.DEFECT_IN_LEGACY,
                    owner="Finance Systems",
                    reason="a known defect of the nightly job",
                )


@pytest.fixture(scope="module")
def migration(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Migration]:
    folder = tmp_path_factory.mktemp("migration")
    for part in ("revenue_migration", "contracts", "pipeline/sql"):
        shutil.copytree(RETAIL / part, folder / part)
    project = folder / "revenue_migration"
    (project / EMULATION).unlink()
    write(HISTORY, project / "history")
    shutil.copy(project / "changes/finance_order_revenue.first.sql", project / "sql/finance_order_revenue.sql")
    with Registry.open(str(folder / "registry.db")) as registry:
        for name in ("contracts/policies", "contracts/events", "contracts/products", "revenue_migration/contracts"):
            for file in sorted((folder / name).glob("*.yaml")):
                registry.register(file.read_text())
        session = spark.newSession()
        for key, value in SMALL.items():
            session.conf.set(key, value)
        session.sql("CREATE NAMESPACE IF NOT EXISTS lake.migration")
        yield Migration(project, Tables(session, "lake.migration"), registry)


def test_ten_days_of_a_migration(migration: Migration) -> None:
    first = migration.live_a_day()
    assert migration.differences() == expected_differences(
        migration.orders(migration.day), migration.day, first_version=True
    )
    assert not first.clean

    migration.live_a_day()
    migration.dispose_defects_of_legacy()
    left = {(finding.difference_class.value, finding.column, finding.pattern) for finding in migration.undecided()}
    assert left == {("missing_in_new", "", "channel S"), ("late", "", "not yet in new")}
    migration.live_a_day()
    migration.dispose_defects_of_legacy()
    assert ("value", "sale_amount", "lower in legacy") in {
        (finding.difference_class.value, finding.column, finding.pattern) for finding in migration.undecided()
    }

    migration.fix_the_new_logic()
    while len(migration.runs) < DAYS:
        migration.live_a_day()
        migration.dispose_defects_of_legacy()
        assert migration.undecided() == []
    assert migration.differences() == expected_differences(migration.orders(migration.day), migration.day)
    assert {class_ for _, _, class_ in migration.differences()} == {
        *("duplicate_in_legacy", "identity", "late", "missing_in_legacy", "status")
    }
    clean = [run.clean for run in migration.registry.parallel_runs.list(feed="legacy_revenue").items]
    assert clean == [True] * 7 + [False] * 3  # the newest first

    orders = migration.orders(migration.day)
    delivered = migration.serve_the_old_files()
    assert migration.differences("legacy_revenue_files") == expected_differences(orders, migration.day)
    mart = {path.name: path.read_text(encoding="iso-8859-1").splitlines() for path in migration.mart.glob("*.csv")}
    assert delivered.keys() == mart.keys()
    flawless = {order.order_id for order in orders if order.defect is None}
    assert len(flawless) > 1_500
    for name, lines in mart.items():
        assert delivered[name][0] == lines[0]
        assert rows_of(flawless, delivered[name]) == rows_of(flawless, lines)


def rows_of(numbers: set[str], lines: list[str]) -> list[str]:
    """Return the rows of some orders without the run of the job, which nobody knows any more."""
    return sorted(line.rpartition(";")[0] for line in lines if line.partition(";")[0] in numbers)
