"""Columns that stand in the names of folders, such as day=2026-01-31."""

from __future__ import annotations

from pyspark.sql import SparkSession


def partition_names(spark: SparkSession, path: str) -> list[str]:
    """Return the columns that folders give; it takes a listing, and reads nothing."""
    return [name for name in spark.read.text(path).columns if name != "value"]
