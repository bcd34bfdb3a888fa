"""Where rows come from: one file for each kind of source."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pyspark.sql import SparkSession

from treaty.pipeline.project.declarations import Files, Jdbc, Source
from treaty.pipeline.sources.arrivals import Arrivals, Asking
from treaty.pipeline.sources.file_tracking import files_table, known_files, raw_table, remember_files
from treaty.pipeline.sources.files import new_in_files
from treaty.pipeline.sources.jdbc import new_in_table

KINDS: Mapping[type[Any], Callable[[SparkSession, Source, Any, Asking], Arrivals]] = {
    Files: new_in_files,
    Jdbc: new_in_table,
}
"""What finds new rows, by the origin of a source."""


def arrivals(spark: SparkSession, source: Source, asking: Asking) -> Arrivals:
    """Return what is new in a source, as raw rows; nothing is written."""
    return KINDS[type(source.origin)](spark, source, source.origin, asking)


__all__ = ["KINDS", "Arrivals", "Asking", "arrivals", "files_table", "known_files", "raw_table", "remember_files"]
