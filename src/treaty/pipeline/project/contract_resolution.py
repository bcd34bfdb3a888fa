"""Which contracts a project runs under: from its registry, as they were last known, or from its folders."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeAlias
from urllib.parse import quote

from treaty.contracts import Contract, Finding, Severity, contract_from, document_of, load
from treaty.contracts.text import Limits
from treaty.contracts.text.writer import write_yaml
from treaty.contracts.versions import parse_version
from treaty.errors import InvalidDocument, NotFound, Unavailable
from treaty.pipeline.project.contract_folders import lines_below
from treaty.pipeline.project.declarations import Declared, Line, Project

if TYPE_CHECKING:
    from treaty.registry.model import DocumentAnswer, LineAnswer, Page


AS_LAST_KNOWN = "contract-as-last-known"
NO_COPY_KEPT = "no-copy-kept"


class OnRegistryDown(StrEnum):
    """What a run does while the registry cannot be reached."""

    LAST_KNOWN = "last_known"
    HALT = "halt"


@dataclass(frozen=True)
class ContractsUsed:
    """The contract of every line that a project declares, where each came from, and what to know about that."""

    by_line: Mapping[Line, Contract]
    origins: Mapping[Line, str] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()

    def of(self, declared: Declared) -> Contract:
        """Return the contract of a declaration."""
        return self.by_line[declared.line]


def contracts_used(
    project: Project,
    folders: Sequence[Path],
    registry: Opening | None = None,
    on_registry_down: OnRegistryDown = OnRegistryDown.LAST_KNOWN,
    limits: Limits | None = None,
) -> ContractsUsed:
    """Find the contract of every declaration: where there is a registry its word counts, else the folders'."""
    if registry is None:
        return _from_folders(project, folders, limits or Limits())
    return _from_registry(project, registry, on_registry_down)


def _from_folders(project: Project, folders: Sequence[Path], limits: Limits) -> ContractsUsed:
    known = lines_below(folders, limits)
    shown = ", ".join(map(str, folders))
    missing = {}
    for line in _lines(project):
        if line not in known:
            others = sorted(one.major for one in known if one.contract == line.contract)
            there = f"; there is {', '.join(f'@{one}' for one in others)}" if others else ""
            missing[line] = f"no contract {line} in {shown}{there}"
    _refuse_missing(project, missing, "write it there, correct the name, or set pipeline.contracts")
    used = {line: known[line] for line in _lines(project)}
    return ContractsUsed(
        {line: one.contract for line, one in used.items()}, {line: str(one.path) for line, one in used.items()}
    )


def _from_registry(project: Project, opening: Opening, on_registry_down: OnRegistryDown) -> ContractsUsed:
    answers: dict[Line, Contract] = {}
    missing: dict[Line, str] = {}
    down: Unavailable | None = None
    try:
        with opening() as registry:
            for line in _lines(project):
                try:
                    answers[line] = latest_of(registry, line)
                except NotFound as error:
                    missing[line] = str(error)
    except Unavailable as error:
        down = error
    _refuse_missing(project, missing, "register it with: treaty register FILE")
    findings = _kept(LastKnown(project.folder), answers)
    origins = dict.fromkeys(answers, "the registry")
    asked = _lines(project)
    if down is None or len(answers) == len(asked):
        return ContractsUsed(answers, origins, findings)
    if on_registry_down is OnRegistryDown.HALT:
        raise Unavailable(f"{down}; or set pipeline.on_registry_down to last_known, to go on with what is known")
    copies = _recalled(project, [line for line in asked if line not in answers], down)
    return ContractsUsed(
        answers | {line: one.contract for line, one in copies.items()},
        origins | {line: f"last known on {one.known_at:%Y-%m-%d %H:%M} UTC" for line, one in copies.items()},
        (*findings, _as_last_known(copies.values(), down)),
    )


def _lines(project: Project) -> tuple[Line, ...]:
    return tuple(dict.fromkeys(declared.line for declared in project))


def _refuse_missing(project: Project, missing: Mapping[Line, str], hint: str) -> None:
    said = [f"{one.at}: {missing[one.line]}; {hint}" for one in project if one.line in missing]
    if said:
        raise NotFound("\n".join(said))


