"""The folder of a static site: one builder at a time, every file whole, and nothing touched that is not ours."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from treaty.catalog.site.manifest import MANIFEST, Manifest, Written, read_manifest, stays_within
from treaty.errors import Conflict, InvalidDocument, Unavailable

try:
    import fcntl
except ImportError:  # where there is none, whoever builds sees to it that nobody else does
    fcntl = None  # type: ignore[assignment]

_LOCK = ".treaty-site.lock"
_JOURNAL = ".treaty-site.journal"
_NEW = ".treaty-new"
_LOOK = 0.1
_CAN_LOCK: bool = fcntl is not None


class FolderBusy(Conflict):
    """Somebody else builds here."""


class Folder:
    """A site's folder in the hands of one builder."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.before = self._remembered()
        self._known = {*self.before.files, *self._journaled()}

    def put(self, path: str, content: bytes) -> bool:
        """Write a file, if it is not there with this content already; say whether it was written."""
        there = self.path / path
        with _in_words(there):
            if _content(there) == content:
                self._note(path)
                return False
            if path not in self._known and there.exists():
                raise Conflict(f"{there} is none of the catalog's files; move it away, or choose another folder")
            self._note(path)
            there.parent.mkdir(parents=True, exist_ok=True)
            new = there.with_name(there.name + _NEW)
            new.write_bytes(content)
            new.replace(there)
        return True

    def has(self, path: str, written: Written) -> bool:
        """Tell whether a file is still there as it was written, by its size."""
        try:
            return (self.path / path).stat().st_size == written.size
        except OSError:
            return False

    def finish(self, manifest: Manifest) -> int:
        """Remove what the site no longer has, remember the rest, and return how many files went."""
        gone = sorted(self._known - manifest.files.keys())
        removed = 0
        for path in gone:
            removed += self._remove(self.path / path)
        with _in_words(self.path / MANIFEST):
            _write_durably(self.path / MANIFEST, manifest.as_text().encode())
            (self.path / _JOURNAL).unlink(missing_ok=True)
        self._known = set(manifest.files)
        return removed

    def _remove(self, there: Path) -> bool:
        with _in_words(there):
            there.with_name(there.name + _NEW).unlink(missing_ok=True)
            try:
                there.unlink()
            except FileNotFoundError:
                return False
            for above in there.relative_to(self.path).parents:
                if above != Path():
                    with suppress(OSError):  # somebody else's files are in it
                        (self.path / above).rmdir()
        return True

    def _note(self, path: str) -> None:
        """Note a file before it is written, so that after a crash it is known to be ours."""
        if path not in self._known:
            with (self.path / _JOURNAL).open("a", encoding="utf-8") as journal:
                journal.write(f"{path}\n")
            self._known.add(path)

    def _remembered(self) -> Manifest:
        there = self.path / MANIFEST
        with _in_words(there):
            try:
                return read_manifest(there.read_text(encoding="utf-8"), str(there))
            except UnicodeDecodeError:
                return read_manifest("", str(there))
            except FileNotFoundError:
                return Manifest()

    def _journaled(self) -> list[str]:
        try:
            lines = (self.path / _JOURNAL).read_text(encoding="utf-8").splitlines()
        except (FileNotFoundError, UnicodeDecodeError):
            return []
        for path in filter(stays_within, lines):
            with suppress(OSError):  # the one that was being written
                (self.path / f"{path}{_NEW}").unlink(missing_ok=True)
        return [path for path in lines if stays_within(path)]


@contextmanager
def lock_folder(path: Path, patience: float = 0.0, on_wait: Callable[[], None] = lambda: None) -> Iterator[Folder]:
    """Take a folder for a build, making it if there is none; wait for another builder for some seconds."""
    with _in_words(path):
        try:
            path.mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError):
            raise InvalidDocument(f"{path} is a file, or leads through one; name a folder") from None
        _check_ours(path)
        handle = os.open(path / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        _take(handle, path, patience, on_wait)
        yield Folder(path)
    finally:
        os.close(handle)


def _check_ours(path: Path) -> None:
    """Refuse a folder with files that nobody knows to be the catalog's; hidden ones, such as .git, may be there."""
    if (path / MANIFEST).exists() or (path / _JOURNAL).exists():
        return
    if strangers := sorted(one.name for one in path.iterdir() if not one.name.startswith(".")):
        raise Conflict(
            f"{path} has files that are not the catalog's, such as {strangers[0]!r}; "
            "choose an empty folder, or empty this one"
        )


def _take(handle: int, path: Path, patience: float, on_wait: Callable[[], None]) -> None:
    if not _CAN_LOCK:
        return
    until = time.monotonic() + patience
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= until:
                raise FolderBusy(f"somebody else builds in {path} just now; try again when that is done") from None
            on_wait()
            time.sleep(_LOOK)
        else:
            return


def _write_durably(path: Path, content: bytes) -> None:
    new = path.with_name(path.name + _NEW)
    with new.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)


def _content(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None


@contextmanager
def _in_words(path: Path) -> Iterator[None]:
    """Say what could not be written, and why."""
    try:
        yield
    except OSError as error:
        raise Unavailable(
            f"cannot write {path}: {error.strerror}; the pages there stay readable, and the next build puts them right"
        ) from None
