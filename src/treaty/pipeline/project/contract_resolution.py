"""Contract resolution: which version of each contract a project uses, from the registry, its cache or folders."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeAlias
from urllib.parse import quote

from treaty.contracts import Contract, Finding, Place, Severity, contract_from, document_of, load
from treaty.contracts.loader import looks_like_contract, parse
from treaty.contracts.text import Limits, read_document
from treaty.contracts.text.writer import write_yaml
from treaty.contracts.validation import raise_if_any
from treaty.contracts.versions import Line, parse_version, try_parse_version
from treaty.errors import InvalidDocument, NotFound, Unavailable
from treaty.governance.lifecycle import line_status
from treaty.pipeline.project.declarations import Declared, Project
from treaty.pipeline.project.promotion import status_of

if TYPE_CHECKING:
    from treaty.registry.model import DocumentAnswer, LineAnswer, Page


CACHED_CONTRACTS = "contract-as-last-known"
NOT_CACHED = "no-copy-kept"


class OnRegistryDown(StrEnum):
    """What a run does if the registry cannot be reached."""

    LAST_KNOWN = "last_known"
    HALT = "halt"


@dataclass(frozen=True)
class ResolvedContracts:
    """The contract of every line that a project declares, its origin, and warnings."""

    by_line: Mapping[Line, Contract]
    origins: Mapping[Line, str] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()

    def of(self, declared: Declared) -> Contract:
        """Return the contract of a declaration."""
        return self.by_line[declared.line]


def resolve_contracts(
    project: Project,
    folders: Sequence[Path],
    registry: RegistryOpener | None = None,
    on_registry_down: OnRegistryDown = OnRegistryDown.LAST_KNOWN,
    limits: Limits | None = None,
) -> ResolvedContracts:
    """Find the contract of every declaration: in the registry if there is one, else in the folders."""
    if registry is None:
        return _from_folders(project, folders, limits or Limits())
    return _from_registry(project, registry, on_registry_down)


def _from_folders(project: Project, folders: Sequence[Path], limits: Limits) -> ResolvedContracts:
    known = find_contracts(folders, limits)
    shown = ", ".join(map(str, folders))
    missing = {}
    for line in _lines(project):
        if line not in known:
            others = sorted(other.major for other in known if other.contract == line.contract)
            available = f"; there is {', '.join(f'@{major}' for major in others)}" if others else ""
            missing[line] = f"no contract {line} in {shown}{available}"
    _refuse_missing(project, missing, "add it there, correct the name, or set pipeline.contracts")
    used = {line: known[line] for line in _lines(project)}
    return ResolvedContracts(
        {line: file.contract for line, file in used.items()}, {line: str(file.path) for line, file in used.items()}
    )


def _from_registry(
    project: Project, open_registry: RegistryOpener, on_registry_down: OnRegistryDown
) -> ResolvedContracts:
    answers: dict[Line, Contract] = {}
    missing: dict[Line, str] = {}
    down: Unavailable | None = None
    try:
        with open_registry() as registry:
            for line in _lines(project):
                try:
                    answers[line] = fetch_latest(registry, line)
                except NotFound as error:
                    missing[line] = str(error)
    except Unavailable as error:
        down = error
    _refuse_missing(project, missing, "register it with: treaty register FILE")
    findings = _cache_contracts(ContractCache(project.folder), answers)
    origins = dict.fromkeys(answers, "the registry")
    lines = _lines(project)
    if down is None or len(answers) == len(lines):
        return ResolvedContracts(answers, origins, findings)
    if on_registry_down is OnRegistryDown.HALT:
        raise Unavailable(f"{down}; to run with cached contracts, set pipeline.on_registry_down to last_known")
    copies = _load_cached(project, [line for line in lines if line not in answers], down)
    return ResolvedContracts(
        answers | {line: copy.contract for line, copy in copies.items()},
        origins | {line: f"cached on {copy.cached_at:%Y-%m-%d %H:%M} UTC" for line, copy in copies.items()},
        (*findings, _cached_contracts_warning(copies.values(), down)),
    )


def _lines(project: Project) -> tuple[Line, ...]:
    return tuple(dict.fromkeys(declared.line for declared in project))


def _refuse_missing(project: Project, missing: Mapping[Line, str], hint: str) -> None:
    problems = [f"{declared.at}: {missing[declared.line]}; {hint}" for declared in project if declared.line in missing]
    if problems:
        raise NotFound("\n".join(problems))


def _cache_contracts(cache: ContractCache, answers: Mapping[Line, Contract]) -> tuple[Finding, ...]:
    """Cache all contracts; if they cannot be written, return a warning instead of failing."""
    for line, contract in answers.items():
        try:
            cache.store(line, contract)
        except OSError as error:
            message = f"contract {line} cannot be cached in {cache.project / FOLDER}: {error.strerror}"
            hint = "without the cache, a run fails when the registry cannot be reached"
            return (Finding(NOT_CACHED, Severity.WARNING, message, hint=hint),)
    return ()


def _load_cached(project: Project, lines: Sequence[Line], down: Unavailable) -> Mapping[Line, CachedContract]:
    cache = ContractCache(project.folder)
    copies = {line: cache.load(line) for line in lines}
    if unknown := [str(line) for line, copy in copies.items() if copy is None]:
        raise Unavailable(
            f"{down}; and there is no cached copy of {', '.join(unknown)}: run once while the registry is reachable"
        )
    return {line: copy for line, copy in copies.items() if copy is not None}


def _cached_contracts_warning(copies: Iterable[CachedContract], down: Unavailable) -> Finding:
    listed = ", ".join(f"{copy.contract.id} {copy.contract.version}" for copy in copies)
    oldest = min(copy.cached_at for copy in copies)
    message = f"{down}; using cached contracts, the oldest from {oldest:%Y-%m-%d %H:%M} UTC: {listed}"
    hint = "check that the registry is reachable; with pipeline.on_registry_down: halt the run stops instead"
    return Finding(CACHED_CONTRACTS, Severity.WARNING, message, hint=hint)


class ContractRegistry(Protocol):
    """What a pipeline needs of a registry, local or over HTTP."""

    def lines(self, contract: str) -> list[LineAnswer]:
        """List the lines of a contract."""
        ...

    def get(self, contract: str, version: str) -> DocumentAnswer:
        """Return one version with its document."""
        ...

    def history(self, contract: str, *, cursor: str | None = None) -> Page[DocumentAnswer]:
        """List versions with their documents."""
        ...


RegistryOpener: TypeAlias = Callable[[], AbstractContextManager[ContractRegistry]]
"""Opens the configured registry, and closes it at the end."""


def fetch_latest(registry: ContractRegistry, line: Line) -> Contract:
    """Return the highest active version of a line, or the highest of those with the next best status."""
    lines = registry.lines(line.contract)
    match = next((known for known in lines if known.line == str(line)), None)
    if match is None:
        raise NotFound(f"line {line} is not registered; there are: {', '.join(other.line for other in lines)}")
    if match.latest_active:
        answer = registry.get(line.contract, match.latest_active)
    else:
        answer = _highest(registry, line, match.status)
    return contract_from(answer.document, f"{answer.contract} {answer.version} in the registry")


def _highest(registry: ContractRegistry, line: Line, status: str) -> DocumentAnswer:
    members: list[DocumentAnswer] = []
    cursor: str | None = None
    while True:
        page = registry.history(line.contract, cursor=cursor)
        members += [version for version in page.items if version.line == str(line) and version.status == status]
        cursor = page.next
        if cursor is None:
            return max(members, key=lambda version: parse_version(version.version))


FOLDER = Path(".treaty", "contracts")
_REFRESH_HINT = "delete the cached copy, and run once while the registry is reachable"


@dataclass(frozen=True)
class CachedContract:
    """A cached contract, with the time when it was cached."""

    contract: Contract
    cached_at: datetime


@dataclass(frozen=True)
class ContractCache:
    """The cached contracts of a project, used when the registry cannot be reached."""

    project: Path

    def path(self, line: Line) -> Path:
        """Return the file of a line; characters that do not belong in a file name are quoted."""
        return self.project / FOLDER / f"{quote(line.contract, safe='')}@{line.major}.yaml"

    def store(self, line: Line, contract: Contract) -> None:
        """Cache a contract. The file is replaced atomically, so that readers always find a complete one."""
        path = self.path(line)
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=".", suffix=".tmp", dir=path.parent)
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(write_yaml(document_of(contract)))
                file.flush()
                os.fsync(file.fileno())
            Path(name).replace(path)
        except BaseException:
            with contextlib.suppress(OSError):
                Path(name).unlink()
            raise

    def load(self, line: Line) -> CachedContract | None:
        """Return the cached contract of a line, or None; a broken file raises `InvalidDocument`."""
        path = self.path(line)
        try:
            content, written = path.read_bytes(), path.stat().st_mtime
        except OSError:
            return None
        try:
            contract = load(content, str(path)).contract
        except InvalidDocument as error:
            raise InvalidDocument(f"{error}; {_REFRESH_HINT}", error.findings) from None
        if contract.line != str(line):
            raise InvalidDocument(f"{path} contains {contract.line}, not {line}; {_REFRESH_HINT}")
        return CachedContract(contract, datetime.fromtimestamp(written, UTC))


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
