"""Contracts in the folders of a project, in any layout and format: which version of each line is used."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from treaty.contracts import Contract, Finding, Place, Severity
from treaty.contracts.loader import looks_like_contract, parse
from treaty.contracts.text import Limits, read_document
from treaty.contracts.validation import raise_if_any
from treaty.contracts.versions import Line, try_parse_version
from treaty.errors import InvalidDocument
from treaty.governance.lifecycle import line_status
from treaty.pipeline.project.promotion import status_of

_SUFFIXES = (".yaml", ".yml", ".json")


@dataclass(frozen=True)
class ContractFile:
    """A contract and its file."""

    contract: Contract
    path: Path


def find_contracts(folders: Sequence[Path], limits: Limits) -> Mapping[Line, ContractFile]:
    """Return the version of each line that is used; all files with problems are reported together."""
    members: dict[Line, list[ContractFile]] = {}
    problems: list[Finding] = []
    for path in _files(folders):
        try:
            contract = _contract(path, limits)
        except InvalidDocument as error:
            problems += error.findings
            continue
        version = try_parse_version(contract.version) if contract else None
        if contract and version:
            members.setdefault(Line(contract.id, version.major), []).append(ContractFile(contract, path))
    problems += [finding for files in members.values() for finding in _duplicate_versions(files)]
    raise_if_any(problems)
    return {line: _used_version(files) for line, files in members.items()}


def _files(folders: Sequence[Path]) -> Iterator[Path]:
    """Yield each file once, without hidden files, in a fixed order."""
    seen: set[Path] = set()
    for folder in folders:
        for home, inner, names in os.walk(folder):
            inner[:] = sorted(name for name in inner if not name.startswith("."))
            for name in sorted(names):
                path = Path(home, name)
                if path.suffix.lower() in _SUFFIXES and not name.startswith(".") and path.resolve() not in seen:
                    seen.add(path.resolve())
                    yield path


def _contract(path: Path, limits: Limits) -> Contract | None:
    try:
        with path.open("rb") as stream:
            content = stream.read(limits.bytes + 1)
    except OSError as error:
        message = f"cannot read the file: {error.strerror}"
        finding = Finding(
            "invalid-document", Severity.ERROR, message, place=Place(str(path)), hint="check its permissions"
        )
        raise InvalidDocument(message, (finding,)) from None
    reading = read_document(content, str(path), limits)
    return parse(reading).contract if looks_like_contract(reading.data) else None


def _duplicate_versions(files: Sequence[ContractFile]) -> Iterator[Finding]:
    """Yield a finding for each version that is defined differently in two files."""
    first: dict[str, ContractFile] = {}
    for file in files:
        other = first.setdefault(file.contract.version, file)
        if other.contract != file.contract:
            message = f"{file.contract.id} {file.contract.version} is defined here and, differently, in {other.path}"
            hint = "delete one of them, or give one a new version"
            yield Finding("duplicate-version", Severity.ERROR, message, place=Place(str(file.path)), hint=hint)


def _used_version(files: Sequence[ContractFile]) -> ContractFile:
    """Return the highest active version, or the highest of those with the next best status."""
    best = line_status(status_of(file.contract) for file in files)
    return max((file for file in files if status_of(file.contract) is best), key=_version)


def _version(file: ContractFile) -> tuple[int, ...]:
    return tuple(map(int, file.contract.version.split(".")))
