"""Sources: what is new in files or a database table, as raw rows. Each kind of source is one entry in `KINDS`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pyspark.sql import SparkSession

from treaty.pipeline.project.declarations import Files, Jdbc, Source
from treaty.pipeline.sources.arrivals import ArrivalRequest, Arrivals
from treaty.pipeline.sources.files import new_in_files
from treaty.pipeline.sources.jdbc import new_in_table
from treaty.pipeline.sources.known_files import files_table, known_files, remember_files

KINDS: Mapping[type[Any], Callable[[SparkSession, Source, Any, ArrivalRequest], Arrivals]] = {
    Files: new_in_files,
    Jdbc: new_in_table,
}
"""What reads new rows, by the kind of origin."""


def read_arrivals(spark: SparkSession, source: Source, request: ArrivalRequest) -> Arrivals:
    """Return what is new in a source, as raw rows; nothing is written."""
    return KINDS[type(source.origin)](spark, source, source.origin, request)


__all__ = ["KINDS", "Arrivals", "ArrivalRequest", "files_table", "known_files", "read_arrivals", "remember_files"]
