"""The files behind a path: what is there, before Spark is asked to read it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from pyspark.sql import SparkSession, is_remote

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

_GLOB = re.compile(r"[\\{}\[\]*?]")
_OF_A_TABLE = {"_delta_log": "a Delta table, which is not read", "metadata": "an Iceberg table; name it in its catalog"}
_SHOWN = 3


@dataclass(frozen=True)
class FileListing:
    """Files of one format, and the path that Spark reads them by."""

    path: str
    shown: str
    kind: FileKind
    count: int


def list_files(spark: SparkSession, source: Files) -> FileListing:
    """Look at what is behind a path, and tell its format; what Spark could not read or would pass over is refused."""
    here = _local(source.path)
    if here is None:
        names = [(name, size) for name, size in _by_spark(spark, source.path) if not _hidden(PurePosixPath(name).name)]
        path = source.path
    else:
        _refuse_tables(here, source)
        names = [(str(file), file.stat().st_size) for file in _below(here, source)]
        path = _GLOB.sub(lambda mark: f"\\{mark[0]}", str(here))
    if not names:
        raise NotFound(f"there are no data files in {source}; files whose names begin with _ or . do not count")
    kind = FileKind(source.format) if source.format else _kind([name for name, _ in names], source)
    if here is not None:
        _refuse_misnamed([name for name, size in names if size], kind.format)
    if kind.format not in (DataFormat.JSON_LINES, DataFormat.CSV) and not any(size for _, size in names):
        raise InvalidDocument(f"{source} is empty: a {kind.format} file has at least its schema in it")
    return FileListing(path, source.path, kind, len(names))


def _local(text: str) -> Path | None:
    """Return a path that this process can look at itself; a glob and what is on a server are left to Spark."""
    if is_remote() or ("://" in text and not text.startswith("file://")):
        return None
    path = Path(text.removeprefix("file://")).expanduser().absolute()
    if path.exists():
        return path
    if _GLOB.search(text):
        return None
    raise NotFound(f"there is nothing at {text}; check the path")


def _by_spark(spark: SparkSession, path: str) -> list[tuple[str, int]]:
    """List files as Spark sees them, without reading any."""
    with explain_errors(path):
        found = spark.read.format("binaryFile").option("recursiveFileLookup", "true").load(path)
        return [(row["path"], row["length"]) for row in found.select("path", "length").collect()]


def _below(place: Path, source: Files) -> Iterator[Path]:
    if place.is_file():
        if _hidden(place.name):
            raise InvalidDocument(f"{source}: Spark passes over files whose names begin with _ or .; rename it")
        yield place
        return
    for file in sorted(place.rglob("*")):
        if file.is_file() and not any(map(_hidden, file.relative_to(place).parts)):
            yield file


def _hidden(name: str) -> bool:
    return name.startswith(".") or (name.startswith("_") and "=" not in name)


def _refuse_tables(place: Path, source: Files) -> None:
    for name, what in _OF_A_TABLE.items():
        inside = place / name
        if inside.is_dir() and (name != "metadata" or any(inside.glob("*.metadata.json"))):
            raise InvalidDocument(f"{source} is the folder of {what}")


def _kind(names: list[str], source: Files) -> FileKind:
    kinds = {file_kind(name) for name in names}
    found = kinds.pop()
    if not kinds and found is not None:
        return found
    seen = Counter(file_ending(name) or PurePosixPath(name).name for name in names)
    said = ", ".join(f"{ending} ({count})" for ending, count in seen.most_common(_SHOWN))
    what = "files of several formats" if kinds else "files of a format that their names do not tell"
    raise InvalidDocument(
        f"{source} has {what}: {said}; say which with --data-format ({', '.join(DataFormat)}), or name some by a glob"
    )


def _refuse_misnamed(names: list[str], expected: DataFormat) -> None:
    for name in names:
        with Path(name).open("rb") as file:
            found = describe_mismatch(name, expected, file.read(MAGIC_BYTES_LENGTH))
        if found:
            raise InvalidDocument(f"{name} is read as {expected}, but is {found}")


def partition_columns(spark: SparkSession, path: str) -> list[str]:
    """Return the columns that folders give; it takes a listing, and reads nothing."""
    return [name for name in spark.read.text(path).columns if name != "value"]
