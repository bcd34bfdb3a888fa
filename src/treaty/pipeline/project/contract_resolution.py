"""Contract resolution: which version of each contract a project uses, from the registry, its cache or folders."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeAlias
from urllib.parse import quote

from treaty.contracts import Contract, Finding, Severity, contract_from, document_of, load
from treaty.contracts.text import Limits
from treaty.contracts.text.writer import write_yaml
from treaty.contracts.versions import Line
from treaty.errors import InvalidDocument, NotFound, Unavailable
from treaty.pipeline.project.contract_files import Inheritance, read_contract_files, used_versions
from treaty.pipeline.project.declarations import Declared, Project
from treaty.suggestions import did_you_mean

if TYPE_CHECKING:
    from treaty.registry.model import DocumentAnswer, EffectiveAnswer, LineAnswer, Page


CACHED_CONTRACTS = "contract-as-last-known"
NOT_CACHED = "no-copy-kept"

_WHERE_TO_ADD = (
    "add it there, correct the name, or set pipeline.contracts; treaty plan --draft drafts the contracts of SQL"
)


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
    last_known: tuple[str, ...] = ()
    """Contracts from the cache, with their versions and when they were cached."""

    def of(self, declared: Declared) -> Contract:
        """Return the contract of a declaration."""
        return self.by_line[declared.line]


def resolve_contracts(
    project: Project,
    folders: Sequence[Path],
    registry: RegistryOpener | None = None,
    on_registry_down: OnRegistryDown = OnRegistryDown.LAST_KNOWN,
    limits: Limits | None = None,
    inheritance: Inheritance | None = None,
) -> ResolvedContracts:
    """Find the contract of every declaration: in the registry if there is one, else in the folders.

    Each contract includes what it inherits from its policies.
    """
    if registry is None:
        return _from_folders(project, folders, limits or Limits(), inheritance or Inheritance())
    return _from_registry(project, registry, on_registry_down)


def find_existing_contracts(
    project: Project, folders: Sequence[Path], registry: RegistryOpener | None = None, limits: Limits | None = None
) -> dict[Line, Contract]:
    """Return the contracts of a project that exist, in its folders or in the registry; others are left out."""
    known = used_versions(read_contract_files(folders, limits or Limits()))
    existing = {line: known[line].contract for line in _lines(project) if line in known}
    if registry is not None:
        with registry() as opened:
            for line in _lines(project):
                with suppress(NotFound):
                    existing.setdefault(line, fetch_latest(opened, line))
    return existing


def _from_folders(
    project: Project, folders: Sequence[Path], limits: Limits, inheritance: Inheritance
) -> ResolvedContracts:
    files = read_contract_files(folders, limits)
    known = used_versions(files)
    shown = ", ".join(map(str, folders))
    missing = {}
    for line in _lines(project):
        if line not in known:
            others = sorted(other.major for other in known if other.contract == line.contract)
            available = f"there is {', '.join(f'@{major}' for major in others)}" if others else ""
            instead = available or did_you_mean(line.contract, {other.contract for other in known})
            missing[line] = "; ".join(filter(None, (f"no contract {line} in {shown}", instead)))
    _refuse_missing(project, missing, _WHERE_TO_ADD)
    used = {line: known[line] for line in _lines(project)}
    inherited = [inheritance.inherit(file, files) for file in used.values()]
    return ResolvedContracts(
        {line: contract for line, (contract, _) in zip(used, inherited, strict=True)},
        {line: str(file.path) for line, file in used.items()},
        tuple(finding for _, findings in inherited for finding in findings),
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
                    missing[line] = _not_registered(registry, line, error)
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
        tuple(
            f"{line} {copy.contract.version}, cached on {copy.cached_at:%Y-%m-%d %H:%M} UTC"
            for line, copy in copies.items()
        ),
    )


def _not_registered(registry: ContractRegistry, line: Line, error: NotFound) -> str:
    """Return why a line cannot be used, with the most similar id if no contract has the one of the line."""
    ids = registry.datasets().items
    suggestion = "" if line.contract in ids else did_you_mean(line.contract, ids)
    return f"{error.what}; {suggestion}" if suggestion else str(error)


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

    def effective(self, contract: str, version: str) -> EffectiveAnswer:
        """Return one version with what it inherits from its policies."""
        ...

    def history(self, contract: str, *, cursor: str | None = None) -> Page[DocumentAnswer]:
        """List versions with their documents."""
        ...

    def datasets(self) -> Page[str]:
        """List the ids of contracts."""
        ...


RegistryOpener: TypeAlias = Callable[[], AbstractContextManager[ContractRegistry]]
"""Opens the configured registry, and closes it at the end."""


def fetch_latest(registry: ContractRegistry, line: Line) -> Contract:
    """Return the highest released version of a line, with what it inherits from its policies."""
    lines = registry.lines(line.contract)
    match = next((known for known in lines if known.line == str(line)), None)
    if match is None:
        raise NotFound(f"line {line} is not registered; there are: {', '.join(other.line for other in lines)}")
    answer = registry.effective(line.contract, match.current)
    return contract_from(answer.document, f"{answer.contract} {answer.version} in the registry")


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
