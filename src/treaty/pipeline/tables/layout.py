"""How tables are named and stored: catalog names, Iceberg settings, and when files need compaction."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from treaty.errors import InvalidDocument
from treaty.formats.catalog_properties import PREFIX

RUN = "_run"
OUTCOME = "_outcome"
CURRENT_OUTCOMES = ("accepted", "valid", "resolved")
"""The outcomes of rows that later steps read."""
OUTCOMES = ("accepted", "duplicate", "conflicting", "quarantined", "control", "valid", "resolved", "held", "deleted")
"""The outcomes that rows of a step can have."""
FILE_OUTCOMES = ("read", "empty", "set apart")
"""The outcomes in the ledger of arrivals."""

ARRIVALS = "arrivals"
"""The namespace of the ledger of arrivals."""
ARRIVALS_LEDGER = f"{ARRIVALS}._files"
"""The table with the files of all sources; no source can have its name."""

_EVERY_TABLE = {
    "format-version": "2",
    "write.delete.mode": "merge-on-read",  # writing a change costs as much as the change
    "write.update.mode": "merge-on-read",
    "write.merge.mode": "merge-on-read",
    "write.delete.distribution-mode": "none",  # each task deletes from the files that it reads, without a shuffle
    "write.metadata.delete-after-commit.enabled": "true",
    "write.metadata.previous-versions-max": "20",
    "commit.manifest.min-count-to-merge": "20",  # every commit adds a manifest, and readers open all of them
}
_FEW_PARTITIONS = {"write.distribution-mode": "none", "write.spark.fanout.enabled": "true"}
"""For tables with a handful of partitions: rows go to their files without a shuffle."""
_MANY_PARTITIONS = {"write.distribution-mode": "hash", "write.spark.fanout.enabled": "false"}
"""For tables with many partitions: one open file for each of them would exhaust the memory."""
_RUN_STATISTICS = {f"write.metadata.metrics.column.{RUN}": "full"}
"""Iceberg collects no statistics for the last columns of wide tables by default, but new rows are found by this one."""


def layout(columns: Collection[str], partition: Sequence[str]) -> dict[str, str]:
    """Return the Iceberg settings of a table with these columns."""
    return {
        **_EVERY_TABLE,
        **(_FEW_PARTITIONS if set(partition) <= {OUTCOME} else _MANY_PARTITIONS),
        **(_RUN_STATISTICS if RUN in columns else {}),
    }


SORTED_BY = f"{PREFIX}sorted_by"
"""The property with the columns that the rows of a table are sorted by, separated by commas."""
ROW_GROUP_BYTES = 1024 * 1024


def point_read_layout(key: Sequence[str]) -> dict[str, str]:
    """Return the Iceberg settings of a table that is read by its key: sorted by it, in small row groups."""
    return {
        SORTED_BY: ",".join(key),
        "write.distribution-mode": "range",
        "write.parquet.row-group-size-bytes": str(ROW_GROUP_BYTES),
    }


_PART = r"[A-Za-z_][A-Za-z0-9_]*"
_TABLE = re.compile(rf"{_PART}\.{_PART}")
_PLACE = re.compile(rf"{_PART}(?:\.{_PART})*")


@dataclass(frozen=True)
class TableNamespace:
    """The catalog, or the namespace in it, that holds the tables of a project."""

    name: str

    def __post_init__(self) -> None:
        if not _PLACE.fullmatch(self.name):
            raise InvalidDocument(f"{self.name!r} is not a valid catalog name; use letters, digits and _")

    @property
    def catalog(self) -> str:
        """The name of the catalog."""
        return self.name.partition(".")[0]

    def full_name(self, table: str) -> str:
        """Return the full name of a table, as Spark takes it."""
        return f"{self.name}.{_checked(table)}"

    def name_in_catalog(self, table: str) -> str:
        """Return the name of a table inside its catalog, as Iceberg procedures take it."""
        return self.full_name(table).partition(".")[2]

    def layer_namespace(self, layer: str) -> str:
        """Return the namespace of a layer."""
        return f"{self.name}.{layer}"


def _checked(table: str) -> str:
    if not _TABLE.fullmatch(table):
        raise InvalidDocument(f"{table!r} is not a valid table name; write layer.name with letters, digits and _")
    return table


DELETE_FILE_LIMIT = 64
"""From this number on, delete files slow readers down noticeably."""
DATA_FILE_LIMIT = 256
SMALL_FILE_BYTES = 8 * 1024 * 1024
DELETED_ROWS_LIMIT = 0.5


@dataclass(frozen=True)
class FileStats:
    """Numbers of files and rows of a table, from the summary of a snapshot."""

    data_files: int = 0
    delete_files: int = 0
    rows: int = 0
    deleted: int = 0
    bytes: int = 0

    @property
    def needs_compaction(self) -> bool:
        """Whether rewriting the files pays off for readers."""
        many_small = self.data_files > DATA_FILE_LIMIT and self.bytes < self.data_files * SMALL_FILE_BYTES
        mostly_deleted = self.delete_files > 1 and self.deleted > self.rows * DELETED_ROWS_LIMIT
        return self.delete_files >= DELETE_FILE_LIMIT or many_small or mostly_deleted


def file_stats_of(summary: Mapping[str, str]) -> FileStats:
    """Return the file statistics in the summary of a snapshot."""
    return FileStats(
        data_files=int(summary.get("total-data-files", 0)),
        delete_files=int(summary.get("total-delete-files", 0)),
        rows=int(summary.get("total-records", 0)),
        deleted=int(summary.get("total-position-deletes", 0)),
        bytes=int(summary.get("total-files-size", 0)),
    )
