"""CSV whose values may go over several lines: each record becomes a JSON object of texts."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from treaty.errors import InvalidDocument
from treaty.pipeline.sources.listing import File
from treaty.pipeline.sources.records import encoded_as, json_payload
from treaty.spark.columns import MALFORMED
from treaty.spark.readers.csv_reader import read_csv
from treaty.spark.readers.file_listing import Listed
from treaty.spark.readers.sources import DataFormat, Kind


def csv_records(
    spark: SparkSession, files: Sequence[File], separator: str | None
) -> tuple[DataFrame | None, tuple[str, ...]]:
    """Return the records of files, each read by its own header, and what is said of files that have none to go by."""
    frames: list[DataFrame] = []
    notes: list[str] = []
    for file in files:
        try:
            frames.append(_records(spark, file, separator))
        except InvalidDocument as error:
            notes.append(f"{error}; the file was left out")
    return (reduce(DataFrame.unionByName, frames) if frames else None), tuple(notes)


def _records(spark: SparkSession, file: File, separator: str | None) -> DataFrame:
    frame = read_csv(spark, Listed(file.pattern, file.path, Kind(DataFormat.CSV, separator), 1), None, {})
    is_whole = F.col(MALFORMED).isNull()
    text = F.col(MALFORMED).cast("binary")
    return frame.select(
        F.when(is_whole, json_payload(frame, without=MALFORMED)).otherwise(text).alias("payload"),
        F.lit(file.address).alias("file"),
        F.lit(file.size).cast("long").alias("file_size"),
        F.timestamp_micros(F.lit(file.modified).cast("long")).alias("file_modified"),
        F.monotonically_increasing_id().alias("position"),
        F.when(is_whole, encoded_as("json")).otherwise(encoded_as("text")).alias("headers"),
    )
