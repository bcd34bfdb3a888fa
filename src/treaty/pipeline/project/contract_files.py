"""The contract files of a project: which version of each line is used, and what each contract inherits."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from treaty.contracts import Contract, Finding, Place, Severity
from treaty.contracts.loader import looks_like_contract, parse
from treaty.contracts.text import Limits, read_document
from treaty.contracts.validation import raise_if_any
from treaty.contracts.versions import Line, try_parse_version
from treaty.errors import InvalidDocument
from treaty.governance.effective import effective_contract
from treaty.governance.lifecycle import head_of_line
from treaty.governance.policy_chain import NO_DEFAULTS, DefaultPolicies, FoundPolicy, binding_policy, policy_chain
from treaty.pipeline.project.promotion import status_of

POLICY_UNKNOWN = "policy-unknown"
_SUFFIXES = (".yaml", ".yml", ".json")


@dataclass(frozen=True)
class ContractFile:
    """A contract and its file."""

    contract: Contract
    path: Path


def read_contract_files(folders: Sequence[Path], limits: Limits) -> tuple[ContractFile, ...]:
    """Read every contract with a version in some folders; all files with problems are reported together."""
    found: list[ContractFile] = []
    problems: list[Finding] = []
    for path in _files(folders):
        try:
            contract = _contract(path, limits)
        except InvalidDocument as error:
            problems += error.findings
            continue
        if contract and try_parse_version(contract.version):
            found.append(ContractFile(contract, path))
    problems += [finding for files in _by_line(found).values() for finding in _duplicate_versions(files)]
    raise_if_any(problems)
    return tuple(found)


def used_versions(files: Iterable[ContractFile]) -> Mapping[Line, ContractFile]:
    """Return the version of each line that is used."""
    return {line: _used_version(members) for line, members in _by_line(files).items()}


def _by_line(files: Iterable[ContractFile]) -> dict[Line, list[ContractFile]]:
    members: dict[Line, list[ContractFile]] = {}
    for file in files:
        members.setdefault(Line(file.contract.id, _version(file)[0]), []).append(file)
    return members


@dataclass(frozen=True)
class Inheritance:
    """How contracts of a folder inherit: the default policies of the project, and the day on which policies hold."""

    defaults: DefaultPolicies = NO_DEFAULTS
    today: date = date.max

    def inherit(self, file: ContractFile, files: Iterable[ContractFile]) -> tuple[Contract, tuple[Finding, ...]]:
        """Return the effective contract of a file; a parent that is in no file gives a warning."""

        def find(name: str) -> FoundPolicy | None:
            versions = [(other.contract, status_of(other.contract)) for other in files if other.contract.id == name]
            return binding_policy(versions, self.today)

        try:
            chain = policy_chain(file.contract, find, self.defaults)
        except InvalidDocument as error:
            hint = "add the policy to the folders of contracts, or use a registry that has it"
            place = Place(str(file.path))
            return file.contract, (Finding(POLICY_UNKNOWN, Severity.WARNING, str(error), place=place, hint=hint),)
        return effective_contract(file.contract, chain).contract, ()


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
    """Return the highest released version."""
    highest_first = sorted(files, key=_version, reverse=True)
    return highest_first[head_of_line([status_of(file.contract) for file in highest_first])]


def _version(file: ContractFile) -> tuple[int, ...]:
    return tuple(map(int, file.contract.version.split(".")))
