"""Where deliveries stand, and how one comes to stand there whole: written aside, then moved in one step.

The files are on a file system that Spark and this process share (`local[*]`, or a cluster or Connect server with the
folder mounted): Spark writes them, this process counts, digests and moves them. Other addresses are refused.
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
                f"a feed cannot be written to {place}: name a folder that this machine and Spark both see, "
                "such as a mounted one"
            )
        if _GLOB & set(place):
            raise InvalidDocument(f"the folder of a feed cannot have any of * ? [ ] {{ }} in its path: {place}")
        local = Path("/" + place.removeprefix(_FILE).lstrip("/") if place.startswith(_FILE) else place)
        return cls(local.absolute() / table)

    def of_run(self, run: int) -> Path:
        """Return where the delivery of a run stands, or would."""
        return self.path / f"{_RUN}{run}"

    def aside(self, run: int) -> Path:
        """Return where the delivery of a run is written before it is whole."""
        return self.path / f".{_RUN.rstrip('=')}-{run}{_UNFINISHED}"

    def delivered(self, run: int) -> Manifest | None:
        """Return the manifest of a run's delivery, or None where it is missing or a file of it is."""
        folder = self.of_run(run)
        try:
            content = (folder / MANIFEST).read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise _trouble(folder, error) from None
        try:
            manifest = read_manifest(content, str(folder / MANIFEST))
        except InvalidDocument:
            return None
        whole = all(_size(folder / file.name) == file.bytes for file in manifest.files)
        return manifest if whole and manifest.run == run else None

    def runs(self) -> list[int]:
        """Return the runs that have a folder, oldest first."""
        names = [one.name for one in self._entries() if one.name.startswith(_RUN)]
        return sorted(int(name.removeprefix(_RUN)) for name in names if name.removeprefix(_RUN).isdecimal())

    def latest(self) -> Manifest | None:
        """Return the newest whole delivery; the folders decide, since `latest.json` is written after them."""
        return next(self._whole(), None)

    def before(self, run: int) -> Manifest | None:
        """Return the newest whole delivery of an earlier run."""
        return next((manifest for manifest in self._whole() if manifest.run < run), None)

    def digest(self, manifest: Manifest) -> str:
        """Return the SHA-256 of a delivery's manifest, by which others name it."""
        return digest_of(self.of_run(manifest.run) / MANIFEST)

    def put_in_place(self, staged: Path, run: int) -> None:
        """Move a finished delivery to its place; something incomplete there gives way."""
        place = self.of_run(run)
        shutil.rmtree(place, ignore_errors=True)
        staged.rename(place)
        sync(self.path)

    def point_at(self, manifest: Manifest) -> None:
        """Let `latest.json` name a delivery, in one step, unless it does already."""
        said = {
            "run": manifest.run,
            "manifest": f"{_RUN}{manifest.run}/{MANIFEST}",
            "manifest_sha256": self.digest(manifest),
            "rows": manifest.rows,
            "contract": {"id": manifest.contract, "version": manifest.version},
            "created_at": manifest.as_data()["created_at"],
        }
        content = (json.dumps(said, indent=2, ensure_ascii=False) + "\n").encode()
        target = self.path / LATEST
        if target.is_file() and target.read_bytes() == content:
            return
        write_whole(self.path / f".{LATEST}{_UNFINISHED}", content)
        (self.path / f".{LATEST}{_UNFINISHED}").replace(target)
        sync(self.path)

    def clear(self) -> None:
        """Remove what runs that died left unfinished; one run works here at a time."""
        for one in self._entries():
            if not (one.name.startswith(".") and one.name.endswith(_UNFINISHED)):
                continue
            if one.is_dir():
                shutil.rmtree(one)
            else:
                one.unlink()

    def _whole(self) -> Iterator[Manifest]:
        found = (self.delivered(run) for run in reversed(self.runs()))
        return (manifest for manifest in found if manifest is not None)

    def _entries(self) -> list[Path]:
        try:
            return sorted(self.path.iterdir())
        except FileNotFoundError:
            return []
        except OSError as error:
            raise _trouble(self.path, error) from None


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that it is on the disk when this returns."""
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def sync(path: Path) -> None:
    """See a file or folder through to the disk, so that a power cut does not undo it."""
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


def _trouble(path: Path, error: OSError) -> Unavailable:
    return Unavailable(f"cannot work in the feed's folder {path}: {error.strerror}")


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()
