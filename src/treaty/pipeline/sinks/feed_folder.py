"""The folder of a feed: deliveries are written to a staging folder and moved into place in one step.

Spark and this process must share the file system (`local[*]`, or a cluster or Connect server with the folder mounted):
Spark writes the files, this process counts, digests and moves them. Other addresses are refused.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from hashlib import file_digest
from pathlib import Path
from typing import Any

from treaty.contracts.model import Contract
from treaty.errors import InvalidDocument, Unavailable
from treaty.pipeline.project.declarations import Feed
from treaty.spark.schema import select_object, struct_type

MANIFEST = "manifest.json"
LATEST = "latest.json"
_RUN = "run="
_FILE = "file:"
_UNFINISHED = ".unfinished"
_GLOB = frozenset("*?[]{}")


@dataclass(frozen=True)
class FeedFolder:
    """The deliveries of one publication."""

    path: Path

    @classmethod
    def of(cls, feed: Feed, table: str) -> FeedFolder:
        """Return the folder of a publication's deliveries."""
        place = feed.folder
        if "://" in place and not place.startswith(_FILE):
            raise InvalidDocument(
                f"a feed cannot be written to {place}: use a folder that this machine and Spark share, "
                "such as a mounted one"
            )
        if _GLOB & set(place):
            raise InvalidDocument(f"the path of a feed's folder must not contain any of * ? [ ] {{ }}: {place}")
        local = Path("/" + place.removeprefix(_FILE).lstrip("/") if place.startswith(_FILE) else place)
        return cls(local.absolute() / table)

    def of_run(self, run: int) -> Path:
        """Return the folder of a run's delivery."""
        return self.path / f"{_RUN}{run}"

    def staging_folder(self, run: int) -> Path:
        """Return the folder in which the delivery of a run is written before it is complete."""
        return self.path / f".{_RUN.rstrip('=')}-{run}{_UNFINISHED}"

    def delivered(self, run: int) -> Manifest | None:
        """Return the manifest of a run's delivery, or None if it or one of its files is missing."""
        folder = self.of_run(run)
        try:
            content = (folder / MANIFEST).read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise _unavailable(folder, error) from None
        try:
            manifest = read_manifest(content, str(folder / MANIFEST))
        except InvalidDocument:
            return None
        is_complete = all(_size(folder / file.name) == file.bytes for file in manifest.files)
        return manifest if is_complete and manifest.run == run else None

    def runs(self) -> list[int]:
        """Return the runs that have a folder, oldest first."""
        names = [path.name for path in self._entries() if path.name.startswith(_RUN)]
        return sorted(int(name.removeprefix(_RUN)) for name in names if name.removeprefix(_RUN).isdecimal())

    def latest(self) -> Manifest | None:
        """Return the newest complete delivery, by its folder: `latest.json` is written later and may be out of date."""
        return next(self._complete_deliveries(), None)

    def before(self, run: int) -> Manifest | None:
        """Return the newest complete delivery of an earlier run."""
        return next((manifest for manifest in self._complete_deliveries() if manifest.run < run), None)

    def digest(self, manifest: Manifest) -> str:
        """Return the SHA-256 of a delivery's manifest, by which later manifests refer to it."""
        return file_sha256(self.of_run(manifest.run) / MANIFEST)

    def move_into_place(self, staged: Path, run: int) -> None:
        """Move a complete delivery to its folder; an incomplete one there is removed."""
        place = self.of_run(run)
        shutil.rmtree(place, ignore_errors=True)
        staged.rename(place)
        flush_to_disk(self.path)

    def point_at(self, manifest: Manifest) -> None:
        """Update `latest.json` atomically to name a delivery, unless it does already."""
        latest = {
            "run": manifest.run,
            "manifest": f"{_RUN}{manifest.run}/{MANIFEST}",
            "manifest_sha256": self.digest(manifest),
            "rows": manifest.rows,
            "contract": {"id": manifest.contract, "version": manifest.version},
            "created_at": manifest.as_data()["created_at"],
        }
        content = (json.dumps(latest, indent=2, ensure_ascii=False) + "\n").encode()
        target = self.path / LATEST
        if target.is_file() and target.read_bytes() == content:
            return
        write_durably(self.path / f".{LATEST}{_UNFINISHED}", content)
        (self.path / f".{LATEST}{_UNFINISHED}").replace(target)
        flush_to_disk(self.path)

    def clear(self) -> None:
        """Remove what interrupted runs left behind; the run lock allows one run at a time."""
        for path in self._entries():
            if not (path.name.startswith(".") and path.name.endswith(_UNFINISHED)):
                continue
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()

    def _complete_deliveries(self) -> Iterator[Manifest]:
        manifests = (self.delivered(run) for run in reversed(self.runs()))
        return (manifest for manifest in manifests if manifest is not None)

    def _entries(self) -> list[Path]:
        try:
            return sorted(self.path.iterdir())
        except FileNotFoundError:
            return []
        except OSError as error:
            raise _unavailable(self.path, error) from None


