"""Where data are, as a person types it: files, a table, or a database."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path, PurePosixPath
from typing import TypeAlias

from treaty.errors import InvalidDocument
from treaty.spark.jars import Package, driver_packages
from treaty.spark.session_options import SparkOptions


class DataFormat(StrEnum):
    """A format that files are read in."""

    PARQUET = "parquet"
    CSV = "csv"
    JSON_LINES = "json"
    AVRO = "avro"
    ORC = "orc"

    @property
    def is_text(self) -> bool:
        """Whether every value in it is a text."""
        return self in (DataFormat.CSV, DataFormat.JSON_LINES)


@dataclass(frozen=True)
class FileKind:
    """What the ending of a file's name says of it."""

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

_FIRST_BYTES = {
    b"PAR1": DataFormat.PARQUET,
    b"Obj\x01": DataFormat.AVRO,
    b"ORC": DataFormat.ORC,
}
_GZIP = b"\x1f\x8b"
MAGIC_BYTES_LENGTH = 4


def file_ending(name: str) -> str:
    """Return the ending that tells a file's format, without that of a compression."""
    path = PurePosixPath(name.lower())
    return PurePosixPath(path.stem).suffix if path.suffix in _COMPRESSED else path.suffix


def file_kind(name: str) -> FileKind | None:
    """Return what a file's name says of its format."""
    return _ENDINGS.get(file_ending(name))


def describe_mismatch(name: str, expected: DataFormat, first: bytes) -> str | None:
    """Return what a file is by its first bytes, where it is not what is expected."""
    found = next((known for mark, known in _FIRST_BYTES.items() if first.startswith(mark)), None)
    if found not in (None, expected):
        return f"{found} by its content"
    packed = first.startswith(_GZIP) and PurePosixPath(name.lower()).suffix != ".gz"
    return "compressed with gzip; its name must end in .gz" if packed and expected.is_text else None


_PART = r"(?:[A-Za-z0-9_]+|`(?:[^`]|``)+`)"
_TABLE = re.compile(rf"{_PART}(?:\.{_PART})*")
_A_PART = re.compile(_PART)
_TABLE_MARK = "table:"
_OF_A_PATH = re.compile(r"[/\\*?\[\]{}~]")


@dataclass(frozen=True)
class Files:
    """A file, a folder or a glob, here or at an address; its format where that was said."""

    path: str
    format: DataFormat | None = None

    def __str__(self) -> str:
        return self.path


@dataclass(frozen=True)
class Table:
    """A table or view that Spark knows, an Iceberg table for instance."""

    name: str

    @property
    def parts(self) -> list[str]:
        """The parts of its name."""
        return _A_PART.findall(self.name)

    def __str__(self) -> str:
        return f"table {self.name}"


@dataclass(frozen=True)
class Database:
    """A table in a database that is reached by JDBC; what stands behind the address may be secret and is not shown."""

    url: str
    table: str

    def __str__(self) -> str:
        return f"table {self.table} of {re.split(r'[?;]', self.url)[0]}"


Source: TypeAlias = Files | Table | Database


def parse_source(text: str, data_format: DataFormat | str | None = None, table: str | None = None) -> Source:
    """Tell a database, files and a table apart; what names a format is files."""
    if text.startswith("jdbc:"):
        return _database(text, table)
    if data_format is not None:
        return Files(text, _format(data_format))
    named = text.removeprefix(_TABLE_MARK)
    if text.startswith(_TABLE_MARK) and not _TABLE.fullmatch(named):
        raise InvalidDocument(
            f"{named!r} cannot name a table; write catalog.namespace.table, with odd names in ` marks"
        )
    if text.startswith(_TABLE_MARK) or (_TABLE.fullmatch(text) and not _is_file(text)):
        return Table(named)
    return Files(text)


def required_packages(source: Source | str, data_format: DataFormat | str | None = None) -> frozenset[Package]:
    """Return what a session must have to read a source."""
    source = parse_source(source, data_format) if isinstance(source, str) else source
    if isinstance(source, Database):
        return driver_packages(source.url)
    if isinstance(source, Files) and _is_avro(source):
        return frozenset({Package.AVRO})
    return frozenset()


def options_for(options: SparkOptions, sources: Sequence[Source]) -> SparkOptions:
    """Return a session that can read the sources, and starts without what they do not need."""
    packages = frozenset[Package]().union(*map(required_packages, sources))
    catalogs = {source.parts[0] for source in sources if isinstance(source, Table)}
    catalog = options.catalog if options.catalog and options.catalog.name in catalogs else None
    return replace(options, packages=options.packages | packages, catalog=catalog)


def _database(text: str, table: str | None) -> Database:
    url, _, fragment = text.partition("#")
    name = table or fragment
    if not name:
        raise InvalidDocument(
            f"which table of {re.split(r'[?;]', url)[0]}? Add it to the address, as in …#schema.table"
        )
    return Database(url, name)


def _format(said: DataFormat | str) -> DataFormat:
    try:
        return DataFormat(said)
    except ValueError:
        raise InvalidDocument(f"unknown format {said!r} of data; use one of: {', '.join(DataFormat)}") from None


def _is_file(text: str) -> bool:
    return bool(_OF_A_PATH.search(text)) or file_kind(text) is not None or Path(text).exists()


def _is_avro(source: Files) -> bool:
    if source.format is not None:
        return source.format is DataFormat.AVRO
    place = Path(source.path.removeprefix("file://")).expanduser()
    names = [file.name for file in place.rglob("*")] if place.is_dir() else [source.path]
    return any((kind := file_kind(name)) is not None and kind.format is DataFormat.AVRO for name in names)
