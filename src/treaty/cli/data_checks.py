"""Check data and options before Spark starts: paths, separators of CSV files, names of rules and fields."""

from __future__ import annotations

import csv
import io
import zlib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from treaty.contracts.model import Contract, SchemaObject, locate_fields
from treaty.errors import InvalidDocument, NotFound
from treaty.spark.readers.sources import DataFormat, Files, file_kind, parse_source
from treaty.suggestions import did_you_mean

if TYPE_CHECKING:
    from treaty.spark.rules import Policy
    from treaty.spark.session_options import SparkOptions

_GLOB_SIGNS = frozenset("*?[]{}")
_SEPARATORS = (",", ";", "\t", "|")
_SEPARATOR_NAMES = {"\t": "tab"}
_HEADER_BYTES = 65_536
_GZIP_WINDOW = 16 + zlib.MAX_WBITS


def is_on_this_machine(configured: SparkOptions, master: str | None, remote: str | None) -> bool:
    """Whether Spark will read the files of this machine."""
    return remote is None and (replace(configured, master=master) if master else configured).is_local


def check_path(text: str, data_format: str | None) -> None:
    """Refuse files of this machine that do not exist. Tables, databases and remote files are left to Spark."""
    source = parse_source(text, data_format)
    path = _local_path(source.path) if isinstance(source, Files) else None
    if path is None or path.exists():
        return
    if not _GLOB_SIGNS & set(text):
        raise NotFound(f"{text} does not exist; check the path")
    if "{" not in text and not _has_match(path):
        raise NotFound(f"no file matches {text}; check the path")


def local_size(text: str) -> int:
    """Return the bytes of the files of a path or glob of this machine; 0 if only Spark can list them."""
    path = _local_path(text)
    if path is None or ("{" in text and not path.exists()):
        return 0
    found = [path] if path.exists() else _matches(path)
    files = (file for one in found for file in (one.rglob("*") if one.is_dir() else [one]))
    return sum(file.stat().st_size for file in files if file.is_file())


def _has_match(pattern: Path) -> bool:
    return any(True for _ in _matches(pattern))


def _matches(pattern: Path) -> Iterator[Path]:
    absolute = pattern.absolute()
    return Path(absolute.anchor).glob(str(absolute.relative_to(absolute.anchor)))


def check_separator(source: Files, options: Mapping[str, str], declared: SchemaObject | None) -> None:
    """Refuse a CSV file whose header has another separator than the one that it is read with.

    With a declared object, the separator must leave fewer of its columns missing; otherwise it must split a header
    that is one column with the current one.
    """
    file = _first_csv_file(source)
    if file is None or _option(options, "header", "true").lower() != "true":
        return
    kind = file_kind(file.name)
    current = _option(options, "sep", _option(options, "delimiter", (kind and kind.separator) or ","))
    header = _read_header(file, _option(options, "encoding", "utf-8"))
    if not header.strip():
        return
    best = _best_separator(header, current, declared)
    if best == current:
        return
    name = _SEPARATOR_NAMES.get(best, f"'{best}'")
    value = "\\t" if best == "\t" else best
    if declared is None:
        problem = f"its header is one column, but has {name}"
    else:
        missing = len(_expected(declared)) - _fit(header, current, declared)
        problem = f"{missing} {'column' if missing == 1 else 'columns'} missing, the file has {name}"
    raise InvalidDocument(f'{source}: {problem}: use --option "sep={value}"')


def detect_separator(file: Path) -> str | None:
    """Return the separator of a CSV file by its header, if it is not a comma; None for other files."""
    kind = file_kind(file.name)
    if kind is None or kind.format is not DataFormat.CSV:
        return None
    separator = _best_separator(_read_header(file, "utf-8"), kind.separator or ",", None)
    return None if separator == "," else separator


def _best_separator(header: str, current: str, declared: SchemaObject | None) -> str:
    """Return the separator with which most columns fit; the current one unless another one is better."""
    return max((current, *_SEPARATORS), key=lambda separator: _fit(header, separator, declared))


def _fit(header: str, separator: str, declared: SchemaObject | None) -> int:
    """Count the columns of a header that fit: those of the declared object, or all beyond the first."""
    if len(separator) != 1:
        return 0
    names = {name.strip().lower() for name in next(csv.reader([header], delimiter=separator), [])}
    return len(names & _expected(declared)) if declared is not None else len(names) - 1


def _expected(declared: SchemaObject) -> set[str]:
    return {(field.physical_name or field.name or "").lower() for field in declared.fields}


def _first_csv_file(source: Files) -> Path | None:
    path = _local_path(source.path)
    if path is None or not path.exists():
        return None
    files = [path] if path.is_file() else sorted(file for file in path.iterdir() if file.is_file())
    visible = [file for file in files if not file.name.startswith((".", "_"))]
    return next((file for file in visible if _is_csv(file, source.format)), None)


def _is_csv(file: Path, data_format: DataFormat | None) -> bool:
    kind = file_kind(file.name)
    return data_format is DataFormat.CSV or (data_format is None and kind is not None and kind.format is DataFormat.CSV)


def _read_header(file: Path, encoding: str) -> str:
    """Return the first line; an empty text if it cannot be read, which Spark reports with its reason."""
    try:
        with file.open("rb") as opened:
            first = opened.read(_HEADER_BYTES)
        if file.suffix.lower() == ".gz":
            first = zlib.decompressobj(_GZIP_WINDOW).decompress(first)
        return next(iter(io.StringIO(first.decode(encoding, "replace").removeprefix("\ufeff"))), "").rstrip("\r\n")
    except (OSError, LookupError, zlib.error):
        return ""


def _option(options: Mapping[str, str], name: str, default: str) -> str:
    return next((value for key, value in options.items() if key.lower() == name), default)


def _local_path(text: str) -> Path | None:
    if "://" in text and not text.startswith("file://"):
        return None
    return Path(text.removeprefix("file://")).expanduser()


def check_rule_names(policy: Policy, contract: Contract, declared: SchemaObject) -> None:
    """Refuse rules in --severity and fields in --order that the contract cannot have, with the closest name."""
    from treaty.spark.rules import Kind

    paths = [str(path) for path, _, _ in locate_fields(replace(contract, objects=(declared,)))]
    for rule in policy.severity:
        kind, _, where = rule.partition(":")
        _refuse_unknown(
            kind,
            [kind.value for kind in Kind],
            f"cannot change the severity of {rule!r}: there is no kind of rule {kind!r}",
        )
        if where and kind in _FIELD_KINDS:
            field = where.partition("#")[0].partition("~")[0]
            _refuse_unknown(field, paths, f"cannot change the severity of {rule!r}: there is no field {field!r}")
    for name in policy.order:
        _refuse_unknown(name, paths, f"cannot order by {name!r}: the contract has no such field")


_FIELD_KINDS = frozenset({"required", "type", "enum", "pattern", "range", "length", "format", "multiple_of"})
"""Kinds whose rules are named after one field."""


def _refuse_unknown(name: str, known: Collection[str], problem: str) -> None:
    if name in known:
        return
    hint = did_you_mean(name, known, otherwise=f"there are: {', '.join(known)}")
    raise InvalidDocument(f"{problem}; {hint}")
