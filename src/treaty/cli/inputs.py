"""Where documents come from: files, folders, standard input, and files at a git revision."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from treaty.contracts.loading import LoadedContract, is_contract, parse
from treaty.contracts.reading import Limits, read_document
from treaty.errors import InvalidDocument, NotFound, Unavailable

STANDARD_INPUT = "-"
_GIT = "git:"
_SUFFIXES = (".yaml", ".yml", ".json")
_SKIPPED = frozenset({"node_modules", "__pycache__", "venv"})
_MARKS = (b"DataContract", b"dataset_id", b"apiVersion: v3", b'"apiVersion": "v3')


@dataclass(frozen=True)
class Source:
    """A document's name and content."""

    name: str
    content: bytes


def read_source(reference: str) -> Source:
    """Read a document by its reference: a path, `git:REF:path`, or `-`."""
    if reference == STANDARD_INPUT:
        return Source("<stdin>", sys.stdin.buffer.read())
    if reference.startswith(_GIT):
        return _at_revision(reference)
    path = Path(reference)
    if path.is_dir():
        raise InvalidDocument(f"{reference} is a folder; name a contract file")
    return Source(reference, _bytes_of(path))


def load_source(reference: str, limits: Limits) -> LoadedContract:
    """Read and parse a contract by its reference."""
    source = read_source(reference)
    return parse(read_document(source.content, source.name, limits))


def find_sources(references: list[str], limits: Limits) -> Iterator[Source]:
    """Yield the documents that are named, and every contract below the folders that are named."""
    for reference in references:
        if reference not in (STANDARD_INPUT,) and not reference.startswith(_GIT) and Path(reference).is_dir():
            yield from _below(Path(reference), limits)
        else:
            yield read_source(reference)


def _below(folder: Path, limits: Limits) -> Iterator[Source]:
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        if any(part.startswith(".") or part in _SKIPPED for part in parts):
            continue
        if path.suffix.lower() in _SUFFIXES and path.is_file():
            source = Source(str(path), _bytes_of(path))
            if _is_meant_as_contract(source, limits):
                yield source


def _is_meant_as_contract(source: Source, limits: Limits) -> bool:
    """Tell contracts from other YAML and JSON; one that is broken is still meant as one."""
    if not any(mark in source.content for mark in _MARKS):
        return False
    try:
        return is_contract(read_document(source.content, source.name, limits).data)
    except InvalidDocument:
        return True


def _bytes_of(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise NotFound(f"no file {path}; check the path") from None
    except OSError as error:
        raise NotFound(f"cannot read {path}: {error.strerror}") from None


def _at_revision(reference: str) -> Source:
    revision, separator, path = reference.removeprefix(_GIT).partition(":")
    if not separator or not revision or not path or revision.startswith("-"):
        raise InvalidDocument(
            f"cannot read {reference!r}; write git:REF:path, for example git:main:contracts/orders.yaml"
        )
    spec = f"{revision}:./{path}" if not path.startswith("/") else f"{revision}:{path}"
    try:
        shown = subprocess.run(["git", "show", "--no-textconv", spec], capture_output=True, check=False)  # noqa: S603, S607
    except FileNotFoundError:
        raise Unavailable("git is not installed, or not on the PATH; install it to read git: sources") from None
    if shown.returncode:
        reason = shown.stderr.decode(errors="replace").strip().splitlines()
        raise NotFound(f"git has no {path!r} at {revision!r}: {reason[0] if reason else 'not found'}")
    return Source(reference, shown.stdout)
