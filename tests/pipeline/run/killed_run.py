"""A run of the kiosk that is killed at a moment: killed_run FOLDER NAMESPACE URI WAREHOUSE MOMENT."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from enum import StrEnum
from pathlib import Path

from tests.pipeline.projects import SMALL
from tests.pipeline.run.kiosk import Kiosk
from treaty.pipeline.sinks.topic.producer import TopicProducer
from treaty.pipeline.sinks.topic.records import Record
from treaty.pipeline.tables import Staged, Stamp, Tables
from treaty.spark.jars import Package
from treaty.spark.session import spark_session
from treaty.spark.session_options import IcebergCatalog, SparkOptions, Start

LAST_RAW_TABLE = "raw.paid"


class Moment(StrEnum):
    """When the run is killed."""

    RAW_STAGED = "before the last raw rows are committed"
    RAW_PUBLISHED = "between raw rows and events"
    SENDING = "after the second record of a transaction"


def run_until_killed(kiosk: Kiosk, moment: Moment) -> subprocess.CompletedProcess[str]:
    """Run the kiosk in a process of its own, and return how it ended."""
    spark = kiosk.tables.spark
    lake = [spark.conf.get(f"spark.sql.catalog.lake.{name}") or "" for name in ("uri", "warehouse")]
    return subprocess.run(
        [sys.executable, "-m", __name__, str(kiosk.folder), kiosk.tables.namespace.name, *lake, moment],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _die_at(moment: Moment) -> None:
    """Change the methods that the moment is in."""
    produce, publish, sent = TopicProducer.produce, Staged.publish, list[Record]()

    def produce_two(self: TopicProducer, record: Record) -> None:
        produce(self, record)
        sent.append(record)
        if len(sent) == 2:
            _die()

    def publish_no_raw_rows(self: Staged) -> Stamp:
        if self.table == LAST_RAW_TABLE:
            _die()
        return publish(self)

    def publish_raw_rows(self: Staged) -> Stamp:
        stamp = publish(self)
        if self.table == LAST_RAW_TABLE:
            _die()
        return stamp

    match moment:
        case Moment.SENDING:
            TopicProducer.produce = produce_two  # type: ignore[method-assign]
        case Moment.RAW_STAGED:
            Staged.publish = publish_no_raw_rows  # type: ignore[method-assign]
        case Moment.RAW_PUBLISHED:
            Staged.publish = publish_raw_rows  # type: ignore[method-assign]


def main(folder: str, namespace: str, uri: str, warehouse: str, moment: str) -> None:
    """Run, and die at the moment."""
    _die_at(Moment(moment))
    lake = IcebergCatalog(uri.partition("?")[0], warehouse, name="lake")
    options = SparkOptions("local[2]", packages=frozenset({Package.KAFKA}), catalog=lake, conf=SMALL, start=Start.FAST)
    summary = Kiosk(Path(folder), Tables(spark_session(options), namespace)).run()
    sys.exit("\n".join(reason for step in summary.steps for reason in step.reasons) or "the run was not killed")


if __name__ == "__main__":
    main(*sys.argv[1:])
