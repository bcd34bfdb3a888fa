"""The kiosk project run by `treaty run` in a separate process; its tables are read with PyIceberg."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.table import Table

from tests.pipeline.projects import SMALL, laid_out
from tests.pipeline.run.kiosk import FILES, contracts, deliver, ordered, paid
from treaty.contracts.loader import document_of
from treaty.spark.jars import default_jar_folder

CATALOG = "lake"
WAVES = 3
_TABLES = (
    *("raw.ordered", "raw.paid", "arrivals._files", "events.ordered", "events.paid"),
    *("products.orders", "products.payments", "reconciliation.sales", "reconciliation.sales_exceptions"),
    "publications.books_v1",
)
_ORDERS = "ABCDEFGH"
_RUN_TIMEOUT_S = 240.0
"""Seconds after which a run counts as hung."""
_LOOK_AGAIN = 0.005
_OF_THIS_RUN = {
    *("_run", "_raw_run", "_arrived_at", "arrived_at", "file_modified", "_file_modified", "first_seen"),
    *("last_seen", "modified", "seen_at", "run"),
}
"""Columns that depend on the time and the files of a run."""
_PATHS = ("file", "_source_file")


def feed(folder: Path, wave: int) -> None:
    """Write a wave of events: changed orders, a duplicate, a truncated line, and payments that partly do not match."""
    orders = [ordered(10 * wave + n, name, wave, 10 * wave + n % 2) for n, name in enumerate(_ORDERS)]
    deliver(folder, "ordered", wave, [*orders, orders[0], "{torn"])
    deliver(folder, "paid", wave, [paid(10 * wave + n, name, 10) for n, name in enumerate(_ORDERS[1:])])


@dataclass(frozen=True)
class Premises:
    """The project in a folder, and the file with the catalog of its tables."""

    folder: Path
    catalog: Path

    @property
    def warehouse(self) -> Path:
        """The folder with the files of the tables."""
        return self.folder / ".treaty" / "tables"

    def start(
        self, *arguments: str, largest_file: int | None = None, spark_home: Path | None = None
    ) -> subprocess.Popen[str]:
        """Start a run in its own process group, so that all its processes can be killed."""

        def limited() -> None:
            if largest_file is not None:
                resource.setrlimit(resource.RLIMIT_FSIZE, (largest_file, largest_file))

        kept = {name: value for name, value in os.environ.items() if not name.startswith(("TREATY_", "SPARK_"))}
        return subprocess.Popen(
            [Path(sys.executable).with_name("treaty"), "run", str(self.folder), "--format", "json", *arguments],
            env={
                **kept,
                "TREATY_SPARK_JARS": str(default_jar_folder()),
                "XDG_STATE_HOME": str(self.folder / "state"),  # no shared Spark of the user
                **({"SPARK_HOME": str(spark_home)} if spark_home else {}),
            },
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            preexec_fn=limited,
        )

    def run(
        self, *arguments: str, largest_file: int | None = None, spark_home: Path | None = None
    ) -> tuple[int, str, str]:
        """Run to the end, and return the exit code, the output and the errors after the start of Spark."""
        started = self.start(*arguments, largest_file=largest_file, spark_home=spark_home)
        try:
            output, errors = started.communicate(timeout=_RUN_TIMEOUT_S)
        finally:
            end(started)
        announced, _, rest = errors.partition("\n")
        return started.returncode, output, rest if announced.startswith("starting Spark") else errors

    def run_until_it_wrote(self, files: int) -> int:
        """Run until a number of new files exist, kill all processes, and return the exit code."""
        enough = self.files() + files
        started = self.start()
        deadline = time.monotonic() + _RUN_TIMEOUT_S
        try:
            while started.poll() is None and self.files() < enough:
                assert time.monotonic() < deadline, "the run neither came there nor ended"
                time.sleep(_LOOK_AGAIN)
        finally:
            end(started)
        return started.returncode

    def files(self) -> int:
        """Count the files of all tables, which shows the progress of a run."""
        return sum(len(names) for _, _, names in os.walk(self.warehouse))

    def tables(self) -> dict[str, Table]:
        """Return the existing tables by name."""
        catalog = SqlCatalog(CATALOG, uri=f"sqlite:///{self.catalog}", init_catalog_tables="false")
        try:
            return {name: catalog.load_table(name) for name in _TABLES if catalog.table_exists(name)}
        finally:
            catalog.close()

    def unpublished(self) -> list[str]:
        """Return the branches with rows that are not published."""
        found = []
        for name, table in self.tables().items():
            seen = {one.snapshot_id for one in table.history()}
            found += [f"{name}.{ref}" for ref, at in table.metadata.refs.items() if at.snapshot_id not in seen]
        return found

    def rows(self) -> dict[str, list[tuple[str, ...]]]:
        """Return the published rows of every table, without columns that depend on the run."""
        return {name: sorted(_read(table)) for name, table in self.tables().items()}


def open_premises(folder: Path, waves: int = 0) -> Premises:
    """Write the project with its contracts, settings and some waves of events."""
    opened = Premises(folder, folder / ".treaty" / "catalog.db")
    laid_out(folder, FILES)
    for line, contract in contracts().items():
        laid_out(folder, {f"contracts/{line.contract}.yaml": yaml.safe_dump(document_of(contract), sort_keys=False)})
    settings = {
        "name": "kiosk",
        "pipeline": {"contracts": ["contracts"]},
        "spark": {
            "master": "local[2]",
            "memory": "700m",
            "conf": SMALL,
            "iceberg": {
                "name": CATALOG,
                "uri": f"jdbc:sqlite:{opened.catalog}",
                "warehouse": str(opened.warehouse),
            },
        },
    }
    laid_out(folder, {"treaty.yaml": yaml.safe_dump(settings)})
    for wave in range(1, waves + 1):
        feed(folder, wave)
    return opened


def end(started: subprocess.Popen[str]) -> None:
    """Kill a run with all its processes, and return its exit code."""
    if started.poll() is None:
        os.killpg(started.pid, signal.SIGKILL)
        started.communicate()


def _read(table: Table) -> list[tuple[str, ...]]:
    rows: list[dict[str, Any]] = table.scan().to_arrow().to_pylist()
    kept = [row for row in rows if row.get("state") != "resolved"]
    return [tuple(_shown(name, value) for name, value in row.items() if name not in _OF_THIS_RUN) for row in kept]


def _shown(name: str, value: Any) -> str:
    return Path(value).name if name in _PATHS and value else repr(value)
