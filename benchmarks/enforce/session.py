"""The Spark session of every contender: the same cores, memory and settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SETTINGS = {
    "spark.driver.memory": "2g",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "4",
    "spark.python.sql.dataFrameDebugging.enabled": "false",  # as `treaty` starts Spark; it costs whoever builds columns
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}


def session(scratch: str, more: Mapping[str, str]) -> SparkSession:
    """Start Spark on two cores."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]")
    for name, value in {**SETTINGS, "spark.local.dir": scratch, **more}.items():
        builder = builder.config(name, value)
    started = builder.getOrCreate()
    started.sparkContext.setLogLevel("ERROR")
    return started
