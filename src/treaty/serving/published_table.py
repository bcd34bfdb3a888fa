"""A published table as the read API sees it: its snapshots with their runs, and the data files of each."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

import pyarrow as pa  # type: ignore[import-untyped]

from treaty.errors import InvalidDocument, NotFound, Unavailable

if TYPE_CHECKING:
    from pyiceberg.table import Table

MAX_AGE_S = 1.0
"""How long the metadata of a table is used before it is read again; so old may an answer be."""
MAX_PLANNED_SNAPSHOTS = 8
"""Snapshots of a table whose lists of files stay in memory."""


@dataclass(frozen=True)
class PublishedSnapshot:
    """A snapshot that a run has published."""

    id: int
    run: int
    contract_version: str
    """The version of the contract that the run has published the rows under."""
    committed_at: datetime


@dataclass(frozen=True)
class LoadedTable:
    """The metadata of a table, and its published snapshots, newest first."""

    table: Table
    snapshots: tuple[PublishedSnapshot, ...]


@dataclass(frozen=True)
class StoredFile:
    """A data file of a snapshot, and the files with the positions of its deleted rows."""

    path: str
    rows: int
    delete_files: tuple[str, ...] = ()


class PublishedTable:
    """The table of one publication. What was read of it is cached, since snapshots never change."""

    def __init__(self, load: Callable[[], LoadedTable], clock: Callable[[], float] = time.monotonic) -> None:
        self._load = load
        self._clock = clock
        self._lock = threading.Lock()
        self._loaded: LoadedTable | None = None
        self._loaded_at = 0.0
        self._files: OrderedDict[int, tuple[StoredFile, ...]] = OrderedDict()
        self._schemas: dict[int, pa.Schema] = {}

    def loaded(self) -> LoadedTable:
        """Return the metadata of the table, at most one second old; raise NotFound before the first run."""
        with self._lock:
            if self._loaded is None or self._clock() - self._loaded_at >= MAX_AGE_S:
                self._loaded = self._load()
                self._loaded_at = self._clock()
            return self._loaded

    def snapshot(self, as_of: str | None = None) -> PublishedSnapshot:
        """Return the newest snapshot, or the one that was published by a run or at a time."""
        snapshots = self.loaded().snapshots
        if not snapshots:
            raise NotFound("no run has published rows yet")
        if as_of is None:
            return snapshots[0]
        if as_of.isascii() and as_of.isdecimal() and len(as_of) < 19:
            match = next((one for one in snapshots if one.run <= int(as_of)), None)
        else:
            moment = _parse_moment(as_of)
            match = next((one for one in snapshots if one.committed_at <= moment), None)
        if match is None:
            raise NotFound(
                "no snapshot is as old as as_of asks for; the retention of the project keeps newer ones only"
            )
        return match

    def pinned(self, snapshot: int) -> PublishedSnapshot:
        """Return a snapshot by its id; raise NotFound if it has expired."""
        match = next((one for one in self.loaded().snapshots if one.id == snapshot), None)
        if match is None:
            raise NotFound("the snapshot of this cursor is no longer kept; start again without the cursor")
        return match

    def files(self, snapshot: PublishedSnapshot) -> tuple[StoredFile, ...]:
        """Return the data files of a snapshot, always in the same order."""
        with self._lock:
            planned = self._files.get(snapshot.id)
            if planned is not None:
                self._files.move_to_end(snapshot.id)
                return planned
        planned = _plan(self.loaded().table, snapshot.id)
        with self._lock:
            self._files[snapshot.id] = planned
            while len(self._files) > MAX_PLANNED_SNAPSHOTS:
                self._files.popitem(last=False)
        return planned

    def schema(self, snapshot: PublishedSnapshot) -> pa.Schema:
        """Return the columns of a snapshot."""
        schema = self._schemas.get(snapshot.id)
        if schema is None:
            schema = _arrow_schema(self.loaded().table, snapshot.id)
            if len(self._schemas) >= MAX_PLANNED_SNAPSHOTS:
                self._schemas.clear()
            self._schemas[snapshot.id] = schema
        return schema


def _parse_moment(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise InvalidDocument(
            "as_of is neither the number of a run nor a time with a time zone, such as 2026-03-01T00:00:00Z"
        )
    return moment


def _plan(table: Table, snapshot: int) -> tuple[StoredFile, ...]:
    from pyiceberg.manifest import DataFileContent

    planned = []
    for task in table.scan(snapshot_id=snapshot).plan_files():
        if any(file.content is not DataFileContent.POSITION_DELETES for file in task.delete_files):
            raise Unavailable(f"{task.file.file_path} has deletes by value, which the read API does not read")
        deletes = tuple(sorted(file.file_path for file in task.delete_files))
        planned.append(StoredFile(task.file.file_path, task.file.record_count, deletes))
    return tuple(sorted(planned, key=lambda file: file.path))


def _arrow_schema(table: Table, snapshot: int) -> pa.Schema:
    """Return the columns of a snapshot in the types in which Parquet files have them."""
    from pyiceberg.io.pyarrow import schema_to_pyarrow

    converted = schema_to_pyarrow(table.scan(snapshot_id=snapshot).projection(), include_field_ids=False)
    return pa.schema([pa.field(field.name, _small(field.type), field.nullable) for field in converted])


def _small(kind: pa.DataType) -> pa.DataType:
    """Return a type with 32-bit offsets, since a row group is small."""
    if pa.types.is_large_string(kind):
        return pa.string()
    if pa.types.is_large_binary(kind):
        return pa.binary()
    if pa.types.is_struct(kind):
        return pa.struct([pa.field(inner.name, _small(inner.type), inner.nullable) for inner in kind])
    if pa.types.is_large_list(kind) or pa.types.is_list(kind):
        return pa.list_(pa.field("element", _small(kind.value_type), kind.value_field.nullable))
    if pa.types.is_map(kind):
        return pa.map_(_small(kind.key_type), pa.field("value", _small(kind.item_type), kind.item_field.nullable))
    return kind
