"""The output folder of a static site: locked while building, atomic writes, foreign files are never touched."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from treaty.catalog.site.manifest import MANIFEST, Manifest, WrittenFile, read_manifest, stays_within
from treaty.errors import Conflict, InvalidDocument, Unavailable

try:
    import fcntl
except ImportError:  # no file locks on this platform: concurrent builds are not detected
    fcntl = None  # type: ignore[assignment]

_LOCK = ".treaty-site.lock"
_JOURNAL = ".treaty-site.journal"
_TEMPORARY_SUFFIX = ".treaty-new"
_LOCK_POLL_SECONDS = 0.1
_CAN_LOCK: bool = fcntl is not None


class FolderBusy(Conflict):
    """Another process is building in this folder."""


class Folder:
    """The output folder, locked by one build."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.before = self._read_manifest()
        self._known = {*self.before.files, *self._read_journal()}

    def put(self, path: str, content: bytes) -> bool:
        """Write a file unless it already has this content. Returns whether it was written."""
        target = self.path / path
        with _reporting_errors(target):
            if _content(target) == content:
                self._add_to_journal(path)
                return False
            if path not in self._known and target.exists():
                raise Conflict(f"{target} was not written by the catalog; move it, or choose another folder")
            self._add_to_journal(path)
            target.parent.mkdir(parents=True, exist_ok=True)
            temporary = target.with_name(target.name + _TEMPORARY_SUFFIX)
            temporary.write_bytes(content)
            temporary.replace(target)
        return True

    def has(self, path: str, written: WrittenFile) -> bool:
        """Return whether a file still has the size that was written."""
        try:
            return (self.path / path).stat().st_size == written.size
        except OSError:
            return False

    def finish(self, manifest: Manifest) -> int:
        """Remove files that the site no longer has, write the manifest, and return the number of removed files."""
        obsolete = sorted(self._known - manifest.files.keys())
        removed = 0
        for path in obsolete:
            removed += self._remove(self.path / path)
        with _reporting_errors(self.path / MANIFEST):
            _write_durably(self.path / MANIFEST, manifest.as_text().encode())
            (self.path / _JOURNAL).unlink(missing_ok=True)
        self._known = set(manifest.files)
        return removed

    def _remove(self, target: Path) -> bool:
        with _reporting_errors(target):
            target.with_name(target.name + _TEMPORARY_SUFFIX).unlink(missing_ok=True)
            try:
                target.unlink()
            except FileNotFoundError:
                return False
            for parent in target.relative_to(self.path).parents:
                if parent != Path():
                    with suppress(OSError):  # it has other files
                        (self.path / parent).rmdir()
        return True

    def _add_to_journal(self, path: str) -> None:
        """Record a file before it is written, so that it can be removed after a crash."""
        if path not in self._known:
            with (self.path / _JOURNAL).open("a", encoding="utf-8") as journal:
                journal.write(f"{path}\n")
            self._known.add(path)

    def _read_manifest(self) -> Manifest:
        target = self.path / MANIFEST
        with _reporting_errors(target):
            try:
                return read_manifest(target.read_text(encoding="utf-8"), str(target))
            except UnicodeDecodeError:
                return read_manifest("", str(target))
            except FileNotFoundError:
                return Manifest()

    def _read_journal(self) -> list[str]:
        try:
            lines = (self.path / _JOURNAL).read_text(encoding="utf-8").splitlines()
        except (FileNotFoundError, UnicodeDecodeError):
            return []
        for path in filter(stays_within, lines):
            with suppress(OSError):  # an interrupted write
                (self.path / f"{path}{_TEMPORARY_SUFFIX}").unlink(missing_ok=True)
        return [path for path in lines if stays_within(path)]


@contextmanager
def lock_folder(path: Path, wait_seconds: float = 0.0, on_wait: Callable[[], None] = lambda: None) -> Iterator[Folder]:
    """Create and lock a folder for a build, waiting for another build for some seconds."""
    with _reporting_errors(path):
        try:
            path.mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError):
            raise InvalidDocument(f"{path} is not a folder; choose another path") from None
        _check_owned(path)
        handle = os.open(path / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        _acquire_lock(handle, path, wait_seconds, on_wait)
        yield Folder(path)
    finally:
        os.close(handle)


def _check_owned(path: Path) -> None:
    """Refuse a folder with files that the catalog did not write. Hidden files such as .git are allowed."""
    if (path / MANIFEST).exists() or (path / _JOURNAL).exists():
        return
    if foreign := sorted(file.name for file in path.iterdir() if not file.name.startswith(".")):
        raise Conflict(
            f"{path} has files that were not written by the catalog, such as {foreign[0]!r}; "
            "choose an empty folder, or empty this one"
        )


def _acquire_lock(handle: int, path: Path, wait_seconds: float, on_wait: Callable[[], None]) -> None:
    if not _CAN_LOCK:
        return
    deadline = time.monotonic() + wait_seconds
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                raise FolderBusy(f"another build is running in {path}; try again later") from None
            on_wait()
            time.sleep(_LOCK_POLL_SECONDS)
        else:
            return


def _write_durably(path: Path, content: bytes) -> None:
    temporary = path.with_name(path.name + _TEMPORARY_SUFFIX)
    with temporary.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)


def _content(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None


@contextmanager
def _reporting_errors(path: Path) -> Iterator[None]:
    """Raise Unavailable with the path and the reason of an OSError."""
    try:
        yield
    except OSError as error:
        raise Unavailable(
            f"cannot write {path}: {error.strerror}; existing pages stay readable, and the next build repairs them"
        ) from None
