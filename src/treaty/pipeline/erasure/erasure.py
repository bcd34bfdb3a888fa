"""What an erasure found and did, as values for rendering, JSON and the audit log. No value of the key is in them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any


@dataclass(frozen=True)
class ErasedTable:
    """A table from which a key is erased."""

    table: str
    rows: int
    """Number of current rows with the key."""
    snapshots: int = 0
    """Number of older snapshots that were removed."""
    files: int = 0

    def as_data(self) -> dict[str, Any]:
        """Return it as JSON data."""
        return {
            "table": self.table,
            "rows": self.rows,
            "snapshots_removed": self.snapshots,
            "files_removed": self.files,
        }


@dataclass(frozen=True)
class DeliveredFile:
    """A file outside of the tables that the erasure cannot change."""

    path: str
    contains: bool | None
    """Whether it contains the key; None if that cannot be known, for example because the key is redacted in it."""

    def as_data(self) -> dict[str, Any]:
        """Return it as JSON data."""
        return {"path": self.path, "contains": self.contains}


@dataclass(frozen=True)
class Erasure:
    """The erasure of a key."""

    contract: str
    line: str
    fields: tuple[str, ...]
    """The fields of the key, without their values."""
    at: datetime
    tables: tuple[ErasedTable, ...] = ()
    source_files: tuple[str, ...] = ()
    """Files from which the rows came; they are not read again, but still contain the key."""
    delivered: tuple[DeliveredFile, ...] = ()
    problems: tuple[str, ...] = ()
    """Tables that could not be rebuilt or cleaned; the erasure is complete only if there are none."""
    is_dry_run: bool = False

    @property
    def is_found(self) -> bool:
        """Whether there was anything to erase."""
        return bool(self.tables)

    @property
    def raw_rows(self) -> int:
        """Number of raw rows with the key."""
        return sum(table.rows for table in self.tables if table.table.startswith("raw."))

    def as_data(self) -> dict[str, Any]:
        """Return it as JSON data."""
        return {
            "contract": self.contract,
            "line": self.line,
            "key_fields": list(self.fields),
            "at": self.at.isoformat(),
            "dry_run": self.is_dry_run,
            "complete": not self.problems,
            "tables": [table.as_data() for table in self.tables],
            "source_files": list(self.source_files),
            "delivered_files": [file.as_data() for file in self.delivered],
            "problems": list(self.problems),
        }
