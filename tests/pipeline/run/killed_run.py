"""A run of the kiosk that is killed while it sends: killed_run FOLDER NAMESPACE URI WAREHOUSE."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from tests.pipeline.projects import SMALL
from tests.pipeline.run.kiosk import Kiosk
from treaty.pipeline.sinks.topic.producer import TopicProducer
from treaty.pipeline.sinks.topic.records import Record
from treaty.pipeline.tables import Tables
from treaty.spark.session import spark_session
from treaty.spark.session_options import IcebergCatalog, SparkOptions, Start


def main(folder: str, namespace: str, uri: str, warehouse: str) -> None:
    """Run, and die after the second record of the transaction."""
    produce, sent = TopicProducer.produce, list[Record]()

    def produce_and_die(self: TopicProducer, record: Record) -> None:
        produce(self, record)
        sent.append(record)
        if len(sent) == 2:
            os.kill(os.getpid(), signal.SIGKILL)

    TopicProducer.produce = produce_and_die  # type: ignore[method-assign]
    lake = IcebergCatalog(uri.partition("?")[0], warehouse, name="lake")
    spark = spark_session(SparkOptions("local[2]", catalog=lake, conf=SMALL, start=Start.FAST))
    Kiosk(Path(folder), Tables(spark, namespace)).run()


if __name__ == "__main__":
    main(*sys.argv[1:])
