"""Which files match the pattern of a source: their names as people write them, sizes and modification times.

Local folders are listed in Python, so that looking for new files needs no Spark job; other file systems are listed by
Spark. Both follow the patterns of Spark: `*`, `?`, `[abc]`, `{a,b}`, and a folder means all files below it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from treaty.spark.readers.read_errors import explain_errors

_GLOB = re.compile(r"[\\{}\[\]*?]")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]+:")
_FILE_URL = re.compile(r"file:/+")
_BRACES = re.compile(r"(?<!\\)\{([^{}]*)\}")
_PATH_NOT_FOUND = "PATH_NOT_FOUND"
_IN_PROGRESS = "._COPYING_"
_UNDERSCORE = "its name begins with _, and Spark ignores such files; rename it"
_NANOSECONDS, _MICROSECONDS = 1_000_000, 1_000
"""In a millisecond, the precision of Spark's modification times."""


@dataclass(frozen=True)
class ListedFile:
    """A file that matches the pattern of a source."""

    name: str
    """Relative to the folder of the project if it is inside, else the complete path or URL."""
    path: str
    """The path with which Spark opens it."""
    size: int | None
    """None if the file cannot be opened."""
    modified: int
    """Modification time in microseconds since 1970."""
    is_local: bool = True
    problem: str = ""
    """Why Spark cannot read it; empty if it can."""

    @property
    def pattern(self) -> str:
        """The path as a pattern that matches nothing else."""
        return _GLOB.sub(lambda mark: f"\\{mark[0]}", self.path)

    @property
    def version(self) -> tuple[int | None, int]:
        """What changes when the file is replaced."""
        return self.size, self.modified


def list_files(spark: SparkSession | None, pattern: str, folder: Path) -> list[ListedFile]:
    """Return the files that match a pattern in order of arrival: by modification time, then by name.

    Empty files and hidden ones, whose names begin with a dot, are left out. Without Spark, a folder that is not here
    has no files.
    """
    local = _local_pattern(pattern)
    if local is not None:
        files = _list_locally(local, folder)
    else:
        files = _list_with_spark(spark, pattern, folder) if spark is not None else iter(())
    return sorted(files, key=lambda file: (file.modified, file.name))


def is_listed_by_spark(pattern: str) -> bool:
    """Tell whether only Spark can list a pattern: a URL of another file system."""
    return bool(_SCHEME.match(pattern)) and not _FILE_URL.match(pattern)


def name_in_project(path: str, folder: Path) -> str:
    """Return a path or URL as people write it: without URL encoding, and relative to the folder if it is inside."""
    if not _FILE_URL.match(path):
        return unquote(path) if _SCHEME.match(path) else _relative(path, folder)
    return _relative(_FILE_URL.sub("/", unquote(path), count=1), folder)


def _relative(path: str, folder: Path) -> str:
    return path.removeprefix(f"{_normalized(folder)}/")


def _normalized(path: str | Path) -> Path:
    """Return an absolute path without `..`, as Spark writes it; links are kept."""
    return Path(os.path.abspath(path))  # noqa: PTH100  resolve() would follow links


@dataclass(frozen=True)
class _LocalPattern:
    """A pattern of local files: the folder that it names literally, and the rest with wildcards."""

    base: Path
    wildcards: str

    def matches(self) -> Iterator[Path]:
        """Yield the files and folders that match."""
        if not self.wildcards:
            yield self.base
            return
        for expanded in _expand_braces(self.wildcards):
            yield from self.base.glob(_python_glob(expanded))


def _local_pattern(pattern: str) -> _LocalPattern | None:
    """Return a pattern of local files, or None if Spark has to list it: a URL, or a folder that is not here."""
    if is_listed_by_spark(pattern):
        return None
    path = str(_normalized(_FILE_URL.sub("/", pattern, count=1)))
    mark = _GLOB.search(path)
    fixed = path[: path.rindex("/", 0, mark.start())] if mark else path
    base = Path(fixed or "/")
    return _LocalPattern(base, path[len(fixed) + 1 :]) if base.exists() or base.is_symlink() else None


def _list_locally(pattern: _LocalPattern, folder: Path) -> Iterator[ListedFile]:
    seen: set[Path] = set()
    for match in pattern.matches():
        for path in _files_at(match):
            hidden = any(part.startswith(".") for part in path.relative_to(pattern.base).parts)
            if path not in seen and not hidden:
                seen.add(path)
                yield from _describe(path, folder)


def _expand_braces(pattern: str) -> Iterator[str]:
    """Yield one pattern for each choice in braces, which Python's patterns do not have."""
    braces = _BRACES.search(pattern)
    if braces is None:
        yield pattern
        return
    for choice in braces[1].split(","):
        yield from _expand_braces(f"{pattern[: braces.start()]}{choice}{pattern[braces.end() :]}")


def _python_glob(pattern: str) -> str:
    """Return a pattern of Spark in the syntax of Python: [!a] for [^a], [*] for an escaped mark, * for **."""
    literal = re.sub(r"\\(.)", lambda mark: f"[{mark[1]}]", pattern)
    return re.sub(r"\*{2,}", "*", literal.replace("[^", "[!"))


def _files_at(match: Path) -> Iterator[Path]:
    """Yield a file, or all files below a folder; folders that begin with _ hold files that are not complete yet."""
    if not match.is_dir():
        yield match
        return
    for place, folders, names in os.walk(match):
        folders[:] = [name for name in folders if not name.startswith("_") or "=" in name]
        yield from (Path(place, name) for name in names)


def _describe(path: Path, folder: Path) -> Iterator[ListedFile]:
    """Yield the file at a path, unless it is empty, still being copied, or was removed just now."""
    name = _relative(str(path), folder)
    try:
        about = path.stat()
    except OSError:
        with suppress(OSError):
            problem = f"it is a link to {path.readlink()}, which does not exist"
            yield ListedFile(name, str(path), None, _micros(path.lstat()), problem=problem)
        return
    if about.st_size and not name.endswith(_IN_PROGRESS):
        problem = _UNDERSCORE if path.name.startswith("_") and "=" not in path.name else ""
        yield ListedFile(name, str(path), about.st_size, _micros(about), problem=problem)


def _micros(about: os.stat_result) -> int:
    return about.st_mtime_ns // _NANOSECONDS * _MICROSECONDS


def _list_with_spark(spark: SparkSession, pattern: str, folder: Path) -> Iterator[ListedFile]:
    with explain_errors(pattern):
        try:
            files = spark.read.format("binaryFile").option("recursiveFileLookup", "true").load(pattern)
            modified = F.unix_micros("modificationTime").alias("modified")
            rows = files.where("length > 0").select("path", "length", modified).collect()
        except PySparkException as error:
            if _PATH_NOT_FOUND in str(error):
                return
            raise
    for row in rows:
        name = _relative(_FILE_URL.sub("/", row["path"], count=1), folder)
        yield ListedFile(name, row["path"], row["length"], row["modified"], is_local=False)
