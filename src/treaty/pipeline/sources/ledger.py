"""The ledger of arrivals: every file that a run has seen, and whether it was read or set apart, and why.

One table has the entries of all sources; a run appends to it once. Which files were read can always be derived from the
raw rows, so an interrupted run loses nothing: the next one reads what the ledger lacks from the raw table.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from pathlib import Path
from threading import Lock
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from treaty.pipeline.project.declarations import raw_table
from treaty.pipeline.sources.file_listing import ListedFile, name_in_project
from treaty.pipeline.tables import ARRIVALS_LEDGER, NewStamp, Stamp, TableCatalog, Tables

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_CHANGED = "it changed after it was read, and is not read again; deliver new rows in a new file"


class FileOutcome(StrEnum):
    """What became of a file, or of some records of a partition."""

    READ = "read"
    EMPTY = "empty"
    """It has a header or a schema, but no records."""
    SET_APART = "set apart"
    LOST = "lost"
    """Its records were deleted before a run could read them."""


@dataclass(frozen=True)
class Entry:
    """A version of a file that a run has seen."""

    file: str
    size: int | None
    modified: int
    """Modification time in microseconds since 1970, as the run saw it."""
    outcome: FileOutcome
    reason: str = ""
    rows: int | None = 0
    """Number of raw rows; None if it is not known before they are written."""

    @property
    def remark(self) -> str:
        """The entry as a remark in the summary of a run."""
        return f"{self.file}: {self.reason}"


def set_apart(file: ListedFile, reason: str) -> Entry:
    """Return the entry of a file that was not read."""
    return Entry(file.name, file.size, file.modified, FileOutcome.SET_APART, reason)


@dataclass(frozen=True)
class KnownFiles:
    """The files of a source that earlier runs have seen, by name and version."""

    entries: Mapping[str, Mapping[tuple[int | None, int], FileOutcome]] = field(default_factory=dict)

    def sort(self, files: Iterable[ListedFile]) -> SortedFiles:
        """Separate new files from those that are known, and from those that changed after they were read."""
        new: list[ListedFile] = []
        changed: list[Entry] = []
        known_apart = 0
        for file in files:
            versions = self.entries.get(file.name, {})
            if file.version in versions:
                known_apart += versions[file.version] is FileOutcome.SET_APART
            elif FileOutcome.READ in versions.values():
                changed.append(set_apart(file, _CHANGED))
            else:
                new.append(file)
        return SortedFiles(tuple(new), tuple(changed), known_apart)


NO_FILES = KnownFiles()


@dataclass(frozen=True)
class SortedFiles:
    """The files of a source: new ones, entries of changed ones, and how many were set apart by earlier runs."""

    new: tuple[ListedFile, ...]
    changed: tuple[Entry, ...]
    known_apart: int


LEDGER = spark.StructType(
    [
        spark.StructField("source", spark.StringType(), True, {"comment": "The source that the file belongs to."}),
        spark.StructField(
            "file",
            spark.StringType(),
            True,
            {"comment": "The file, relative to the project folder, or TOPIC#PARTITION."},
        ),
        spark.StructField("size", spark.LongType(), True, {"comment": "Its size in bytes."}),
        spark.StructField(
            "modified", spark.TimestampType(), True, {"comment": "Its modification time when first seen."}
        ),
        spark.StructField("outcome", spark.StringType(), True, {"comment": "read, empty, set apart or lost."}),
        spark.StructField(
            "reason", spark.StringType(), True, {"comment": "Why it was set apart; the offsets of a topic."}
        ),
        spark.StructField("rows", spark.LongType(), True, {"comment": "Number of raw rows from it, if it is known."}),
        spark.StructField("seen_at", spark.TimestampType(), True, {"comment": "When a run first saw it."}),
        spark.StructField("run", spark.LongType(), True, {"comment": "The run that saw it."}),
    ]
)
"""The columns of the ledger."""


class SeenFiles:
    """The files that earlier runs have seen, read without Spark."""

    def __init__(self, catalog: TableCatalog, folder: Path) -> None:
        self._catalog = catalog
        self._folder = folder
        self._lock = Lock()
        self._stamp: Stamp | None = None
        self._rows: dict[str, list[dict[str, Any]]] | None = None
        self._added: dict[str, tuple[Entry, ...]] = {}
        self._reflects: dict[str, int] = {}
        self._outdated: dict[str, set[str]] = {}

    def known_files(self, source: str, stamps: tuple[Stamp, ...]) -> KnownFiles:
        """Return the files of a source that were seen before; `stamps` are those of its raw table, newest first."""
        with self._lock:
            listed = self._load().get(source, [])
            up_to = self._stamp.reflects.get(raw_table(source)) if self._stamp else None
        # after a rollback, or if the table was dropped, the ledger has files that must be read again
        is_current = up_to is not None and any(stamp.run == up_to for stamp in stamps)
        outdated = set() if is_current else {row["file"] for row in listed if row["outcome"] == FileOutcome.READ}
        recovered = self._recover(source, stamps[0], up_to if is_current else None) if stamps else []
        entries: dict[str, dict[tuple[int | None, int], FileOutcome]] = {}
        for row in listed:
            if row["file"] not in outdated:
                for name in self._names(row["file"]):
                    entries.setdefault(name, {})[row["size"], row["modified"]] = FileOutcome(row["outcome"])
        for entry in recovered:
            for name in self._names(entry.file):
                entries.setdefault(name, {})[entry.size, entry.modified] = FileOutcome.READ
        with self._lock:
            self._added[source] = tuple(recovered)
            self._outdated[source] = outdated
        return KnownFiles(entries)

    def _names(self, file: str) -> set[str]:
        """Return the names under which a file is known; raw rows of earlier releases have URL-encoded addresses."""
        return {file, name_in_project(file, self._folder)}

    def _load(self) -> dict[str, list[dict[str, Any]]]:
        """Read the ledger once, for all sources."""
        if self._rows is None:
            self._rows = {}
            self._stamp = next(iter(self._catalog.stamps(ARRIVALS_LEDGER)), None)
            if self._stamp is not None:
                columns = ("source", "file", "size", "modified", "outcome")
                for row in self._catalog.read_rows(ARRIVALS_LEDGER, None, columns, self._stamp.snapshot):
                    row["modified"] = _micros(row["modified"])
                    self._rows.setdefault(row["source"], []).append(row)
        return self._rows

    def _recover(self, source: str, raw: Stamp, up_to: int | None) -> list[Entry]:
        """Return the files of raw rows that the ledger does not cover."""
        if up_to == raw.run:
            return []
        columns = ("file", "file_size", "file_modified")
        rows = self._catalog.read_rows(raw_table(source), None, columns, raw.snapshot)
        counts = Counter(
            (row["file"], row["file_size"], row["file_modified"]) for row in rows if row["file_size"] is not None
        )
        return [
            Entry(file, size, _micros(modified), FileOutcome.READ, rows=number)
            for (file, size, modified), number in counts.items()
        ]


class Ledger(SeenFiles):
    """The ledger during a run: what earlier runs have seen, and what this run adds. Steps may use it in parallel."""

    def __init__(self, tables: Tables, folder: Path) -> None:
        super().__init__(tables.catalog, folder)
        self._tables = tables

    def add(self, source: str, entries: Iterable[Entry], raw: Stamp | None) -> None:
        """Add entries of this run; `raw` is the stamp of the raw table whose rows they cover."""
        with self._lock:
            self._added[source] = (*self._added.get(source, ()), *entries)
            if raw is not None:
                self._reflects[raw_table(source)] = raw.run

    def save(self, run: int, seen_at: datetime) -> None:
        """Append the entries of the run in one commit; without news nothing is written."""
        before = dict(self._stamp.reflects) if self._stamp else {}
        reflects = {**before, **self._reflects}
        saved = [source for source in self._added if raw_table(source) in self._reflects]
        rows = [_row(source, entry, run, seen_at) for source in saved for entry in self._added[source]]
        if not rows and reflects == before:
            return
        self._tables.ensure(ARRIVALS_LEDGER, LEDGER, {})
        stamp = NewStamp(run, reflects, "", "", {})
        frame = self._tables.spark.createDataFrame(rows, LEDGER)
        outdated = [(source, file) for source in saved for file in sorted(self._outdated[source])]
        if not outdated:
            self._tables.append(ARRIVALS_LEDGER, frame, stamp)
            return
        staged = self._tables.stage(ARRIVALS_LEDGER, run)
        keys = self._tables.spark.createDataFrame(outdated, "source string, file string")
        staged.delete_keys(keys, ("source", "file"))
        staged.append(frame, stamp)
        staged.publish()

    def _recover(self, source: str, raw: Stamp, up_to: int | None) -> list[Entry]:
        """Return the files of raw rows that the ledger does not cover."""
        if up_to == raw.run:
            return []
        table = raw_table(source)
        rows = self._tables.read(table, raw) if up_to is None else self._tables.changed_rows(table, up_to, raw)
        return [
            Entry(row["file"], row["size"], row["modified"], FileOutcome.READ, rows=row["rows"])
            for row in _files_in(rows).collect()
        ]


def _files_in(raw: DataFrame) -> DataFrame:
    """Return the files that raw rows came from; all rows of a file belong to one run."""
    return (
        raw.where(F.col("file_size").isNotNull())
        .groupBy("file")
        .agg(
            F.max("file_size").alias("size"),
            F.unix_micros(F.max("file_modified")).alias("modified"),
            F.count("*").alias("rows"),
        )
    )


def _micros(time: datetime) -> int:
    return (time - _EPOCH) // _MICROSECOND


def _row(source: str, entry: Entry, run: int, seen_at: datetime) -> tuple[object, ...]:
    modified = _EPOCH + entry.modified * _MICROSECOND
    return source, entry.file, entry.size, modified, entry.outcome.value, entry.reason, entry.rows, seen_at, run