def _kept(copies: LastKnown, answers: Mapping[Line, Contract]) -> tuple[Finding, ...]:
    """Keep every answer; a disk that takes none is worth a word now, and no reason to stop."""
    for line, contract in answers.items():
        try:
            copies.keep(line, contract)
        except OSError as error:
            message = f"no copy of {line} can be kept in {copies.project / FOLDER}: {error.strerror}"
            hint = "without one, a run stops when the registry cannot be reached"
            return (Finding(NO_COPY_KEPT, Severity.WARNING, message, hint=hint),)
    return ()


def _recalled(project: Project, lines: Sequence[Line], down: Unavailable) -> Mapping[Line, Copy]:
    known = LastKnown(project.folder)
    copies = {line: known.recall(line) for line in lines}
    if unknown := [str(line) for line, copy in copies.items() if copy is None]:
        raise Unavailable(
            f"{down}; and no copy was ever kept of {', '.join(unknown)}: run once while the registry answers"
        )
    return {line: copy for line, copy in copies.items() if copy is not None}


def _as_last_known(copies: Iterable[Copy], down: Unavailable) -> Finding:
    listed = ", ".join(f"{one.contract.id} {one.contract.version}" for one in copies)
    oldest = min(one.known_at for one in copies)
    message = f"{down}; used as last known, the oldest on {oldest:%Y-%m-%d %H:%M} UTC: {listed}"
    hint = "see why the registry does not answer; pipeline.on_registry_down: halt stops instead"
    return Finding(AS_LAST_KNOWN, Severity.WARNING, message, hint=hint)


class Lines(Protocol):
    """What a pipeline asks of a registry, on a database or by its address."""

    def lines(self, contract: str) -> list[LineAnswer]:
        """List the lines of a contract."""
        ...

    def get(self, contract: str, version: str) -> DocumentAnswer:
        """Return one version with its document."""
        ...

    def history(self, contract: str, *, cursor: str | None = None) -> Page[DocumentAnswer]:
        """List versions with their documents."""
        ...


Opening: TypeAlias = Callable[[], AbstractContextManager[Lines]]
"""Opens the registry that is set, and closes it at the end."""


def latest_of(registry: Lines, line: Line) -> Contract:
    """Return the highest active version of a line, else the highest of those that stand best in their life."""
    known = registry.lines(line.contract)
    found = next((one for one in known if one.line == str(line)), None)
    if found is None:
        raise NotFound(f"no line {line} is registered; there are: {', '.join(one.line for one in known)}")
    if found.latest_active:
        answer = registry.get(line.contract, found.latest_active)
    else:
        answer = _highest(registry, line, found.status)
    return contract_from(answer.document, f"{answer.contract} {answer.version} in the registry")


def _highest(registry: Lines, line: Line, status: str) -> DocumentAnswer:
    members: list[DocumentAnswer] = []
    cursor: str | None = None
    while True:
        page = registry.history(line.contract, cursor=cursor)
        members += [one for one in page.items if one.line == str(line) and one.status == status]
        cursor = page.next
        if cursor is None:
            return max(members, key=lambda one: parse_version(one.version))


FOLDER = Path(".treaty", "contracts")
_ANEW = "delete the copy, and run once while the registry answers"


@dataclass(frozen=True)
class Copy:
    """A contract as it was known at a moment."""

    contract: Contract
    known_at: datetime


@dataclass(frozen=True)
class LastKnown:
    """The copies of one project."""

    project: Path

    def path(self, line: Line) -> Path:
        """Return the file of a line; signs of an id that no file name should have are quoted."""
        return self.project / FOLDER / f"{quote(line.contract, safe='')}@{line.major}.yaml"

    def keep(self, line: Line, contract: Contract) -> None:
        """Write a copy; whoever reads meanwhile, or after a crash, finds a whole one."""
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

    def recall(self, line: Line) -> Copy | None:
        """Return the copy of a line, or None where there is none; one that is broken is refused."""
        path = self.path(line)
        try:
            content, written = path.read_bytes(), path.stat().st_mtime
        except OSError:
            return None
        try:
            contract = load(content, str(path)).contract
        except InvalidDocument as error:
            raise InvalidDocument(f"{error}; {_ANEW}", error.findings) from None
        if contract.line != str(line):
            raise InvalidDocument(f"{path} holds {contract.line}, not {line}; {_ANEW}")
        return Copy(contract, datetime.fromtimestamp(written, UTC))
