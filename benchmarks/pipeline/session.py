"""The Spark session of both contenders: the same cores, memory, partitions, compiler and catalog."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from treaty.spark.session_options import IcebergCatalog

LONG_WORK, SHORT_COMMAND = "THROUGHPUT", "FAST"
"""How the Java of a session is started, by the names that `treaty.spark.session_options.Start` has."""


@dataclass(frozen=True)
class Given:
    """What Spark is given."""

    memory: str = "6g"
    partitions: int = 8
    start: str = LONG_WORK

    def __str__(self) -> str:
        return f"Spark on local[*] with {self.memory} and {self.partitions} shuffle partitions"


def session(folder: Path, name: str, given: Given) -> SparkSession:
    """Start Spark with the catalog of a workspace under a name; what it spills lies there too."""
    from treaty.spark.session import spark_session
    from treaty.spark.session_options import SparkOptions, Start

    conf = {"spark.sql.shuffle.partitions": str(given.partitions), "spark.local.dir": str(folder / "local")}
    return spark_session(
        SparkOptions(memory=given.memory, start=Start[given.start], catalog=catalog(folder, name), conf=conf)
    )


def catalog(folder: Path, name: str) -> IcebergCatalog:
    """Return the catalog of a workspace; tables are kept under its name, so that no other name finds them."""
    from treaty.spark.session_options import IcebergCatalog

    lake = folder / "lake"
    return IcebergCatalog(f"jdbc:sqlite:{lake}/catalog.db", str(lake / "tables"), name)
