"""Sources of data (files, tables, databases) and the formats of files."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path, PurePosixPath
from typing import TypeAlias

from treaty.errors import InvalidDocument, NotFound
from treaty.spark.jars import Package, driver_packages
from treaty.spark.session_options import SparkOptions


class DataFormat(StrEnum):
    """A format of data files."""

    PARQUET = "parquet"
    CSV = "csv"
    JSON_LINES = "json"
    AVRO = "avro"
    ORC = "orc"

    @property
    def is_text(self) -> bool:
        """Whether the format stores every value as text."""
        return self in (DataFormat.CSV, DataFormat.JSON_LINES)


@dataclass(frozen=True)
class FileKind:
    """The format of a file as its name states it."""

    format: DataFormat
    separator: str | None = None


_ENDINGS = {
    ".parquet": FileKind(DataFormat.PARQUET),
    ".pq": FileKind(DataFormat.PARQUET),
    ".csv": FileKind(DataFormat.CSV),
    ".tsv": FileKind(DataFormat.CSV, "\t"),
    ".jsonl": FileKind(DataFormat.JSON_LINES),
    ".ndjson": FileKind(DataFormat.JSON_LINES),
    ".json": FileKind(DataFormat.JSON_LINES),
    ".avro": FileKind(DataFormat.AVRO),
    ".orc": FileKind(DataFormat.ORC),
}
_COMPRESSED = frozenset({".gz", ".bz2", ".deflate", ".lz4", ".snappy"})

_MAGIC_BYTES = {
    b"PAR1": DataFormat.PARQUET,
    b"Obj\x01": DataFormat.AVRO,
    b"ORC": DataFormat.ORC,
}
_GZIP = b"\x1f\x8b"
MAGIC_BYTES_LENGTH = 4


def file_ending(name: str) -> str:
    """Return the ending of a file name, without that of a compression."""
    path = PurePosixPath(name.lower())
    return PurePosixPath(path.stem).suffix if path.suffix in _COMPRESSED else path.suffix


def file_kind(name: str) -> FileKind | None:
    """Return the format that a file name states; None if it states none."""
    return _ENDINGS.get(file_ending(name))


def describe_mismatch(name: str, expected: DataFormat, first: bytes) -> str | None:
    """Describe the actual format of a file by its first bytes if it is not the expected one."""
    actual = next((known for magic, known in _MAGIC_BYTES.items() if first.startswith(magic)), None)
    if actual not in (None, expected):
        return f"{actual} by its content"
    packed = first.startswith(_GZIP) and PurePosixPath(name.lower()).suffix != ".gz"
    return "compressed with gzip; its name must end in .gz" if packed and expected.is_text else None


_PART = r"(?:[A-Za-z0-9_]+|`(?:[^`]|``)+`)"
_TABLE = re.compile(rf"{_PART}(?:\.{_PART})*")
_NAME_PART = re.compile(_PART)
_TABLE_PREFIX = "table:"
_PATH_CHARS = re.compile(r"[/\\*?\[\]{}~]")


@dataclass(frozen=True)
class Files:
    """A file, folder or glob, local or remote, with its format if given."""

    path: str
    format: DataFormat | None = None

    def __str__(self) -> str:
        return self.path


@dataclass(frozen=True)
class Table:
    """A table or view in a Spark catalog, such as an Iceberg table."""

    name: str

    @property
    def parts(self) -> list[str]:
        """The parts of its name."""
        return _NAME_PART.findall(self.name)

    def __str__(self) -> str:
        return f"table {self.name}"


@dataclass(frozen=True)
class Database:
    """A table in a database, read over JDBC. URL parameters may be secret and are not shown."""

    url: str
    table: str

    def __str__(self) -> str:
        return f"table {self.table} of {re.split(r'[?;]', self.url)[0]}"


_SQLITE = "jdbc:sqlite:"


def resolve_jdbc_url(url: str) -> str:
    """Return a JDBC URL with the absolute path of an SQLite file, whose driver would create a missing one."""
    if not url.startswith(_SQLITE):
        return url
    file, mark, parameters = url.removeprefix(_SQLITE).partition("?")
    if not Path(file).is_file():
        raise NotFound(f"there is no database at {file}")
    return f"{_SQLITE}{Path(file).absolute()}{mark}{parameters}"


Source: TypeAlias = Files | Table | Database


def parse_source(text: str, data_format: DataFormat | str | None = None, table: str | None = None) -> Source:
    """Parse a source: a JDBC URL, a table name, or files; a given format means files."""
    if text.startswith("jdbc:"):
        return _database(text, table)
    if data_format is not None:
        return Files(text, _format(data_format))
    named = text.removeprefix(_TABLE_PREFIX)
    if text.startswith(_TABLE_PREFIX) and not _TABLE.fullmatch(named):
        raise InvalidDocument(
            f"{named!r} is not a table name; write catalog.namespace.table, with special characters in backticks"
        )
    if text.startswith(_TABLE_PREFIX) or (_TABLE.fullmatch(text) and not _is_file(text)):
        return Table(named)
    return Files(text)


def required_packages(source: Source | str, data_format: DataFormat | str | None = None) -> frozenset[Package]:
    """Return the packages that a session needs to read a source."""
    source = parse_source(source, data_format) if isinstance(source, str) else source
    if isinstance(source, Database):
        return driver_packages(source.url)
    if isinstance(source, Files) and _is_avro(source):
        return frozenset({Package.AVRO})
    return frozenset()


def options_for(options: SparkOptions, sources: Sequence[Source]) -> SparkOptions:
    """Return session options with exactly the packages and catalog that the sources need."""
    packages = frozenset[Package]().union(*map(required_packages, sources))
    catalogs = {source.parts[0] for source in sources if isinstance(source, Table)}
    catalog = options.catalog if options.catalog and options.catalog.name in catalogs else None
    return replace(options, packages=options.packages | packages, catalog=catalog)


def _database(text: str, table: str | None) -> Database:
    url, _, fragment = text.partition("#")
    name = table or fragment
    if not name:
        raise InvalidDocument(
            f"no table given for {re.split(r'[?;]', url)[0]}; add it to the URL, as in …#schema.table"
        )
    return Database(url, name)


def _format(name: DataFormat | str) -> DataFormat:
    try:
        return DataFormat(name)
    except ValueError:
        raise InvalidDocument(f"unknown data format {name!r}; use one of: {', '.join(DataFormat)}") from None


def _is_file(text: str) -> bool:
    return bool(_PATH_CHARS.search(text)) or file_kind(text) is not None or Path(text).exists()


def _is_avro(source: Files) -> bool:
    if source.format is not None:
        return source.format is DataFormat.AVRO
    place = Path(source.path.removeprefix("file://")).expanduser()
    names = [file.name for file in place.rglob("*")] if place.is_dir() else [source.path]
    return any((kind := file_kind(name)) is not None and kind.format is DataFormat.AVRO for name in names)
