"""Which files of a source are new, and which changed after they were read.

The files that were read before are listed in a table of their own. It is derived from the raw rows, so that a run need
not scan all of them, and it can be rebuilt from them at any time.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from treaty.pipeline.layers.raw import FILES, files_in
from treaty.pipeline.project.declarations import raw_table
from treaty.pipeline.tables import NewStamp, Stamp, Tables
from treaty.spark.readers.read_errors import explain_errors

_GLOB = re.compile(r"[\\{}\[\]*?]")
_PATH_NOT_FOUND = "PATH_NOT_FOUND"
MAX_NAMED_FILES = 5


@dataclass(frozen=True)
class File:
    """A file: the path with which Spark opens it, and the address that its rows carry."""

    path: str
    address: str
    size: int
    modified: int
    """Modification time in microseconds since 1970."""

    @property
    def pattern(self) -> str:
        """The path as a glob pattern that matches nothing else."""
        return _GLOB.sub(lambda mark: f"\\{mark[0]}", self.path)


@dataclass(frozen=True)
class FoundFiles:
    """The files that match a pattern and are new, or changed after they were read."""

    new: tuple[File, ...] = ()
    changed: tuple[File, ...] = ()


def find_files(spark: SparkSession, pattern: str, known: DataFrame | None) -> FoundFiles:
    """List the files that match a pattern without reading them; empty files are ignored."""
    with explain_errors(pattern):
        try:
            rows = _new_or_changed(_listed(spark, pattern), known).collect()
        except PySparkException as error:
            if _PATH_NOT_FOUND in str(error):
                return FoundFiles()
            raise
    files = [(File(row["path"], row["file"], row["size"], row["modified"]), row["is_new"]) for row in rows]
    files.sort(key=lambda entry: entry[0].path)
    return FoundFiles(
        tuple(file for file, is_new in files if is_new), tuple(file for file, is_new in files if not is_new)
    )


def file_notes(files: Sequence[File], what: str) -> tuple[str, ...]:
    """Return the same note on several files; only the first few are named."""
    notes = [f"{file.path} {what}" for file in files[:MAX_NAMED_FILES]]
    more = len(files) - MAX_NAMED_FILES
    return (*notes, f"and {more:,} more files {what}") if more > 0 else tuple(notes)


def _listed(spark: SparkSession, pattern: str) -> DataFrame:
    files = spark.read.format("binaryFile").option("recursiveFileLookup", "true").load(pattern)
    about = files.metadataColumn("_metadata")
    return files.select(
        "path",
        about["file_path"].alias("file"),
        F.col("length").alias("size"),
        F.unix_micros("modificationTime").alias("modified"),
    )


def _new_or_changed(listed: DataFrame, known: DataFrame | None) -> DataFrame:
    """Return the files that are new, or whose size or modification time changed."""
    if known is None:
        return listed.withColumn("is_new", F.lit(True))
    before = known.select("file", "file_size", F.unix_micros("file_modified").alias("was_modified"))
    is_new = F.col("file_size").isNull()
    is_other = (F.col("file_size") != F.col("size")) | (F.col("was_modified") != F.col("modified"))
    return listed.join(before, "file", "left").withColumn("is_new", is_new).where(is_new | is_other)


ARRIVALS = "arrivals"
"""The namespace of the tables that list read files."""


@dataclass(frozen=True)
class _ListState:
    """The stamps of the raw table and of its file list; `files` is None if the list cannot be used."""

    raw: Stamp
    files: Stamp | None

    @property
    def up_to(self) -> int | None:
        """The last run of raw rows that the list covers."""
        return next(iter(self.files.reflects.values()), None) if self.files else None


def files_table(source: str) -> str:
    """Return the table that lists the files of a source."""
    return f"{ARRIVALS}.{source}"


def known_files(tables: Tables, source: str) -> DataFrame | None:
    """Return the files in the raw table with their sizes and times; None if the table has no snapshot yet."""
    listed = _list_state(tables, source)
    if listed is None:
        return None
    if listed.files is None:
        return files_in(tables.read(raw_table(source), listed.raw))
    before = tables.read(files_table(source), listed.files)
    if listed.up_to == listed.raw.run:
        return before
    return before.unionByName(_since(tables, source, listed))


def remember_files(tables: Tables, source: str, run: int) -> Stamp | None:
    """Bring the list up to date with the raw rows. This only saves time: no result depends on it."""
    listed = _list_state(tables, source)
    if listed is None or listed.up_to == listed.raw.run:
        return listed.files if listed else None
    table = files_table(source)
    tables.ensure(table, FILES, {})
    staged = tables.stage(table, run)
    if listed.files is None:
        staged.delete_all()
    staged.append(_since(tables, source, listed), NewStamp(run, {raw_table(source): listed.raw.run}, "", "", {}))
    return staged.publish()


def _since(tables: Tables, source: str, listed: _ListState) -> DataFrame:
    up_to = listed.up_to
    table = raw_table(source)
    return files_in(tables.read(table, listed.raw) if up_to is None else tables.changed_rows(table, up_to, listed.raw))


def _list_state(tables: Tables, source: str) -> _ListState | None:
    published = tables.stamps(raw_table(source))
    if not published:
        return None
    files = tables.stamp(files_table(source))
    runs = {stamp.run for stamp in published}
    # after a rollback or a dropped table, the list has files that must be read again
    is_current = files is not None and set(files.reflects.values()) <= runs
    return _ListState(published[0], files if is_current else None)
