"""Reading data files row group by row group: few are read for a condition, and one is in memory at a time."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]

from treaty.serving.conditions import Condition
from treaty.serving.published_table import StoredFile

if TYPE_CHECKING:
    from pyiceberg.io import FileIO

MAX_CACHED_FILES = 512
MAX_CACHED_BYTES = 64 * 1024 * 1024
"""Decoded columns that one process keeps, of all tables together."""
MAX_LOOKUP_GROUPS = 2
"""Columns are kept if conditions leave at most this many row groups of a file: a scan would evict all others."""
ColumnKey = tuple[str, int, str]
"""The path of a file, the number of a row group, and a column."""
Bounds = tuple[tuple[Any, Any] | None, ...]
"""The least and greatest value of a column in each row group; None if they are not known."""


@dataclass(frozen=True)
class Place:
    """The place of a row group: the number of its file in the snapshot, and its number in the file."""

    file: int = 0
    group: int = 0


@dataclass(frozen=True)
class RowGroup:
    """The rows of a row group that meet the conditions."""

    place: Place
    rows: pa.Table


K = TypeVar("K")
V = TypeVar("V")


class _Cache(Generic[K, V]):
    """The most recently used values by key."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._lock = threading.Lock()
        self._values: OrderedDict[K, V] = OrderedDict()

    def get(self, key: K, load: Callable[[], V]) -> V:
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                return self._values[key]
        value = load()
        with self._lock:
            self._values[key] = value
            if len(self._values) > self._size:
                self._values.popitem(last=False)
        return value


@dataclass(frozen=True)
class _Part:
    """A row group that is read: its file, and the columns that the file and the table have."""

    parquet: pq.ParquetFile
    group: int
    stored: set[str]
    schema: pa.Schema
    path: str

    @property
    def size(self) -> int:
        """Number of rows, deleted ones included."""
        rows: int = self.parquet.metadata.row_group(self.group).num_rows
        return rows


_ReadColumns = Callable[[_Part, Sequence[str]], pa.Table]


class ColumnCache:
    """The most recently used columns of row groups, decoded, up to a number of bytes in total."""

    def __init__(self, limit: int = MAX_CACHED_BYTES) -> None:
        self._limit = limit
        self._bytes = 0
        self._lock = threading.Lock()
        self._columns: OrderedDict[ColumnKey, pa.ChunkedArray] = OrderedDict()

    def get(self, key: ColumnKey) -> pa.ChunkedArray | None:
        """Return a column, or None if it is not cached."""
        with self._lock:
            column = self._columns.get(key)
            if column is not None:
                self._columns.move_to_end(key)
            return column

    def put(self, key: ColumnKey, column: pa.ChunkedArray) -> None:
        """Cache a column in place of those that were not used for longest."""
        with self._lock:
            earlier = self._columns.pop(key, None)
            self._bytes += column.nbytes - (0 if earlier is None else earlier.nbytes)
            self._columns[key] = column
            while self._bytes > self._limit:
                _, oldest = self._columns.popitem(last=False)
                self._bytes -= oldest.nbytes


