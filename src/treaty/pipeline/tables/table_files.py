"""The files of a table: which of them its snapshots need, and the removal of snapshots and of files that none needs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from treaty.pipeline.tables.table_catalog import Commit, TableCatalog, translate_catalog_errors

if TYPE_CHECKING:
    from pyiceberg.io import FileIO
    from pyiceberg.manifest import ManifestFile
    from pyiceberg.table import Table
    from pyiceberg.table.snapshots import Snapshot

MAX_PARALLEL_READS = 8


@dataclass(frozen=True)
class StoredFile:
    """A file in the folder of a table."""

    path: str
    bytes: int
    modified: datetime


@dataclass(frozen=True)
class RemovedFiles:
    """What was removed from a table, or would be."""

    snapshots: int = 0
    files: int = 0
    bytes: int = 0

    def __add__(self, other: RemovedFiles) -> RemovedFiles:
        return RemovedFiles(self.snapshots + other.snapshots, self.files + other.files, self.bytes + other.bytes)


@dataclass(frozen=True)
class Removal:
    """What to remove from a table."""

    snapshots: Collection[int] = ()
    orphans_before: datetime | None = None
    """Files that no snapshot refers to are removed if they were last changed before this time; None: they stay."""
    drop: tuple[str, ...] = ()
    """Branches to drop first."""
    properties: Mapping[str, str] = field(default_factory=dict)
    """Properties that are set in the same commit."""


def remove_snapshots(catalog: TableCatalog, table: str, removal: Removal, *, dry_run: bool = False) -> RemovedFiles:
    """Remove snapshots in one commit, then the files that only they needed, and old files that none needs.

    Every file that a remaining snapshot can read stays. If the process ends in between, the files that are left over
    are removed as orphans later.
    """
    with translate_catalog_errors(table):
        before = catalog.open_table(table)
        gone = [snapshot for snapshot in before.metadata.snapshots if snapshot.snapshot_id in removal.snapshots]
        kept = [snapshot for snapshot in before.metadata.snapshots if snapshot.snapshot_id not in removal.snapshots]
        kept_manifests = _manifests(before.io, kept)
        needed = _needed_files(before, kept, kept_manifests)
        own = _own_files(before.io, gone, kept_manifests)
        unneeded = [
            file
            for file in _list_folder(before)
            if file.path not in needed
            and (file.path in own or (removal.orphans_before is not None and file.modified < removal.orphans_before))
        ]
    removed = RemovedFiles(len(gone), len(unneeded), sum(file.bytes for file in unneeded))
    if dry_run:
        return removed
    if gone or removal.drop or removal.properties:
        expired = frozenset(snapshot.snapshot_id for snapshot in gone)
        catalog.commit(table, Commit(drop=removal.drop, properties=removal.properties, expire=expired))
    with translate_catalog_errors(table):
        _delete(before, unneeded)
    return removed


def folder_bytes(catalog: TableCatalog, table: str) -> tuple[int, int]:
    """Return the number of files in the folder of a table, and their size in bytes."""
    with translate_catalog_errors(table):
        files = _list_folder(catalog.open_table(table))
    return len(files), sum(file.bytes for file in files)


def _manifests(io: FileIO, snapshots: Iterable[Snapshot]) -> dict[str, ManifestFile]:
    """Return the manifests of snapshots by path."""
    with ThreadPoolExecutor(MAX_PARALLEL_READS) as pool:
        lists = list(pool.map(lambda snapshot: snapshot.manifests(io), snapshots))
    return {manifest.manifest_path: manifest for manifests in lists for manifest in manifests}


def _data_files(io: FileIO, manifests: Iterable[ManifestFile]) -> set[str]:
    """Return the data and delete files that manifests list, without those that they mark as deleted."""
    with ThreadPoolExecutor(MAX_PARALLEL_READS) as pool:
        entries = list(pool.map(lambda manifest: manifest.fetch_manifest_entry(io), manifests))
    return {_path(entry.data_file.file_path) for some in entries for entry in some}


def _needed_files(table: Table, kept: Iterable[Snapshot], manifests: Mapping[str, ManifestFile]) -> set[str]:
    metadata = table.metadata
    return {
        _path(table.metadata_location),
        *(_path(entry.metadata_file) for entry in metadata.metadata_log),
        *(_path(snapshot.manifest_list) for snapshot in kept),
        *(_path(statistics.statistics_path) for statistics in metadata.statistics),
        *(_path(statistics.statistics_path) for statistics in metadata.partition_statistics),
        *map(_path, manifests),
        *_data_files(table.io, manifests.values()),
    }


def _own_files(io: FileIO, gone: Iterable[Snapshot], kept_manifests: Mapping[str, ManifestFile]) -> set[str]:
    """Return the files of snapshots that are removed; some of them may be needed by other snapshots too."""
    own = {path: manifest for path, manifest in _manifests(io, gone).items() if path not in kept_manifests}
    lists = {_path(snapshot.manifest_list) for snapshot in gone}
    return lists | set(map(_path, own)) | _data_files(io, own.values())


def _list_folder(table: Table) -> list[StoredFile]:
    from pyarrow.fs import FileSelector, FileType  # type: ignore[import-untyped]
    from pyiceberg.io.pyarrow import PyArrowFileIO

    io = table.io
    if not isinstance(io, PyArrowFileIO):
        return []
    scheme, host, path = io.parse_location(table.location(), io.properties)
    infos = io.fs_by_scheme(scheme, host).get_file_info(FileSelector(path, allow_not_found=True, recursive=True))
    return [StoredFile(info.path, info.size or 0, info.mtime) for info in infos if info.type == FileType.File]


def _delete(table: Table, files: Iterable[StoredFile]) -> None:
    from pyiceberg.io.pyarrow import PyArrowFileIO

    io = table.io
    assert isinstance(io, PyArrowFileIO)  # noqa: S101  only its files were listed
    scheme, host, _ = io.parse_location(table.location(), io.properties)
    store = io.fs_by_scheme(scheme, host)

    def delete(file: StoredFile) -> None:
        try:
            store.delete_file(file.path)
        except FileNotFoundError:
            return  # another process has removed it

    with ThreadPoolExecutor(MAX_PARALLEL_READS) as pool:
        list(pool.map(delete, files))


def _path(location: str) -> str:
    """Return a location as the file system lists it: without its scheme."""
    from pyiceberg.io.pyarrow import PyArrowFileIO

    return PyArrowFileIO.parse_location(location)[2]
