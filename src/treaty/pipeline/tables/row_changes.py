"""Changes of the rows of a table between two snapshots, without Spark: rows that were inserted, updated or deleted.

Only data files that differ between the snapshots are read, with the deletes that apply to them. The rows of both sides
are compared by key, so that rows that were only rewritten are no change, and the snapshots in between do not matter.
Large differences are compared in parts: each part has the rows of some keys, and the same two snapshots always give the
same parts in the same order.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from treaty.errors import NotFound
from treaty.pipeline.tables.table_catalog import TableCatalog, translate_catalog_errors

if TYPE_CHECKING:
    import pyarrow as pa  # type: ignore[import-untyped]
    from pyiceberg.table import FileScanTask, Table

ROWS_PER_PART = 200_000
"""Rows that are compared at once; more rows are compared in several parts, for each of which the files are read."""
Row = Mapping[str, Any]


class ChangeKind(StrEnum):
    """What happened to a row."""

    INSERT = "insert"
    UPDATE = "update"
    DELETE = "delete"


@dataclass(frozen=True)
class RowChange:
    """A change of one row: the new row, or the old one if it was deleted."""

    kind: ChangeKind
    row: Row


class SnapshotComparison:
    """The difference between two snapshots of a table; `since` is None for all rows of `until`.

    `key` identifies a row. All rows with the same values of `group` are in the same part.
    """

    def __init__(
        self,
        catalog: TableCatalog,
        table: str,
        since: int | None,
        until: int,
        key: Sequence[str],
        group: Sequence[str] = (),
    ) -> None:
        self._name = table
        self._key = tuple(key)
        self._group = tuple(group) or self._key
        self._table = catalog.open_table(table)
        with translate_catalog_errors(table):
            before = {} if since is None else _tasks(self._table, since, table)
            after = _tasks(self._table, until, table)
        self._before = [task for at, task in sorted(before.items()) if at not in after]
        self._after = [task for at, task in sorted(after.items()) if at not in before]
        self._until = until

    @property
    def part_count(self) -> int:
        """Number of parts; at least one."""
        rows = sum(task.file.record_count for task in (*self._before, *self._after))
        return max(1, -(-rows // ROWS_PER_PART))

    def changes(self, part: int = 0, part_count: int = 1) -> list[RowChange]:
        """Return the changes in one part, sorted by key."""
        before, after = self._rows(self._before, part, part_count), self._rows(self._after, part, part_count)
        found = [
            (key, RowChange(ChangeKind.UPDATE if key in before else ChangeKind.INSERT, row))
            for key, row in after.items()
            if key not in before or not _is_same(row, before[key])
        ]
        found += [(key, RowChange(ChangeKind.DELETE, row)) for key, row in before.items() if key not in after]
        return [change for _, change in sorted(found, key=lambda one: one[0])]

    def _rows(self, tasks: Sequence[FileScanTask], part: int, part_count: int) -> dict[str, Row]:
        rows: dict[str, Row] = {}
        for batch in self._read(tasks):
            chosen = batch if part_count == 1 else batch.filter(_in_part(batch, self._group, part, part_count))
            for row in chosen.to_pylist(maps_as_pydicts="strict"):
                rows[key_text(row, self._key)] = row
        return rows

    def _read(self, tasks: Sequence[FileScanTask]) -> Iterator[pa.RecordBatch]:
        from pyiceberg.expressions import AlwaysTrue
        from pyiceberg.io.pyarrow import ArrowScan

        with translate_catalog_errors(self._name):
            columns = self._table.scan(snapshot_id=self._until).projection()
            scan = ArrowScan(self._table.metadata, self._table.io, columns, AlwaysTrue())
            for task in tasks:  # one by one: PyIceberg keeps the rows of a task in memory
                yield from scan.to_record_batches([task])


def key_text(row: Row, columns: Sequence[str]) -> str:
    """Return the values of some columns as one text that differs if they differ."""
    return repr([row[name] for name in columns])


def has_snapshot(catalog: TableCatalog, table: str, snapshot: int) -> bool:
    """Tell whether a snapshot of a table is still kept."""
    state = catalog.load(table)
    return state is not None and snapshot in state.history.snapshots


def table_id(catalog: TableCatalog, table: str) -> str:
    """Return the id of a table, which a table that was dropped and created again does not keep."""
    return str(catalog.open_table(table).metadata.table_uuid)


def _tasks(table: Table, snapshot: int, name: str) -> dict[tuple[str, ...], FileScanTask]:
    """Return the data files of a snapshot by their path and the paths of the deletes that apply to them."""
    if table.metadata.snapshot_by_id(snapshot) is None:
        raise NotFound(f"the snapshot {snapshot} of {name} is no longer kept")
    tasks = table.scan(snapshot_id=snapshot).plan_files()
    return {(task.file.file_path, *sorted(one.file_path for one in task.delete_files)): task for task in tasks}


def _in_part(batch: pa.RecordBatch, group: Sequence[str], part: int, part_count: int) -> pa.Array:
    import pyarrow

    rows = batch.select(list(group)).to_pylist()
    return pyarrow.array([zlib.crc32(key_text(row, group).encode()) % part_count == part for row in rows])


def _is_same(row: Row, other: Row) -> bool:
    """Tell whether two rows are equal; unlike `==` alone, NaN equals NaN."""
    return row == other or repr(row) == repr(other)
