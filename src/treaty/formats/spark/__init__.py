"""Spark's StructType as JSON, as `df.schema.json()` writes and `StructType.fromJson` reads it."""

from treaty.formats.spark.reader import read
from treaty.formats.spark.writer import write

__all__ = ["read", "write"]
