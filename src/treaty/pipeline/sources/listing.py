"""Files behind a pattern: which of them are new, and which changed after they were read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from treaty.spark.readers.read_errors import explained

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
class Found:
    """What is behind a pattern, beside what was read before."""

    new: tuple[File, ...] = ()
    changed: tuple[File, ...] = ()


def find_files(spark: SparkSession, pattern: str, known: DataFrame | None) -> Found:
    """Look for files without reading any; those that are empty have no rows and do not count."""
    with explained(pattern):
        try:
            rows = _beside(_listed(spark, pattern), known).collect()
        except PySparkException as error:
            if _NOTHING_THERE in str(error):
                return Found()
            raise
    files = [(File(row["path"], row["file"], row["size"], row["modified"]), row["is_new"]) for row in rows]
    files.sort(key=lambda item: item[0].path)
    return Found(tuple(one for one, is_new in files if is_new), tuple(one for one, is_new in files if not is_new))


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
