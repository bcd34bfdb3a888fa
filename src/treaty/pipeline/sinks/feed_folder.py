"""The folder of a feed: deliveries are written to a staging folder and moved into place in one step.

Spark and this process must share the file system (`local[*]`, or a cluster or Connect server with the folder mounted):
Spark writes the files, this process counts, digests and moves them. Other addresses are refused.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import file_digest
from pathlib import Path

from treaty.errors import InvalidDocument, Unavailable
from treaty.pipeline.project.declarations import Feed
from treaty.pipeline.sinks.manifest import Manifest, read_manifest

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
