"""Lines of text as records: their bytes as they are, whether or not they are text."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from treaty.pipeline.layers.raw import COLUMNS
from treaty.pipeline.sources.listing import File

_WHITE = " \t\r"


def lines(spark: SparkSession, files: Sequence[File]) -> DataFrame:
    """Return every line of files as a record, empty ones too, without the newline that ends it.

    Spark reads a text as the bytes that it is, so that what is no UTF-8 stays whole. A byte order mark at the start of
    a file is not part of its first line.
    """
    return _read(spark, files).select("*", F.create_map().cast("map<string,string>").alias("headers")).drop("value")


def lines_below_headers(spark: SparkSession, files: Sequence[File]) -> DataFrame:
    """Return the lines of files that begin with the names of their columns, each with those names beside it."""
    read = _read(spark, files)
    first = read.where(F.trim("value", F.lit(_WHITE)) != "").groupBy("file")
    names = first.agg(F.min_by("value", "position").alias("names"), F.min("position").alias("first"))
    below = read.join(F.broadcast(names), "file", "left").where(
        F.col("position").eqNullSafe(F.col("first")) == F.lit(False)
    )
    said: Column = F.create_map(F.lit(COLUMNS), F.rtrim("names", F.lit(_WHITE)))
    headers = F.when(F.col("names").isNotNull(), said).otherwise(F.create_map().cast("map<string,string>"))
    return below.select(*[name for name in read.columns if name != "value"], headers.alias("headers"))


def _read(spark: SparkSession, files: Sequence[File]) -> DataFrame:
    reader = spark.read.option("lineSep", "\n").option("recursiveFileLookup", "true")
    read = reader.text([file.pattern for file in files])
    about = read.metadataColumn("_metadata")
    return read.select(
        "value",
        F.col("value").cast("binary").alias("payload"),
        about["file_path"].alias("file"),
        about["file_size"].alias("file_size"),
        about["file_modification_time"].alias("file_modified"),
        # rows of a file are read in its order, part after part: the number grows, whatever reads them
        F.monotonically_increasing_id().alias("position"),
    )
