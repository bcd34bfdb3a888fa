"""Files behind a pattern: which of them are new, and which changed after they were read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from treaty.pipeline.layers.raw import FILES, files_in
from treaty.pipeline.tables import NewStamp, Stamp, Tables
from treaty.spark.readers.read_errors import explain_errors

_GLOB = re.compile(r"[\\{}\[\]*?]")
_NOTHING_THERE = "PATH_NOT_FOUND"
_SHOWN = 5


@dataclass(frozen=True)
class File:
    """A file as it is now, by the path that Spark opens it with and the address that its rows have."""

    path: str
    address: str
    size: int
    modified: int
    """In microseconds since 1970."""

    @property
    def pattern(self) -> str:
        """The path as a pattern that nothing else fits."""
        return _GLOB.sub(lambda mark: f"\\{mark[0]}", self.path)


@dataclass(frozen=True)
class FoundFiles:
    """What is behind a pattern, beside what was read before."""

    new: tuple[File, ...] = ()
    changed: tuple[File, ...] = ()


def find_files(spark: SparkSession, pattern: str, known: DataFrame | None) -> FoundFiles:
    """Look for files without reading any; those that are empty have no rows and do not count."""
    with explain_errors(pattern):
        try:
            rows = _beside(_listed(spark, pattern), known).collect()
        except PySparkException as error:
            if _NOTHING_THERE in str(error):
                return FoundFiles()
            raise
    files = [(File(row["path"], row["file"], row["size"], row["modified"]), row["is_new"]) for row in rows]
    files.sort(key=lambda item: item[0].path)
    return FoundFiles(tuple(one for one, is_new in files if is_new), tuple(one for one, is_new in files if not is_new))


def notes_on(files: Sequence[File], what: str) -> tuple[str, ...]:
    """Say the same of several files, by name as long as they are few."""
    told = [f"{file.path} {what}" for file in files[:_SHOWN]]
    more = len(files) - _SHOWN
    return (*told, f"and {more:,} more files {what}") if more > 0 else tuple(told)


def _listed(spark: SparkSession, pattern: str) -> DataFrame:
    files = spark.read.format("binaryFile").option("recursiveFileLookup", "true").load(pattern)
    about = files.metadataColumn("_metadata")
    return files.select(
        "path",
        about["file_path"].alias("file"),
        F.col("length").alias("size"),
        F.unix_micros("modificationTime").alias("modified"),
    )


def _beside(listed: DataFrame, known: DataFrame | None) -> DataFrame:
    """Return the files that are new or other than they were."""
    if known is None:
        return listed.withColumn("is_new", F.lit(True))
    before = known.select("file", "file_size", F.unix_micros("file_modified").alias("was_modified"))
    is_new = F.col("file_size").isNull()
    is_other = (F.col("file_size") != F.col("size")) | (F.col("was_modified") != F.col("modified"))
    return listed.join(before, "file", "left").withColumn("is_new", is_new).where(is_new | is_other)


ARRIVALS = "arrivals"
"""The namespace of those lists."""


@dataclass(frozen=True)
class _Listed:
    """How far the list has come: the stamp of raw rows, that of the list where it can be relied on."""

    raw: Stamp
    files: Stamp | None

    @property
    def up_to(self) -> int | None:
        """The run of raw rows that the list has."""
        return next(iter(self.files.reflects.values()), None) if self.files else None


def raw_table(source: str) -> str:
    """Return the table of a source's raw rows."""
    return f"raw.{source}"


def files_table(source: str) -> str:
    """Return the table that lists the files of a source."""
    return f"{ARRIVALS}.{source}"


def known_files(tables: Tables, source: str) -> DataFrame | None:
    """Return the files whose rows are in the raw table, with their sizes and times; None where there is no such row."""
    listed = _listed_known(tables, source)
    if listed is None:
        return None
    if listed.files is None:
        return files_in(tables.read(raw_table(source), listed.raw))
    before = tables.read(files_table(source), listed.files)
    if listed.up_to == listed.raw.run:
        return before
    return before.unionByName(_since(tables, source, listed))


def remember_files(tables: Tables, source: str, run: int) -> Stamp | None:
    """Bring the list up to the raw rows; whether or not this is done changes no result."""
    listed = _listed_known(tables, source)
    if listed is None or listed.up_to == listed.raw.run:
        return listed.files if listed else None
    table = files_table(source)
    tables.ensure(table, FILES, {})
    staged = tables.stage(table, run)
    if listed.files is None:
        staged.delete_all()
    staged.append(_since(tables, source, listed), NewStamp(run, {raw_table(source): listed.raw.run}, "", "", {}))
    return staged.publish()


def _since(tables: Tables, source: str, listed: _Listed) -> DataFrame:
    up_to = listed.up_to
    table = raw_table(source)
    return files_in(tables.read(table, listed.raw) if up_to is None else tables.changed(table, up_to, listed.raw))


def _listed_known(tables: Tables, source: str) -> _Listed | None:
    published = tables.stamps(raw_table(source))
    if not published:
        return None
    files = tables.stamp(files_table(source))
    runs = {one.run for one in published}
    # a list of raw rows that were taken back, or of a table that was dropped, names files that have to be read again
    is_of_these = files is not None and set(files.reflects.values()) <= runs
    return _Listed(published[0], files if is_of_these else None)
