"""When the files of a table are worth rewriting: a table wears as runs change it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

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
