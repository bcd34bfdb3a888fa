"""The formats of files, how names tell them, and how the first bytes of a file give a wrong name away."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import PurePosixPath


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
class Kind:
    """What the ending of a file's name says of it."""

    format: DataFormat
    separator: str | None = None


_ENDINGS = {
    ".parquet": Kind(DataFormat.PARQUET),
    ".pq": Kind(DataFormat.PARQUET),
    ".csv": Kind(DataFormat.CSV),
    ".tsv": Kind(DataFormat.CSV, "\t"),
    ".jsonl": Kind(DataFormat.JSON_LINES),
    ".ndjson": Kind(DataFormat.JSON_LINES),
    ".json": Kind(DataFormat.JSON_LINES),
    ".avro": Kind(DataFormat.AVRO),
    ".orc": Kind(DataFormat.ORC),
}
_COMPRESSED = frozenset({".gz", ".bz2", ".deflate", ".lz4", ".snappy"})

_FIRST_BYTES = {
    b"PAR1": DataFormat.PARQUET,
    b"Obj\x01": DataFormat.AVRO,
    b"ORC": DataFormat.ORC,
}
_GZIP = b"\x1f\x8b"
LONGEST_MARK = 4


def ending_of(name: str) -> str:
    """Return the ending that tells a file's format, without that of a compression."""
    path = PurePosixPath(name.lower())
    return PurePosixPath(path.stem).suffix if path.suffix in _COMPRESSED else path.suffix


def kind_of(name: str) -> Kind | None:
    """Return what a file's name says of its format."""
    return _ENDINGS.get(ending_of(name))


def misnamed(name: str, expected: DataFormat, first: bytes) -> str | None:
    """Return what a file is by its first bytes, where it is not what is expected."""
    found = next((known for mark, known in _FIRST_BYTES.items() if first.startswith(mark)), None)
    if found not in (None, expected):
        return f"{found} by its content"
    packed = first.startswith(_GZIP) and PurePosixPath(name.lower()).suffix != ".gz"
    return "compressed with gzip; its name must end in .gz" if packed and expected.is_text else None
