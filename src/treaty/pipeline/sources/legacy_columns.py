"""The columns that a legacy feed has today, without Spark: from the head of its files, or from the table catalog."""

from __future__ import annotations

import csv
import glob
import gzip
import io
import json
from itertools import islice
from pathlib import Path

from treaty.errors import InvalidDocument, NotFound
from treaty.legacy.feeds import LegacyFeed, LegacyFiles, LegacyTable
from treaty.pipeline.tables import TableCatalog
from treaty.spark.readers.sources import DataFormat, FileKind, file_kind

_HEAD_CHARACTERS = 65_536
_GLOB = ("*", "?", "[", "{")


def find_legacy_columns(feed: LegacyFeed, catalog: TableCatalog | None) -> tuple[str, ...] | None:
    """Return the columns of a feed; None if only Spark can tell, as for databases and other catalogs.

    Raises an error if the feed is not there, or has no row.
    """
    if isinstance(feed.origin, LegacyFiles):
        return _columns_of_files(feed.origin)
    if isinstance(feed.origin, LegacyTable) and catalog is not None:
        return _columns_of_table(feed.origin.name, catalog)
    return None


def _columns_of_table(name: str, catalog: TableCatalog) -> tuple[str, ...] | None:
    place = f"{catalog.namespace.name}."
    inside = name.removeprefix(place)
    if not name.startswith(place) or inside.count(".") != 1:
        return None
    if not catalog.exists(inside):
        raise NotFound(f"there is no table {name}")
    return tuple(catalog.columns(inside).names)


def _columns_of_files(origin: LegacyFiles) -> tuple[str, ...] | None:
    if "://" in origin.path or "{" in origin.path:
        return None
    files = _list_files(origin.path)
    if not files:
        raise NotFound(f"no file matches {origin.path}")
    names = None
    for file in reversed(files):  # the newest by name; an empty period has only a header
        kind = FileKind(DataFormat(origin.format)) if origin.format else file_kind(file.name)
        if kind is None or kind.format not in (DataFormat.CSV, DataFormat.JSON_LINES, DataFormat.PARQUET):
            return None
        try:
            names, has_rows = _columns_of_file(file, kind, origin)
        except (OSError, ValueError, LookupError, EOFError) as error:
            raise InvalidDocument(f"{file} cannot be read as {kind.format}: {error}") from None
        if has_rows:
            return names
    raise InvalidDocument(f"{origin.path} has no row in any of its files")


def _list_files(path: str) -> list[Path]:
    if any(mark in path for mark in _GLOB) and not Path(path).exists():
        found = [Path(name) for name in sorted(glob.glob(path))]  # noqa: PTH207  the path is absolute
    else:
        found = [Path(path)]
    files = [file for place in found for file in (sorted(place.rglob("*")) if place.is_dir() else [place])]
    return [file for file in files if file.is_file() and not file.name.startswith((".", "_"))]


def _columns_of_file(file: Path, kind: FileKind, origin: LegacyFiles) -> tuple[tuple[str, ...], bool]:
    """Return the columns of a file, and whether it has a row."""
    if kind.format is DataFormat.PARQUET:
        import pyarrow.parquet as parquet  # type: ignore[import-untyped]

        metadata = parquet.read_metadata(file)
        return tuple(metadata.schema.to_arrow_schema().names), metadata.num_rows > 0
    head = _head(file, origin.options.get("encoding", "utf-8-sig"))
    if kind.format is DataFormat.JSON_LINES:
        line = next((line for line in head.splitlines() if line.strip()), None)
        return (tuple(json.loads(line)), True) if line else ((), False)
    separator = origin.options.get("sep") or origin.options.get("delimiter") or kind.separator or ","
    rows = list(islice(csv.reader(io.StringIO(head), delimiter=separator), 2))
    has_header = origin.options.get("header", "true") == "true"
    names = (
        tuple(rows[0]) if rows and has_header else tuple(f"_c{place}" for place in range(len(rows[0] if rows else ())))
    )
    return names, len(rows) > (1 if has_header else 0)


def _head(file: Path, encoding: str) -> str:
    opened = gzip.open if file.suffix == ".gz" else open
    with (
        opened(file, "rb") as content,
        io.TextIOWrapper(content, encoding=encoding, errors="replace", newline="") as text,
    ):
        return text.read(_HEAD_CHARACTERS)
