"""Spark's StructType in its JSON form: what `df.schema.json()` gives and `StructType.fromJson` takes."""

from treaty.formats.spark.reading import read
from treaty.formats.spark.writing import write

__all__ = ["read", "write"]
