"""Reviewing the branch that is checked out, as a project's settings say."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from treaty.cli.git.base import Base, Fetching, find_base
from treaty.cli.git.branch import Looking, below, branch_of
from treaty.cli.git.changed_files import State
from treaty.cli.git.repository import Git, repository
from treaty.cli.registry_connection import is_address, opened
from treaty.compatibility import parse_mode
from treaty.contracts.findings import Finding, Severity
from treaty.errors import InvalidDocument, NotFound, TreatyError, Unavailable
from treaty.review import Review, Rules, review
from treaty.review.report import Affected, RegistryAnswer, Step
from treaty.settings.sections import DEFAULT_REGISTRY

if TYPE_CHECKING:
    from treaty.cli.registration import AnyRegistry
    from treaty.contracts.model import Contract
    from treaty.contracts.text import Limits
    from treaty.registry.model import AffectedAnswer
    from treaty.review.branch import Document
    from treaty.settings import Settings


@dataclass(frozen=True)
class Asked:
    """What somebody who runs a check asks for."""

    base: str | None
    state: State
    fetching: Fetching
    mode: str | None
    today: date
    paths: tuple[str, ...] = ()
    registry: str | None = None
    token_file: Path | None = None
    is_offline: bool = False


@dataclass(frozen=True)
class Checkout:
    """A branch that is checked out, and the commit it is compared with."""

    git: Git
    base: Base
    asked: Asked
    settings: Settings

    def review(self) -> Review:
        """Review the branch as it is now."""
        settings, asked = self.settings, self.asked
        looking = Looking(asked.state, settings.limits.bytes, settings.parts.check.ignore, below(self.git, asked.paths))
        mode = parse_mode(asked.mode) if asked.mode else settings.mode()
        rules = Rules(mode, settings.grading(), settings.linting(), settings.limits, asked.today)
        named = None if asked.is_offline else named_registry(asked.registry, settings)
        desk = Desk(named, asked.token_file, settings, asked.mode) if named is not None else None
        with desk or nullcontext():
            return review(branch_of(self.git, self.base, looking), rules, desk)


def check_out(asked: Asked, settings: Settings) -> Checkout:
    """Find the repository, and where its branch left the base."""
    git = repository(Path())
    base = find_base(git, asked.base or settings.parts.check.base, asked.fetching)
    return Checkout(git, base, asked, settings)


_GONE = frozenset({"retired", "archived"})
_NAME = "registry"


def named_registry(asked: str | None, settings: Settings) -> str | None:
    """Return the registry that a check asks: the one named, the one set, or the file of the project if it is there."""
    named = asked if asked is not None else settings.parts.registry
    by_default = asked is None and Path(named).parts[-2:] == Path(DEFAULT_REGISTRY).parts
    return None if by_default and not Path(named).exists() else named


class Desk:
    """One registry, open from the first question to the last; what it cannot answer is said as Unavailable."""

    def __init__(self, reference: str, token_file: Path | None, settings: Settings, mode: str | None) -> None:
        self._given = (reference, token_file, settings)
        self._mode = mode
        self._limits = settings.limits
        self._open = ExitStack()
        self._registry: AnyRegistry | None = None
        self.name = reference if is_address(reference) or "://" not in reference else "the database of the registry"

    def __enter__(self) -> Desk:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.close()

    def judge(self, document: Document) -> RegistryAnswer:
        """Say what would become of a version."""
        return self._answer(lambda registry: _judged(registry, document, self._mode, self._limits))

    def removal(self, contract: Contract) -> RegistryAnswer:
        """Say what stands against a line being gone."""
        return self._answer(lambda registry: _removal(registry, contract))

    def _answer(self, ask: Callable[[AnyRegistry], RegistryAnswer]) -> RegistryAnswer:
        try:
            if self._registry is None:
                self._registry = self._open.enter_context(opened(*self._given))
            return ask(self._registry)
        except Unavailable:
            raise
        except TreatyError as error:
            raise Unavailable(str(error)) from None


def _judged(registry: AnyRegistry, document: Document, mode: str | None, limits: Limits) -> RegistryAnswer:
    from treaty.registry.documents import prepare

    contract, content = document.contract, document.file.content
    try:
        ours = prepare(content, limits=limits)
        taken = _digest(registry, contract)
        if taken == ours.digest:
            return RegistryAnswer(before=contract.version, registered=True)
        report = registry.check(content, compatibility=mode)
        impact = registry.consumers.impact(content, compatibility=mode)
    except InvalidDocument as error:
        severity = Severity.WARNING if contract.treaty.parent else Severity.ERROR  # the policy may come with the branch
        said = f"the registry cannot judge it: {error}"
        return RegistryAnswer(findings=(Finding("registry_refuses", severity, said),))
    findings = [
        Finding(issue.kind, _severity(issue.severity, report.admissible), issue.message, issue.field)
        for issue in report.issues
        if taken is None or issue.kind != "version_not_increasing"
    ]
    if taken is not None:
        findings.insert(0, _taken(contract, impact.required_version))
    return RegistryAnswer(
        impact.before,
        False,
        impact.required_version,
        tuple(findings),
        tuple(_affected(one) for one in impact.affected),
        impact.more,
    )


def _removal(registry: AnyRegistry, contract: Contract) -> RegistryAnswer:
    try:
        lines = [one for one in registry.lines(contract.id) if one.line == contract.line]
    except NotFound:
        return RegistryAnswer()
    if not lines:
        return RegistryAnswer()
    if lines[0].status in _GONE:
        return RegistryAnswer(lines[0].latest, registered=True)
    decision = registry.consumers.can_i_retire(lines[0].line)
    found = [Finding("registry_refuses", Severity.WARNING, one.message) for one in decision.reasons]
    return RegistryAnswer(
        lines[0].latest,
        registered=True,
        findings=tuple(found) or (Finding("registry_refuses", Severity.WARNING, f"{lines[0].line} is not retired"),),
        affected=tuple(_affected(one) for one in decision.affected),
    )


def _digest(registry: AnyRegistry, contract: Contract) -> str | None:
    try:
        return registry.get(contract.id, contract.version).digest
    except NotFound:
        return None


def _taken(contract: Contract, required: str | None) -> Finding:
    message = f"version {contract.version} is registered with other content, and history does not change"
    higher = required if required and required != contract.version else None
    hint = f"take {higher}" if higher else "give the change a version of its own"
    return Finding("version_taken", Severity.ERROR, message, hint=hint)


def _severity(severity: str, admissible: bool) -> Severity:
    return Severity.ERROR if severity == "error" and not admissible else Severity.WARNING


def _affected(one: AffectedAnswer) -> Affected:
    return Affected(
        one.name,
        one.kind,
        one.effect,
        tuple(one.fields),
        tuple(Step(None, reason) for reason in one.reasons) if one.effect == "hit" else (),
        one.consumer_class,
        one.contact,
        one.critical,
        _NAME,
    )
