"""Files as a source: each new file is read once and completely, as lines or as typed records."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from treaty.errors import InvalidDocument
from treaty.pipeline.layers.raw import COLUMNS, raw_rows
from treaty.pipeline.project.declarations import Files, Format, Source
from treaty.pipeline.sources.arrivals import ArrivalRequest, Arrivals, encoded_as, json_payload
from treaty.pipeline.sources.known_files import File, file_notes, find_files
from treaty.spark.columns import MALFORMED_COLUMN
from treaty.spark.readers.csv_reader import read_csv
from treaty.spark.readers.files import FileListing
from treaty.spark.readers.read_errors import explain_error, explain_errors
from treaty.spark.readers.sources import DataFormat, FileKind

Read = tuple[DataFrame | None, tuple[str, ...]]

_CHANGED = "changed after it was read, and is not read again; deliver new rows in a new file"


def new_in_files(spark: SparkSession, source: Source, origin: Files, request: ArrivalRequest) -> Arrivals:
    """Return the records of the files that were not read before."""
    files = find_files(spark, origin.pattern, request.known)
    notes = file_notes(files.changed, _CHANGED)
    if not files.new:
        return Arrivals(notes=notes or (f"nothing new at {origin.pattern}",))
    with explain_errors(origin.pattern):
        records, skipped = _READERS[origin.format](spark, files.new, origin)
        # a file of lines has at least one record; a file of another format may have none
        if records is not None and origin.format is not Format.JSONL and records.isEmpty():
            records, notes = None, (*notes, *file_notes(files.new, "has no records"))
    rows = None if records is None else raw_rows(records, source.name, request.run, request.arrived_at)
    return Arrivals(rows, 0 if rows is None else len(files.new) - len(skipped), (*notes, *skipped))


def _lines(spark: SparkSession, files: Sequence[File], origin: Files) -> Read:
    return lines(spark, files), ()


def _csv(spark: SparkSession, files: Sequence[File], origin: Files) -> Read:
    if origin.options.get("multiline") == "true":
        return csv_records(spark, files, origin.options.get("separator"))
    has_header = origin.options.get("header", "true") == "true"
    return (lines_below_headers if has_header else lines)(spark, files), ()


def _typed(spark: SparkSession, files: Sequence[File], origin: Files) -> Read:
    return typed_records(spark, origin.format, files)


_READERS: Mapping[Format, Callable[[SparkSession, Sequence[File], Files], Read]] = {
    Format.JSONL: _lines,
    Format.CSV: _csv,
    Format.PARQUET: _typed,
    Format.AVRO: _typed,
}


def csv_records(
    spark: SparkSession, files: Sequence[File], separator: str | None
) -> tuple[DataFrame | None, tuple[str, ...]]:
    """Return the records of files, each read by its own header, and notes on files that cannot be read."""
    frames: list[DataFrame] = []
    notes: list[str] = []
    for file in files:
        try:
            frames.append(_records(spark, file, separator))
        except InvalidDocument as error:
            notes.append(f"{error}; the file was skipped")
    return (reduce(DataFrame.unionByName, frames) if frames else None), tuple(notes)


def _records(spark: SparkSession, file: File, separator: str | None) -> DataFrame:
    frame = read_csv(spark, FileListing(file.pattern, file.path, FileKind(DataFormat.CSV, separator), 1), None, {})
    is_whole = F.col(MALFORMED_COLUMN).isNull()
    text = F.col(MALFORMED_COLUMN).cast("binary")
    return frame.select(
        F.when(is_whole, json_payload(frame, without=MALFORMED_COLUMN)).otherwise(text).alias("payload"),
        F.lit(file.address).alias("file"),
        F.lit(file.size).cast("long").alias("file_size"),
        F.timestamp_micros(F.lit(file.modified).cast("long")).alias("file_modified"),
        F.monotonically_increasing_id().alias("position"),
        F.when(is_whole, encoded_as("json")).otherwise(encoded_as("text")).alias("headers"),
    )


_WHITESPACE = " \t\r"


def lines(spark: SparkSession, files: Sequence[File]) -> DataFrame:
    """Return every line of the files as a record, also empty lines, without the newline at its end.

    Spark reads a text as bytes, so that bytes that are not UTF-8 are preserved. A byte order mark at the start of a
    file is not part of its first line.
    """
    return _read(spark, files).select("*", F.create_map().cast("map<string,string>").alias("headers")).drop("value")


def lines_below_headers(spark: SparkSession, files: Sequence[File]) -> DataFrame:
    """Return the lines below the header line of each file, each with the header in its own headers column."""
    read = _read(spark, files)
    first = read.where(F.trim("value", F.lit(_WHITESPACE)) != "").groupBy("file")
    names = first.agg(F.min_by("value", "position").alias("names"), F.min("position").alias("first"))
    below = read.join(F.broadcast(names), "file", "left").where(
        F.col("position").eqNullSafe(F.col("first")) == F.lit(False)
    )
    header: Column = F.create_map(F.lit(COLUMNS), F.rtrim("names", F.lit(_WHITESPACE)))
    headers = F.when(F.col("names").isNotNull(), header).otherwise(F.create_map().cast("map<string,string>"))
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
        # the rows of a file are read in order, so that the number grows within the file
        F.monotonically_increasing_id().alias("position"),
    )


def typed_records(spark: SparkSession, kind: Format, files: Sequence[File]) -> tuple[DataFrame | None, tuple[str, ...]]:
    """Return the records of files, and notes on files that cannot be read; those are tried again in the next run."""
    groups, notes = _group_by_schema(spark, kind, files)
    frames = [_typed_records(spark, kind, group) for group in groups]
    return (reduce(DataFrame.unionByName, frames) if frames else None), notes


def _group_by_schema(
    spark: SparkSession, kind: Format, files: Sequence[File]
) -> tuple[list[list[File]], tuple[str, ...]]:
    """Group files with the same columns: read with the columns of another file, columns would be lost."""
    if kind is Format.PARQUET and _schema(spark, kind, files) is not None:
        return [list(files)], ()
    groups: dict[str, list[File]] = {}
    notes: list[str] = []
    for file in files:
        try:
            schema = _reader(spark, kind, [file]).schema.json()
        except (PySparkException, Py4JError) as error:
            notes.append(f"{explain_error(str(error), file.path)}; it was skipped: replace it with a complete file")
            continue
        groups.setdefault(schema, []).append(file)
    return list(groups.values()), tuple(notes)


def _schema(spark: SparkSession, kind: Format, files: Sequence[File]) -> str | None:
    """Return the merged schema of files, or None if they do not fit together or one cannot be read."""
    try:
        return _reader(spark, kind, files).schema.json()
    except (PySparkException, Py4JError):
        return None


def _reader(spark: SparkSession, kind: Format, files: Sequence[File]) -> DataFrame:
    options = {"recursiveFileLookup": "true", **({"mergeSchema": "true"} if kind is Format.PARQUET else {})}
    return spark.read.format(kind.value).options(**options).load([file.pattern for file in files])


def _typed_records(spark: SparkSession, kind: Format, files: Sequence[File]) -> DataFrame:
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
