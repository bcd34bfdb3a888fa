"""Files as a source: each is read once, whole, when it is new."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from pyspark.sql import DataFrame, SparkSession

from treaty.pipeline.declarations import Files, Format, Source
from treaty.pipeline.layers.raw import raw_rows
from treaty.pipeline.sources.arriving import Arrivals, Asking
from treaty.pipeline.sources.csv_records import csv_records
from treaty.pipeline.sources.lines import lines, lines_below_headers
from treaty.pipeline.sources.listing import File, find_files, notes_on
from treaty.pipeline.sources.typed_files import typed_records
from treaty.spark.readers.read_errors import explained

Read = tuple[DataFrame | None, tuple[str, ...]]

_CHANGED = "changed after it was read and is not read again; deliver what is new in a file of its own"


def new_in_files(spark: SparkSession, source: Source, origin: Files, asking: Asking) -> Arrivals:
    """Return the records of files that were not read before."""
    found = find_files(spark, origin.pattern, asking.known)
    notes = notes_on(found.changed, _CHANGED)
    if not found.new:
        return Arrivals(notes=notes or (f"nothing new at {origin.pattern}",))
    with explained(origin.pattern):
        records, left_out = _READERS[origin.format](spark, found.new, origin)
        # a line is a record, but a file of another format may have none
        if records is not None and origin.format is not Format.JSONL and records.isEmpty():
            records, notes = None, (*notes, *notes_on(found.new, "has no records"))
    rows = None if records is None else raw_rows(records, source.name, asking.run, asking.arrived_at)
    return Arrivals(rows, 0 if rows is None else len(found.new) - len(left_out), (*notes, *left_out))


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
