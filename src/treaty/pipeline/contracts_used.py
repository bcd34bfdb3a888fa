"""Which contracts a project runs under: from its registry, as they were last known, or from its folders."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from treaty.contracts import Contract, Finding, Severity
from treaty.contracts.reading import Limits
from treaty.errors import NotFound, Unavailable
from treaty.pipeline.asking import Opening, latest_of
from treaty.pipeline.contract_folders import lines_below
from treaty.pipeline.declarations import Declared, Line, Project
from treaty.pipeline.last_known import FOLDER, Copy, LastKnown

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
