"""Sources: files that arrive, or a table of a database."""

from __future__ import annotations

import re

from treaty.contracts.values import EMPTY, FrozenMap, brief
from treaty.pipeline.declarations import Files, Format, Jdbc, Source
from treaty.pipeline.reading.documents import Document
from treaty.pipeline.reading.entries import Entry
from treaty.pipeline.reading.lines import read_line
from treaty.pipeline.reading.places import found_from
from treaty.pipeline.reading.problems import listed, meant

KEYS = ("name", "contract", "files", "format", "options", "jdbc", "identity")
JDBC_KEYS = ("url", "table", "column", "user")
OPTIONS = ("header", "separator")
FORMATS = {
    "jsonl": Format.JSONL,
    "ndjson": Format.JSONL,
    "json": Format.JSONL,
    "csv": Format.CSV,
    "parquet": Format.PARQUET,
    "avro": Format.AVRO,
}
"""What a file is by the end of its name."""

_COMPRESSED = (".gz", ".bz2", ".zst")
_PASSWORD = re.compile(r"[?&;]password=|//[^/@]*:[^/@]*@", re.IGNORECASE)
_ORIGIN = "say where events come from: files: landing/*.jsonl, or jdbc: {url: …, table: …, column: …}"
_ONLY_FILES = ("format", "options")


def read_source(document: Document) -> Source:
    """Read a source; what is wrong with it is noted."""
    entry = document.entry
    entry.only(KEYS)
    return Source(
        name=document.name,
        line=read_line(entry),
        origin=_origin(document),
        identity=entry.texts("identity"),
        at=document.at,
    )


def _origin(document: Document) -> Files | Jdbc:
    entry = document.entry
    if "files" in entry and "jdbc" in entry:
        entry.note("a source has both files and jdbc", "keep one; declare two sources for two places", "jdbc")
    elif "jdbc" in entry:
        for key in _ONLY_FILES:
            if key in entry:
                entry.note(f"{key} is about files, and this source has none", "leave it out", key)
        return _jdbc(entry)
    return _files(document)


def _files(document: Document) -> Files:
    entry = document.entry
    pattern = entry.needed_text("files", _ORIGIN)
    kind = entry.choice("format", tuple(Format)) or _by_extension(pattern)
    if kind is None and pattern and "format" not in entry:
        entry.note(f"{pattern} does not tell its format", f"add format: {' | '.join(Format)}", "files")
    return Files(found_from(document.folder, pattern), kind or Format.JSONL, _options(entry, kind))


def _by_extension(pattern: str) -> Format | None:
    name = pattern.lower()
    for ending in _COMPRESSED:
        name = name.removesuffix(ending)
    return FORMATS.get(name.rpartition(".")[2]) if "." in name.rpartition("/")[2] else None


def _options(entry: Entry, kind: Format | None) -> FrozenMap:
    options = entry.inner("options", 'write it like options: {header: true, separator: ";"}')
    if options is None:
        return EMPTY
    if kind not in (None, Format.CSV):
        entry.note(f"options are for csv, and these files are {kind}", "leave them out", "options")
        return EMPTY
    options.only(OPTIONS)
    found: dict[str, str] = {}
    header = options.data.get("header")
    if isinstance(header, bool):
        found["header"] = "true" if header else "false"
    elif header is not None:
        options.note(f"options.header must be true or false, not {brief(header)}", "write header: true", "header")
    separator = options.data.get("separator")
    if isinstance(separator, str) and len(separator) == 1:
        found["separator"] = separator
    elif separator is not None:
        options.note(f"options.separator must be one sign, not {brief(separator)!r}", 'write it like ";"', "separator")
    return FrozenMap(found)


def _jdbc(entry: Entry) -> Jdbc:
    inner = entry.inner("jdbc", _ORIGIN)
    if inner is None:
        return Jdbc("", "", "")
    _check_jdbc_keys(inner)
    url = inner.needed_text("url", "write it like jdbc:postgresql://host/shop")
    if url and not url.startswith("jdbc:"):
        inner.note(f"{url!r} is no JDBC address", "write it like jdbc:postgresql://host/shop", "url")
    if _PASSWORD.search(url):
        inner.note("a password does not belong in a file", "set TREATY_JDBC_PASSWORD, and take it out", "url")
    return Jdbc(
        url=url,
        table=inner.needed_text("table", "name the table, like shop.events"),
        column=inner.needed_text("column", "name a column that only increases, like id"),
        user=inner.text("user"),
    )


def _check_jdbc_keys(inner: Entry) -> None:
    for key in inner.data:
        if key.lower() == "password":
            inner.note("a password does not belong in a file", "set TREATY_JDBC_PASSWORD, and take it out", key)
        elif key not in JDBC_KEYS:
            inner.note(f"unknown key {inner.named(key)!r}", meant(key, JDBC_KEYS, listed(JDBC_KEYS)), key)
