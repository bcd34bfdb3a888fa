"""How tables are laid out in files: the settings of Iceberg that every table of the pipeline has."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from treaty.errors import InvalidDocument

RUN = "_run"
OUTCOME = "_outcome"
STANDING = ("accepted", "valid", "resolved")
"""The outcomes that the next step sees."""

_EVERY_TABLE = {
    "format-version": "2",
    "write.delete.mode": "merge-on-read",  # the cost of a change follows the change
    "write.update.mode": "merge-on-read",
    "write.merge.mode": "merge-on-read",
    "write.metadata.delete-after-commit.enabled": "true",
    "write.metadata.previous-versions-max": "50",
}
_FEW_PARTITIONS = {"write.distribution-mode": "none", "write.spark.fanout.enabled": "true"}
"""For partitions that can be counted on one hand: rows go straight to their files, without a shuffle."""
_MANY_PARTITIONS = {"write.distribution-mode": "hash", "write.spark.fanout.enabled": "false"}
"""A file open for each of many partitions would exhaust the memory."""
_FINDS_NEW_ROWS = {f"write.metadata.metrics.column.{RUN}": "full"}
"""Wide tables have no statistics for their last columns unless it is said."""


def layout(columns: Collection[str], partition: Sequence[str]) -> dict[str, str]:
    """Return the settings of a table with these columns."""
    return {
        **_EVERY_TABLE,
        **(_FEW_PARTITIONS if set(partition) <= {OUTCOME} else _MANY_PARTITIONS),
        **(_FINDS_NEW_ROWS if RUN in columns else {}),
    }


_PART = r"[A-Za-z_][A-Za-z0-9_]*"
_TABLE = re.compile(rf"{_PART}\.{_PART}")
_PLACE = re.compile(rf"{_PART}(?:\.{_PART})*")


@dataclass(frozen=True)
class Place:
    """A catalog, or a namespace in it, that the tables of a project are in."""

    name: str

    def __post_init__(self) -> None:
        if not _PLACE.fullmatch(self.name):
            raise InvalidDocument(f"{self.name!r} cannot name a catalog; use letters, digits and _")

    @property
    def catalog(self) -> str:
        """The catalog itself."""
        return self.name.partition(".")[0]

    def full(self, table: str) -> str:
        """Return the name that Spark finds a table by."""
        return f"{self.name}.{_known(table)}"

    def inside(self, table: str) -> str:
        """Return the name that the catalog's procedures find a table by."""
        return self.full(table).partition(".")[2]

    def namespace(self, layer: str) -> str:
        """Return the namespace of a layer."""
        return f"{self.name}.{layer}"


def _known(table: str) -> str:
    if not _TABLE.fullmatch(table):
        raise InvalidDocument(f"{table!r} cannot name a table; write layer.name with letters, digits and _")
    return table


_MANY_DELETES = 64
"""So many files of deletes that reading them shows."""
_MANY_FILES = 256
_SMALL = 8 * 1024 * 1024
_FEW_ROWS_LEFT = 0.5


@dataclass(frozen=True)
class Wear:
    """How far the files of a table are from how one would write them anew."""

    data_files: int = 0
    delete_files: int = 0
    rows: int = 0
    deleted: int = 0
    bytes: int = 0

    @property
    def is_worn(self) -> bool:
        """Whether rewriting costs less than it saves from now on."""
        many_small = self.data_files > _MANY_FILES and self.bytes < self.data_files * _SMALL
        mostly_deleted = self.delete_files > 1 and self.deleted > self.rows * _FEW_ROWS_LEFT
        return self.delete_files >= _MANY_DELETES or many_small or mostly_deleted


def wear_of(summary: Mapping[str, str]) -> Wear:
    """Read the wear from the totals that a snapshot has in its summary."""
    return Wear(
        data_files=int(summary.get("total-data-files", 0)),
        delete_files=int(summary.get("total-delete-files", 0)),
        rows=int(summary.get("total-records", 0)),
        deleted=int(summary.get("total-position-deletes", 0)),
        bytes=int(summary.get("total-files-size", 0)),
    )
