"""Opening the tables of a project for a command: a session that was started for it is stopped again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from treaty.cli.progress import told_steps
from treaty.errors import InvalidDocument

if TYPE_CHECKING:
    from treaty.pipeline.tables import Tables
    from treaty.settings import Settings
    from treaty.spark.options import SparkOptions


@contextmanager
def opened_tables(settings: Settings, spark: SparkOptions) -> Iterator[Tables]:
    """Open the tables in the catalog that is set."""
    from treaty.pipeline.tables import Tables
    from treaty.spark.session import active_session, spark_session

    if spark.catalog is None:
        where = settings.source or "treaty.yaml"
        raise InvalidDocument(f"{where} names no catalog of tables; set spark.iceberg.uri and spark.iceberg.warehouse")
    running = active_session()
    with told_steps() as steps:
        steps.tell("starting Spark")
        session = running or spark_session(spark)
        try:
            steps.tell("looking at tables")
            yield Tables(session, spark.catalog.name)
        finally:
            if running is None:
                steps.tell("stopping Spark")
                session.stop()
