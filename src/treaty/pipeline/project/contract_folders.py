"""Contracts in the folders of a project, in any layout and form: which version of a line is used."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from treaty.contracts import Contract, Finding, Place, Severity
from treaty.contracts.loader import looks_like_contract, parse
from treaty.contracts.text import Limits, read_document
from treaty.contracts.validation import raise_if_any
from treaty.contracts.versions import try_parse_version
from treaty.errors import InvalidDocument
from treaty.governance.lifecycle import line_status
from treaty.pipeline.project.declarations import Line
from treaty.pipeline.project.promotion import status_of

_SUFFIXES = (".yaml", ".yml", ".json")


@dataclass(frozen=True)
class Found:
    """A contract, and the file that it stands in."""

    contract: Contract
    path: Path


def lines_below(folders: Sequence[Path], limits: Limits) -> Mapping[Line, Found]:
    """Return the version of each line that is used; every file that cannot be understood is raised at once."""
    members: dict[Line, list[Found]] = {}
    problems: list[Finding] = []
    for path in _files(folders):
        try:
            contract = _contract(path, limits)
        except InvalidDocument as error:
            problems += error.findings
            continue
        version = try_parse_version(contract.version) if contract else None
        if contract and version:
            members.setdefault(Line(contract.id, version.major), []).append(Found(contract, path))
    problems += [finding for found in members.values() for finding in _doubles(found)]
    raise_if_any(problems)
    return {line: _used(found) for line, found in members.items()}


def _files(folders: Sequence[Path]) -> Iterator[Path]:
    """Yield each file once, hidden ones left out, in one order."""
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
        with path.open("rb") as file:
            content = file.read(limits.bytes + 1)
    except OSError as error:
        message = f"cannot read the file: {error.strerror}"
        finding = Finding("invalid-document", Severity.ERROR, message, place=Place(str(path)), hint="check the file")
        raise InvalidDocument(message, (finding,)) from None
    reading = read_document(content, str(path), limits)
    return parse(reading).contract if looks_like_contract(reading.data) else None


def _doubles(found: Sequence[Found]) -> Iterator[Finding]:
    """Yield each version that stands in two files which do not say the same."""
    first: dict[str, Found] = {}
    for one in found:
        other = first.setdefault(one.contract.version, one)
        if other.contract != one.contract:
            message = f"{one.contract.id} {one.contract.version} stands here and in {other.path}, and they differ"
            hint = "keep one, or give one a new version"
            yield Finding("duplicate-version", Severity.ERROR, message, place=Place(str(one.path)), hint=hint)


def _used(found: Sequence[Found]) -> Found:
    """Return the highest of the versions that stand best in their life: of the active ones, where there are any."""
    best = line_status(status_of(one.contract) for one in found)
    return max((one for one in found if status_of(one.contract) is best), key=_version)


def _version(one: Found) -> tuple[int, ...]:
    return tuple(map(int, one.contract.version.split(".")))
