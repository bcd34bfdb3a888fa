"""Files that know their columns and types, parquet and Avro: each record becomes a JSON object."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from treaty.pipeline.declarations import Format
from treaty.pipeline.sources.listing import File
from treaty.pipeline.sources.records import encoded_as, json_payload
from treaty.spark.readers.read_errors import explanation


def typed_records(spark: SparkSession, kind: Format, files: Sequence[File]) -> tuple[DataFrame | None, tuple[str, ...]]:
    """Return the records of files, and what is said of files that cannot be read; those are tried again next time."""
    groups, notes = _alike(spark, kind, files)
    frames = [_records(spark, kind, group) for group in groups]
    return (reduce(DataFrame.unionByName, frames) if frames else None), notes


def _alike(spark: SparkSession, kind: Format, files: Sequence[File]) -> tuple[list[list[File]], tuple[str, ...]]:
    """Put files with the same columns together: read with those of another file, columns would be lost."""
    if kind is Format.PARQUET and _schema(spark, kind, files) is not None:
        return [list(files)], ()
    groups: dict[str, list[File]] = {}
    notes: list[str] = []
    for file in files:
        try:
            schema = _reader(spark, kind, [file]).schema.json()
        except (PySparkException, Py4JError) as error:
            notes.append(f"{explanation(str(error), file.path)}; it was left out: put a whole file in its place")
            continue
        groups.setdefault(schema, []).append(file)
    return list(groups.values()), tuple(notes)


def _schema(spark: SparkSession, kind: Format, files: Sequence[File]) -> str | None:
    """Return the columns that files have together, or None where they do not fit, or one of them cannot be read."""
    try:
        return _reader(spark, kind, files).schema.json()
    except (PySparkException, Py4JError):
        return None


def _reader(spark: SparkSession, kind: Format, files: Sequence[File]) -> DataFrame:
    options = {"recursiveFileLookup": "true", **({"mergeSchema": "true"} if kind is Format.PARQUET else {})}
    return spark.read.format(kind.value).options(**options).load([file.pattern for file in files])


def _records(spark: SparkSession, kind: Format, files: Sequence[File]) -> DataFrame:
    frame = _reader(spark, kind, files)
    about = frame.metadataColumn("_metadata")
    position = about["row_index"] if kind is Format.PARQUET else F.monotonically_increasing_id()
    return frame.select(
        json_payload(frame).alias("payload"),
        about["file_path"].alias("file"),
        about["file_size"].alias("file_size"),
        about["file_modification_time"].alias("file_modified"),
        position.alias("position"),
        encoded_as("json").alias("headers"),
    )