class RowGroupReader:
    """Reads row groups of the data files of one table. Footers, bounds and deletes are cached: files never change.

    So are the decoded columns of row groups in which a row was looked for; those of scans are not.
    """

    def __init__(self, columns: ColumnCache | None = None) -> None:
        self._columns = columns or ColumnCache()
        self._footers: _Cache[str, pq.FileMetaData] = _Cache(MAX_CACHED_FILES)
        self._bounds: _Cache[tuple[str, str], Bounds] = _Cache(MAX_CACHED_FILES * 4)
        self._deleted: _Cache[tuple[str, str], np.ndarray[Any, Any]] = _Cache(MAX_CACHED_FILES)

    def read(
        self,
        io: FileIO,
        files: Sequence[StoredFile],
        schema: pa.Schema,
        columns: Sequence[str],
        conditions: Sequence[Condition] = (),
        start: Place | None = None,
    ) -> Iterator[RowGroup]:
        """Yield the row groups with rows that meet all conditions, from a place on, with some columns."""
        start = start or Place()
        for number in range(start.file, len(files)):
            first = start.group if number == start.file else 0
            yield from self._read_file(io, files[number], schema, columns, conditions, Place(number, first))

    def _read_file(
        self,
        io: FileIO,
        file: StoredFile,
        schema: pa.Schema,
        columns: Sequence[str],
        conditions: Sequence[Condition],
        start: Place,
    ) -> Iterator[RowGroup]:
        footer = self._footers.get(file.path, lambda: _read_footer(io, file.path))
        stored = set(footer.schema.to_arrow_schema().names)
        groups = [
            group
            for group in range(start.group, footer.num_row_groups)
            if self._may_match(file.path, footer, group, stored, conditions)
        ]
        if not groups:
            return
        is_lookup = bool(conditions) and len(groups) <= MAX_LOOKUP_GROUPS
        offsets = np.cumsum([0, *(footer.row_group(group).num_rows for group in range(footer.num_row_groups))])
        with io.new_input(file.path).open() as source, pq.ParquetFile(source, metadata=footer) as parquet:
            for group in groups:
                read = self._read_cached if is_lookup else _read_columns
                part = _Part(parquet, group, stored, schema, file.path)
                rows = self._read_group(io, file, part, columns, conditions, int(offsets[group]), read)
                if rows.num_rows:
                    yield RowGroup(Place(start.file, group), rows)

    def _read_group(
        self,
        io: FileIO,
        file: StoredFile,
        part: _Part,
        columns: Sequence[str],
        conditions: Sequence[Condition],
        offset: int,
        read: _ReadColumns,
    ) -> pa.Table:
        """Read the columns of the conditions first, and the others only if a row meets them."""
        chosen = self._kept(io, file, offset, part.size)
        tested = list(dict.fromkeys(condition.column for condition in conditions))
        if tested:
            met = _all_met(read(part, tested), conditions)
            chosen = met if chosen is None else pc.and_(met, chosen)
        if chosen is None:
            return read(part, columns)
        indices = pc.indices_nonzero(chosen)
        if len(indices) == 0:
            return part.schema.empty_table().select(list(columns))
        return read(part, columns).take(indices)

    def _read_cached(self, part: _Part, columns: Sequence[str]) -> pa.Table:
        """Read columns of a row group, and keep them for the next rows that are looked for in it."""
        found = {name: self._columns.get((part.path, part.group, name)) for name in columns}
        missing = [name for name, column in found.items() if column is None]
        if missing:
            read = _read_columns(part, missing)
            for name in missing:
                found[name] = read[name]
                self._columns.put((part.path, part.group, name), read[name])
        return pa.table([found[name] for name in columns], schema=_select(part.schema, columns))

    def _kept(self, io: FileIO, file: StoredFile, offset: int, size: int) -> pa.Array | None:
        """Return which rows of a row group were not deleted; None if all are there."""
        if not file.delete_files:
            return None
        kept = np.ones(size, dtype=bool)
        for path in file.delete_files:
            deleted = self._deleted.get((path, file.path), lambda path=path: _read_deleted(io, path, file.path))  # type: ignore[misc]
            inside = deleted[(deleted >= offset) & (deleted < offset + size)] - offset
            kept[inside] = False
        return None if kept.all() else pa.array(kept)

    def _may_match(
        self,
        path: str,
        footer: pq.FileMetaData,
        group: int,
        stored: set[str],
        conditions: Sequence[Condition],
    ) -> bool:
        for condition in conditions:
            if condition.column not in stored:
                return False  # the column was added later: its values are NULL here
            column = condition.column
            bounds = self._bounds.get((path, column), lambda column=column: _bounds(footer, column))[group]  # type: ignore[misc]
            if bounds is not None and not condition.may_match(*bounds):
                return False
        return True


def _read_footer(io: FileIO, path: str) -> pq.FileMetaData:
    with io.new_input(path).open() as source:
        return pq.read_metadata(source)


def _read_deleted(io: FileIO, path: str, data_file: str) -> np.ndarray[Any, Any]:
    """Return the positions of the rows of a data file that a file of deletes names."""
    with io.new_input(path).open() as source:
        deletes = pq.read_table(source, columns=["file_path", "pos"])
    own = deletes.filter(pc.equal(deletes["file_path"], data_file))
    positions: np.ndarray[Any, Any] = own["pos"].to_numpy()
    return positions


def _bounds(footer: pq.FileMetaData, column: str) -> Bounds:
    names = [footer.schema.column(number).path for number in range(footer.num_columns)]
    if column not in names:
        return tuple(None for _ in range(footer.num_row_groups))
    index = names.index(column)
    bounds: list[tuple[Any, Any] | None] = [
        (statistics.min, statistics.max)
        if (statistics := footer.row_group(group).column(index).statistics) is not None and statistics.has_min_max
        else None
        for group in range(footer.num_row_groups)
    ]
    return tuple(bounds)


def _read_columns(part: _Part, columns: Sequence[str]) -> pa.Table:
    """Read some columns of a row group in the types of the table; a column that was added later is NULL."""
    there = part.parquet.read_row_group(
        part.group, [name for name in columns if name in part.stored], use_threads=False
    )
    arrays = []
    for name in columns:
        kind = part.schema.field(name).type
        if name not in part.stored:
            arrays.append(pa.nulls(part.size, kind))
        else:
            column = there[name]
            arrays.append(column if column.type == kind else column.cast(kind))
    return pa.table(arrays, schema=_select(part.schema, columns))


def _select(schema: pa.Schema, columns: Sequence[str]) -> pa.Schema:
    return pa.schema([schema.field(name) for name in columns])


def _all_met(rows: pa.Table, conditions: Sequence[Condition]) -> pa.ChunkedArray:
    met = conditions[0].matches(rows[conditions[0].column])
    for condition in conditions[1:]:
        met = pc.and_(met, condition.matches(rows[condition.column]))
    return met.combine_chunks() if isinstance(met, pa.ChunkedArray) else met
