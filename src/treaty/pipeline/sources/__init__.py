"""Sources: what is new in files, a database table or topics, as raw rows.

Each kind of source is one entry in `KINDS`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pyspark.sql import SparkSession

from treaty.pipeline.project.declarations import Files, Jdbc, Kafka, Source
from treaty.pipeline.sources.arrivals import ArrivalRequest, Arrivals
from treaty.pipeline.sources.file_listing import is_listed_by_spark
from treaty.pipeline.sources.files import find_new_files, new_in_files
from treaty.pipeline.sources.jdbc import new_in_table
from treaty.pipeline.sources.kafka import new_in_topics
from treaty.pipeline.sources.ledger import NO_FILES, FileOutcome, KnownFiles, Ledger, SeenFiles

KINDS: Mapping[type[Any], Callable[[SparkSession, Source, Any, ArrivalRequest], Arrivals]] = {
    Files: new_in_files,
    Jdbc: new_in_table,
    Kafka: new_in_topics,
}
"""What reads new rows, by the kind of origin."""


def read_arrivals(spark: SparkSession, source: Source, request: ArrivalRequest) -> Arrivals:
    """Return what is new in a source, as raw rows; nothing is written."""
    return KINDS[type(source.origin)](spark, source, source.origin, request)


__all__ = [
    "KINDS",
    "NO_FILES",
    "ArrivalRequest",
    "Arrivals",
    "FileOutcome",
    "KnownFiles",
    "Ledger",
    "SeenFiles",
    "find_new_files",
    "is_listed_by_spark",
    "read_arrivals",
]
