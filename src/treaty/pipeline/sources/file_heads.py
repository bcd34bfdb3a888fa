"""What the first bytes of a file show before Spark reads it: another format, another encoding, a wrong header.

Only the beginning of a file is read. Damage further inside, such as a torn archive, shows when Spark reads the file.
"""

from __future__ import annotations

import bz2
import zlib
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from treaty.pipeline.project.declarations import Files, Format
from treaty.spark.readers.sources import MAGIC_BYTES_LENGTH, DataFormat, describe_mismatch

HEAD_BYTES = 65_536
REMOVED = "it was removed before it could be read"
_GZIP_WINDOW = 31
"""The window size with which zlib expects the header of gzip."""
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_UTF_16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_ZERO_SHARE = 0.4
"""Text in UTF-16 without a mark has a zero in nearly every other byte."""
_WHITESPACE = b" \t\r"
_SEPARATORS = (",", ";", "\t", "|")
_MAX_SHOWN_LENGTH = 80
_FORMATS = {
    Format.JSONL: DataFormat.JSON_LINES,
    Format.CSV: DataFormat.CSV,
    Format.PARQUET: DataFormat.PARQUET,
    Format.AVRO: DataFormat.AVRO,
}


@dataclass(frozen=True)
class Header:
    """The header of a CSV file, and the number of its line."""

    text: str
    line: int


@dataclass(frozen=True)
class FileHead:
    """What the beginning of a file shows."""

    problem: str = ""
    """Why the file cannot be read; empty if nothing is wrong."""
    header: Header | None = None


def read_head(path: str, origin: Files, columns: Collection[str]) -> FileHead:
    """Read the beginning of a local file; `columns` are those of the contract."""
    try:
        with Path(path).open("rb") as file:
            first = file.read(HEAD_BYTES)
    except FileNotFoundError:
        return FileHead(REMOVED)
    except OSError as error:
        return FileHead(f"it cannot be opened: {error.strerror or error}")
    if other := describe_mismatch(path, _FORMATS[origin.format], first[:MAGIC_BYTES_LENGTH]):
        return FileHead(f"it is {other}, and not {origin.format}")
    if origin.format not in (Format.JSONL, Format.CSV):
        return FileHead()
    try:
        head = _decompress(path, first)
    except (zlib.error, OSError) as error:
        return FileHead(f"it is not a readable archive: {error}")
    return FileHead() if head is None else inspect_text(head, origin, columns)


def _decompress(path: str, first: bytes) -> bytes | None:
    """Return the beginning of a text; None if only Spark can decompress it."""
    if path.endswith(".gz"):
        return zlib.decompressobj(_GZIP_WINDOW).decompress(first, HEAD_BYTES)
    if path.endswith(".bz2"):
        return bz2.BZ2Decompressor().decompress(first, HEAD_BYTES)
    return None if path.endswith(".zst") else first


def inspect_text(head: bytes, origin: Files, columns: Collection[str]) -> FileHead:
    """Inspect the beginning of a text: its encoding, its line ends and, for CSV, its header."""
    if head.startswith(_UTF_16_MARKS) or _looks_like_utf_16(head):
        return FileHead("it is encoded in UTF-16; deliver it in UTF-8")
    start = head.removeprefix(_BYTE_ORDER_MARK)
    if b"\n" not in start and b"\r" in start.strip(_WHITESPACE):
        return FileHead("its lines end in CR only; end them with LF or CR LF")
    if origin.format is not Format.CSV or origin.options.get("header") == "false":
        return FileHead()
    return _inspect_header(start, origin, columns)


def _looks_like_utf_16(head: bytes) -> bool:
    start = head[:256]
    zeros = max(start[::2].count(0), start[1::2].count(0))
    return len(start) >= 4 and zeros >= _ZERO_SHARE * len(start)


def _inspect_header(start: bytes, origin: Files, columns: Collection[str]) -> FileHead:
    lines = start.split(b"\n")
    number = next((number for number, line in enumerate(lines, 1) if line.strip(_WHITESPACE)), None)
    if number is None:
        return FileHead("it has only empty lines")
    if number == len(lines) and len(start) >= HEAD_BYTES - len(_BYTE_ORDER_MARK):
        return FileHead(f"its first line has more than {HEAD_BYTES:,} bytes")
    text = lines[number - 1].decode("utf-8", "replace").rstrip(_WHITESPACE.decode())
    separator = origin.options.get("separator", ",")
    problem = check_header(text, separator, columns)
    return FileHead(problem) if problem else FileHead(header=Header(text, number))


def check_header(text: str, separator: str, columns: Collection[str]) -> str:
    """Return what is wrong with the header of a CSV file; empty if it has columns of the contract."""
    if text.count('"') % 2:
        return "its header spans several lines; write it on one"
    names = split_header(text, separator)
    if not columns or any(name in columns for name in names):
        twice = next((name for name in names if name in columns and names.count(name) > 1), None)
        return f"its header has {twice!r} more than once" if twice else ""
    shown = text if len(text) <= _MAX_SHOWN_LENGTH else f"{text[:_MAX_SHOWN_LENGTH]}…"
    problem = f"the header has none of the contract's columns; first line: {shown}"
    for other in _SEPARATORS:
        if other != separator and any(name in columns for name in split_header(text, other)):
            return f"{problem}; its separator seems to be {other!r}, not {separator!r}"
    return problem


def split_header(text: str, separator: str) -> list[str]:
    """Return the names in a header; a name in quotes may contain the separator."""
    names, rest = [], text
    while True:
        if rest.startswith('"') and '"' in rest[1:]:
            name, _, after = rest[1:].partition('"')
            _, found, rest = after.partition(separator)
        else:
            name, found, rest = rest.partition(separator)
        names.append(name)
        if not found:
            return names
