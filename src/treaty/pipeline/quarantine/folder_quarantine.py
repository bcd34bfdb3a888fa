"""Quarantined rows in a folder that `treaty test --quarantine` wrote."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from treaty.errors import InvalidDocument, NotFound
from treaty.pipeline.quarantine.quarantined_rows import QuarantinedRow, Violation, cell_text, read_violations
from treaty.spark.columns import MALFORMED_COLUMN, ORIGIN_FILE, ORIGIN_POSITION, VIOLATIONS_COLUMN

if TYPE_CHECKING:
    from pyarrow.dataset import Dataset  # type: ignore[import-untyped]

_ADDED = frozenset({VIOLATIONS_COLUMN, MALFORMED_COLUMN, ORIGIN_FILE, ORIGIN_POSITION})
_PARTITION_BITS = 33
"""Positions of the first partition, which are the row numbers of a file that was not split, are below 2 ** 33."""


@dataclass(frozen=True)
class FolderQuarantine:
    """The rows in a folder."""

    folder: Path

    @property
    def name(self) -> str:
        """The path of the folder."""
        return str(self.folder)

    @cached_property
    def _dataset(self) -> Dataset:
        import pyarrow as pa  # type: ignore[import-untyped]
        import pyarrow.dataset as ds

        if not self.folder.is_dir():
            raise NotFound(f"there is no folder {self.folder}; write one with treaty test --quarantine {self.folder}")
        try:
            dataset = ds.dataset(self.folder, format="parquet")
            names = dataset.schema.names
        except (OSError, pa.ArrowInvalid) as error:
            raise InvalidDocument(f"cannot read {self.folder}: {error}") from None
        if VIOLATIONS_COLUMN not in names:
            raise InvalidDocument(f"{self.folder} is no quarantine: its files have no column {VIOLATIONS_COLUMN}")
        return dataset

    def violations(self) -> Iterator[tuple[Violation, ...]]:
        """Yield the violations of each row."""
        for record in self._records([VIOLATIONS_COLUMN]):
            yield read_violations(record[VIOLATIONS_COLUMN])

    def rows(self, limit: int | None, rule: str | None = None) -> Iterator[QuarantinedRow]:
        """Yield rows as they were written; with a rule, only those that violate it."""
        shown = 0
        for record in self._records(self._dataset.schema.names):
            row = _row(record)
            if rule is not None and not any(violation.rule == rule for violation in row.violations):
                continue
            if shown == limit:
                return
            shown += 1
            yield row

    def _records(self, columns: Sequence[str]) -> Iterator[dict[str, Any]]:
        for batch in self._dataset.to_batches(columns=list(columns)):
            yield from batch.to_pylist()


def _row(record: dict[str, Any]) -> QuarantinedRow:
    malformed = record.get(MALFORMED_COLUMN)
    position = record.get(ORIGIN_POSITION)
    return QuarantinedRow(
        {} if malformed is not None else {name: cell_text(record[name]) for name in record if name not in _ADDED},
        read_violations(record[VIOLATIONS_COLUMN]),
        file=short_file(record.get(ORIGIN_FILE)),
        number=position + 1 if position is not None and position < 1 << _PARTITION_BITS else None,
        original=cell_text(malformed),
    )


def short_file(address: str | None) -> str | None:
    """Return the path of a local file, relative to this folder if it is below it; another address unchanged."""
    if not address:
        return None
    parts = urlsplit(address)
    if parts.scheme not in ("", "file"):
        return address
    path = Path(unquote(parts.path))
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)