def write_durably(path: Path, content: bytes) -> None:
    """Write a file and flush it to the disk."""
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def flush_to_disk(path: Path) -> None:
    """Flush a file or folder to the disk, so that it survives a power failure."""
    opened = os.open(path, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def _size(path: Path) -> int | None:
    try:
        return path.stat().st_size if path.is_file() else None
    except OSError:
        return None


def _unavailable(path: Path, error: OSError) -> Unavailable:
    return Unavailable(f"cannot use the feed's folder {path}: {error.strerror}")


def file_sha256(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


MANIFEST_VERSION = 1
"""The version of the manifest format."""


class Content(StrEnum):
    """Whether a delivery holds all rows, or the changes since the previous delivery."""

    FULL = "full"
    CHANGES = "changes"


@dataclass(frozen=True)
class DataFile:
    """A data file of a delivery, with its row count, size and digest."""

    name: str
    rows: int
    bytes: int
    sha256: str


@dataclass(frozen=True)
class Previous:
    """The previous delivery, by its run and the digest of its manifest."""

    run: int
    manifest_sha256: str


@dataclass(frozen=True)
class Column:
    """A column of the contract."""

    name: str
    type: str
    required: bool


@dataclass(frozen=True)
class Manifest:
    """The content of `manifest.json`."""

    table: str
    contract: str
    version: str
    run: int
    created_at: datetime
    format: str
    columns: tuple[Column, ...]
    files: tuple[DataFile, ...]
    content: Content = Content.FULL
    previous: Previous | None = None
    stamp: Mapping[str, str] = field(default_factory=dict)
    """The stamp of the snapshot that was delivered."""
    dialect: Mapping[str, str] = field(default_factory=dict)

    @property
    def rows(self) -> int:
        """Number of rows in all files."""
        return sum(file.rows for file in self.files)

    def as_data(self) -> dict[str, Any]:
        """Return the manifest as JSON data."""
        return {
            "manifest": MANIFEST_VERSION,
            "table": self.table,
            "contract": {"id": self.contract, "version": self.version},
            "run": self.run,
            "created_at": _format_time(self.created_at),
            "content": self.content.value,
            "previous": None if self.previous is None else vars(self.previous),
            "format": self.format,
            "dialect": dict(self.dialect),
            "schema": [vars(column) for column in self.columns],
            "rows": self.rows,
            "files": [vars(file) for file in self.files],
            "stamp": dict(self.stamp),
        }

    def to_bytes(self) -> bytes:
        """Return the content of the file."""
        return (json.dumps(self.as_data(), indent=2, ensure_ascii=False) + "\n").encode()


def columns_of(contract: Contract) -> tuple[Column, ...]:
    """Return the columns of a contract, as the manifest lists them."""
    fields = struct_type(select_object(contract)).fields
    return tuple(Column(field.name, field.dataType.simpleString(), not field.nullable) for field in fields)


def read_manifest(content: bytes, where: str) -> Manifest:
    """Parse a manifest; raise `InvalidDocument` if it is not one."""
    try:
        data = json.loads(content)
        if data["manifest"] != MANIFEST_VERSION:
            raise InvalidDocument(
                f"{where} has manifest version {data['manifest']}; only version {MANIFEST_VERSION} is supported"
            )
        return Manifest(
            table=str(data["table"]),
            contract=str(data["contract"]["id"]),
            version=str(data["contract"]["version"]),
            run=int(data["run"]),
            created_at=datetime.fromisoformat(data["created_at"]),
            format=str(data["format"]),
            columns=tuple(Column(**column) for column in data["schema"]),
            files=tuple(DataFile(**file) for file in data["files"]),
            content=Content(data["content"]),
            previous=None if data["previous"] is None else Previous(**data["previous"]),
            stamp=dict(data["stamp"]),
            dialect=dict(data["dialect"]),
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InvalidDocument(f"{where} is not a manifest of a delivery: {error}") from None


def _format_time(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
