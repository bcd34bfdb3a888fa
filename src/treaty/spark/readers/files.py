"""List the files of a source and determine their format before Spark reads them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from pyspark.sql import SparkSession

from treaty.errors import InvalidDocument, NotFound
from treaty.spark.readers.read_errors import explain_errors
from treaty.spark.readers.sources import (
    MAGIC_BYTES_LENGTH,
    DataFormat,
    FileKind,
    Files,
    describe_mismatch,
    file_ending,
    file_kind,
)
from treaty.spark.session import shares_files

_GLOB = re.compile(r"[\\{}\[\]*?]")
_TABLE_FOLDERS = {
    "_delta_log": "a Delta table, which is not supported",
    "metadata": "an Iceberg table; read it by its name in the catalog",
}
_MAX_SHOWN_ENDINGS = 3


@dataclass(frozen=True)
class FileListing:
    """Files of one format, and the path for Spark."""

    path: str
    display_path: str
    kind: FileKind
    count: int


def list_files(spark: SparkSession, source: Files) -> FileListing:
    """List the files of a source and determine their format; refuse files that Spark would fail on or skip."""
    is_local = shares_files(spark)
    here = _local_path(source.path) if is_local else None
    if here is None:
        path = _in_this_folder(source.path) if is_local else source.path
        names = [
            (name, size) for name, size in _list_with_spark(spark, path) if not _is_hidden(PurePosixPath(name).name)
        ]
    else:
        _refuse_tables(here, source)
        names = [(str(file), file.stat().st_size) for file in _local_files(here, source)]
        path = _GLOB.sub(_escape, str(here))
    if not names:
        raise NotFound(f"no data files in {source}; files whose names begin with _ or . are ignored")
    kind = FileKind(source.format) if source.format else _common_kind([name for name, _ in names], source)
    if here is not None:
        _refuse_misnamed([name for name, size in names if size], kind.format)
    if kind.format not in (DataFormat.JSON_LINES, DataFormat.CSV) and not any(size for _, size in names):
        raise InvalidDocument(f"{source} is empty: a {kind.format} file contains at least a schema")
    return FileListing(path, source.path, kind, len(names))


def _in_this_folder(glob: str) -> str:
    """Return a glob with its folder, since the shared Spark was started in another one."""
    return glob if "://" in glob or glob.startswith(("/", "file:")) else f"{_GLOB.sub(_escape, str(Path.cwd()))}/{glob}"


def _escape(mark: re.Match[str]) -> str:
    return f"\\{mark[0]}"


def _local_path(text: str) -> Path | None:
    """Return a local path; None for globs and paths of other file systems, which Spark lists."""
    if "://" in text and not text.startswith("file://"):
        return None
    path = Path(text.removeprefix("file://")).expanduser().absolute()
    if path.exists():
        return path
    if _GLOB.search(text):
        return None
    raise NotFound(f"{text} does not exist; check the path")


def _list_with_spark(spark: SparkSession, path: str) -> list[tuple[str, int]]:
    """List files with Spark, without reading them."""
    with explain_errors(path):
        files = spark.read.format("binaryFile").option("recursiveFileLookup", "true").load(path)
        return [(row["path"], row["length"]) for row in files.select("path", "length").collect()]


def _local_files(place: Path, source: Files) -> Iterator[Path]:
    if place.is_file():
        if _is_hidden(place.name):
            raise InvalidDocument(f"{source}: Spark ignores files whose names begin with _ or .; rename it")
        yield place
        return
    for file in sorted(place.rglob("*")):
        if file.is_file() and not any(map(_is_hidden, file.relative_to(place).parts)):
            yield file


def _is_hidden(name: str) -> bool:
    return name.startswith(".") or (name.startswith("_") and "=" not in name)


def _refuse_tables(place: Path, source: Files) -> None:
    for name, what in _TABLE_FOLDERS.items():
        inside = place / name
        if inside.is_dir() and (name != "metadata" or any(inside.glob("*.metadata.json"))):
            raise InvalidDocument(f"{source} is the folder of {what}")


def _common_kind(names: list[str], source: Files) -> FileKind:
    kinds = {file_kind(name) for name in names}
    kind = kinds.pop()
    if not kinds and kind is not None:
        return kind
    seen = Counter(file_ending(name) or PurePosixPath(name).name for name in names)
    endings = ", ".join(f"{ending} ({count})" for ending, count in seen.most_common(_MAX_SHOWN_ENDINGS))
    what = "files of several formats" if kinds else "files of an unknown format"
    raise InvalidDocument(
        f"{source} has {what}: {endings}; choose one with --data-format ({', '.join(DataFormat)}) or use a glob"
    )


def _refuse_misnamed(names: list[str], expected: DataFormat) -> None:
    for name in names:
        with Path(name).open("rb") as file:
            actual = describe_mismatch(name, expected, file.read(MAGIC_BYTES_LENGTH))
        if actual:
            raise InvalidDocument(f"{name} is read as {expected}, but it is {actual}")


def partition_columns(spark: SparkSession, path: str) -> list[str]:
    """Return the partition columns from folder names such as day=2026-01-31, without reading files."""
    return [name for name in spark.read.text(path).columns if name != "value"]
