"""Spark's StructType in its JSON form: what `df.schema.json()` gives and `StructType.fromJson` takes."""

from treaty.formats.spark.reader import read
from treaty.formats.spark.writer import write

__all__ = ["read", "write"]
