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
from treaty.cli.parallel_run import declare_feed
from treaty.cli.pipeline_project import open_project
from treaty.errors import Refused
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
from treaty.registry.model import ParallelRunAnswer
from treaty.registry.service import Registry

RETAIL = Path(__file__).parents[3] / "examples" / "retail"
START = date(2026, 3, 1)
DAYS = 10
HISTORY = Options(
    orders=4_000, days=DAYS, start=START, defects=False, late_share=0.0, only=("order_placed", "order_cancelled")
)
"""Four hundred orders a day, half of them in euro."""
FEED = "legacy_revenue"
LINE = "retail.publications.finance_order_revenue@1"
CONSUMERS = {
    "finance": "external_regulatory",
    "support": "operational_reporting",
    "partners": "operational_reporting",
}
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
        declare_feed(self.registry, self.feed, compared.line)
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

    def differences(self, name: str = FEED) -> set[tuple[str, str, str]]:
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

    def undecided(self) -> set[tuple[str, str, str]]:
        """Return the class, column and pattern of the findings of the newest day about which nothing is decided."""
        return {
            (finding.difference_class.value, finding.column, finding.pattern)
            for finding in self.registry.parallel_runs.get(FEED).findings
            if finding.state != "disposed"
        }

    def live_a_clean_day(self) -> None:
        """Live a day on which everything that is found is a known defect of the job."""
        self.live_a_day()
        self.dispose_defects_of_legacy()
        assert self.undecided() == set()

    def clean_runs(self) -> list[bool]:
        """Return which runs are clean by now, the newest first."""
        return [run.clean for run in self.registry.parallel_runs.list(feed=FEED).items]

    def states(self) -> dict[str, str]:
        """Return the state of each consumer."""
        return {one.consumer: one.state.value for one in self.registry.cutovers.get(FEED).consumers}

    def agree(self, consumer: str) -> None:
        """Acknowledge the cut-over of a critical consumer, and approve it as its owner."""
        self.registry.cutovers.acknowledge(FEED, consumer)
        self.registry.cutovers.approve(FEED, consumer)

    def may_cut_over(self, consumer: str) -> bool:
        """Return whether the gate is open for a consumer."""
        return self.registry.cutovers.can_i_cut_over(consumer).answer

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
        for finding in self.registry.parallel_runs.get(FEED).findings:
            facts = {(finding.difference_class, finding.pattern), (finding.difference_class, "")}
            if finding.state != "disposed" and not facts & CAUSED_BY_NEW:
                self.registry.parallel_runs.dispose(
                    FEED,
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
        for consumer, class_ in CONSUMERS.items():
            registry.consumers.subscribe(consumer, LINE, consumer_class=class_, team=consumer)
        session = spark.newSession()
        for key, value in SMALL.items():
            session.conf.set(key, value)
        session.sql("CREATE NAMESPACE IF NOT EXISTS lake.migration")
        yield Migration(project, Tables(session, "lake.migration"), registry)


def test_ten_days_of_a_migration(migration: Migration) -> None:
    defects_are_found_and_fixed(migration)
    finance_cuts_over_and_is_rolled_back_once(migration)
    partners_get_the_old_files(migration)
    the_feed_is_retired(migration)


def defects_are_found_and_fixed(migration: Migration) -> None:
    """Days 1 to 3: defects of the job are set apart from two of the new SQL, which a second version fixes."""
    migration.live_a_day()
    assert migration.differences() == expected_differences(
        migration.orders(migration.day), migration.day, first_version=True
    )

    migration.live_a_day()
    migration.dispose_defects_of_legacy()
    assert migration.undecided() == {("missing_in_new", "", "channel S"), ("late", "", "not yet in new")}
    migration.live_a_day()
    migration.dispose_defects_of_legacy()
    assert ("value", "sale_amount", "lower in legacy") in migration.undecided()
    assert migration.states() == {"finance": "parallel", "support": "parallel", "partners": "parallel"}

    migration.fix_the_new_logic()


def finance_cuts_over_and_is_rolled_back_once(migration: Migration) -> None:
    """Days 4 to 9: three clean runs open the gate, twice."""
    cutovers = migration.registry.cutovers
    for _ in range(3):
        assert not migration.may_cut_over("finance")
        migration.live_a_clean_day()
    migration.agree("finance")
    assert migration.may_cut_over("finance")
    cutovers.cut_over(FEED, "finance")
    assert migration.states() == {"finance": "cut_over", "support": "parallel", "partners": "parallel"}

    cutovers.roll_back(FEED, "finance", reason="a report of the close still reads the mart")
    migration.agree("finance")
    for _ in range(3):
        assert not migration.may_cut_over("finance")
        migration.live_a_clean_day()
    cutovers.cut_over(FEED, "finance")
    assert migration.states() == {"finance": "cut_over", "support": "parallel", "partners": "parallel"}


def partners_get_the_old_files(migration: Migration) -> None:
    """Day 10: every difference that is left is one of the job; its files are made from the new rows."""
    migration.live_a_clean_day()
    orders = migration.orders(migration.day)
    assert migration.differences() == expected_differences(orders, migration.day)
    assert {class_ for _, _, class_ in migration.differences()} == {
        *("duplicate_in_legacy", "identity", "late", "missing_in_legacy", "status")
    }
    assert migration.clean_runs() == [True] * 7 + [False] * 3  # the newest first

    delivered = migration.serve_the_old_files()
    assert migration.differences("legacy_revenue_files") == expected_differences(orders, migration.day)
    mart = {path.name: path.read_text(encoding="iso-8859-1").splitlines() for path in migration.mart.glob("*.csv")}
    assert delivered.keys() == mart.keys()
    flawless = {order.order_id for order in orders if order.defect is None}
    assert len(flawless) > 1_500
    for name, lines in mart.items():
        assert delivered[name][0] == lines[0]
        assert rows_of(flawless, delivered[name]) == rows_of(flawless, lines)


def the_feed_is_retired(migration: Migration) -> None:
    """Day 10: the feed is retired when its last consumer has gone."""
    cutovers = migration.registry.cutovers
    with pytest.raises(Refused, match="support has not cut over"):
        cutovers.retire(FEED)
    for consumer in ("support", "partners"):
        cutovers.acknowledge(FEED, consumer)
        cutovers.cut_over(FEED, consumer)
    cutovers.retire(FEED)
    assert set(migration.states().values()) == {"retired"}


def rows_of(numbers: set[str], lines: list[str]) -> list[str]:
    """Return the rows of some orders without the run of the job, which nobody knows any more."""
    return sorted(line.rpartition(";")[0] for line in lines if line.partition(";")[0] in numbers)
