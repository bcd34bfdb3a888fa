"""The review of the checked-out branch, with the settings of the project and its registry, and its fixes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from treaty.cli.git.base import Base, Fetching, find_base
from treaty.cli.git.branch import FileFilter, paths_in_repository, read_branch
from treaty.cli.git.changed_files import State
from treaty.cli.git.repository import Git, find_repository
from treaty.cli.registry_connection import is_server_address, open_registry
from treaty.cli.render.review.phrases import is_changelog_entry
from treaty.compatibility import parse_mode
from treaty.contracts.findings import Finding, Severity
from treaty.contracts.text import Limits
from treaty.errors import InvalidDocument, NotFound, TreatyError, Unavailable
from treaty.review import ContractReview, ContractState, Review, Rules, review
from treaty.review.fixes import Fixed, fix
from treaty.review.report import Affected, RegistryAnswer, Step
from treaty.settings.sections import DEFAULT_REGISTRY

if TYPE_CHECKING:
    from treaty.cli.registration import AnyRegistry
    from treaty.contracts.model import Contract
    from treaty.registry.model import AffectedAnswer
    from treaty.review.branch import Document
    from treaty.settings import Settings


@dataclass(frozen=True)
class CheckRequest:
    """The options of one check."""

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
    """The checked-out branch and the commit that it is compared with."""

    git: Git
    base: Base
    request: CheckRequest
    settings: Settings

    def review(self) -> Review:
        """Review the branch as it is now."""
        settings, request = self.settings, self.request
        files = FileFilter(
            request.state,
            settings.limits.bytes,
            settings.parts.check.ignore,
            paths_in_repository(self.git, request.paths),
        )
        mode = parse_mode(request.mode) if request.mode else settings.mode()
        rules = Rules(mode, settings.grading(), settings.lint_settings(), settings.limits, request.today)
        reference = None if request.is_offline else registry_to_ask(request.registry, settings)
        registry = RegistryReviewer(reference, request.token_file, settings, request.mode) if reference else None
        with registry or nullcontext():
            return review(read_branch(self.git, self.base, files), rules, registry)


def check_out(request: CheckRequest, settings: Settings) -> Checkout:
    """Find the repository and the base of its branch."""
    git = find_repository(Path())
    base = find_base(git, request.base or settings.parts.check.base, request.fetching)
    return Checkout(git, base, request, settings)


ENDED_STATUSES = frozenset({"retired", "archived"})
REGISTRY_ORIGIN = "registry"


def registry_to_ask(given: str | None, settings: Settings) -> str | None:
    """Return the registry to ask: the given one, the configured one, or the default file if it exists."""
    reference = given if given is not None else settings.parts.registry
    is_default = given is None and Path(reference).parts[-2:] == Path(DEFAULT_REGISTRY).parts
    return None if is_default and not Path(reference).exists() else reference


class RegistryReviewer:
    """Asks one registry about changed and removed contracts; it is opened on first use. Errors become Unavailable."""

    def __init__(self, reference: str, token_file: Path | None, settings: Settings, mode: str | None) -> None:
        self._connection = (reference, token_file, settings)
        self._mode = mode
        self._limits = settings.limits
        self._stack = ExitStack()
        self._registry: AnyRegistry | None = None
        self.name = reference if is_server_address(reference) or "://" not in reference else "the registry database"

    def __enter__(self) -> RegistryReviewer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def judge(self, document: Document) -> RegistryAnswer:
        """Return how the registry would judge a version."""
        return self._answer(lambda registry: _judged(registry, document, self._mode, self._limits))

    def removal(self, contract: Contract) -> RegistryAnswer:
        """Return what prevents the removal of a line."""
        return self._answer(lambda registry: _removal(registry, contract))

    def _answer(self, ask: Callable[[AnyRegistry], RegistryAnswer]) -> RegistryAnswer:
        try:
            if self._registry is None:
                self._registry = self._stack.enter_context(open_registry(*self._connection))
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
        severity = (
            Severity.WARNING if contract.treaty.parent else Severity.ERROR
        )  # the policy may be part of the branch
        message = f"the registry cannot judge it: {error}"
        return RegistryAnswer(findings=(Finding("registry_refuses", severity, message),))
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
        tuple(_affected(affected) for affected in impact.affected),
        impact.more,
    )


def _removal(registry: AnyRegistry, contract: Contract) -> RegistryAnswer:
    try:
        lines = [line for line in registry.lines(contract.id) if line.line == contract.line]
    except NotFound:
        return RegistryAnswer()
    if not lines:
        return RegistryAnswer()
    if lines[0].status in ENDED_STATUSES:
        return RegistryAnswer(lines[0].latest, registered=True)
    decision = registry.consumers.can_i_retire(lines[0].line)
    findings = [Finding("registry_refuses", Severity.WARNING, reason.message) for reason in decision.reasons]
    return RegistryAnswer(
        lines[0].latest,
        registered=True,
        findings=tuple(findings) or (Finding("registry_refuses", Severity.WARNING, f"{lines[0].line} is not retired"),),
        affected=tuple(_affected(affected) for affected in decision.affected),
    )


def _digest(registry: AnyRegistry, contract: Contract) -> str | None:
    try:
        return registry.get(contract.id, contract.version).digest
    except NotFound:
        return None


def _taken(contract: Contract, required: str | None) -> Finding:
    message = f"version {contract.version} is registered with different content and cannot be changed"
    higher = required if required and required != contract.version else None
    hint = f"use {higher}" if higher else "give the change a new version"
    return Finding("version_taken", Severity.ERROR, message, hint=hint)


def _severity(severity: str, admissible: bool) -> Severity:
    return Severity.ERROR if severity == "error" and not admissible else Severity.WARNING


def _affected(affected: AffectedAnswer) -> Affected:
    return Affected(
        affected.name,
        affected.kind,
        affected.effect,
        tuple(affected.fields),
        tuple(Step(None, reason) for reason in affected.reasons) if affected.effect == "hit" else (),
        affected.consumer_class,
        affected.contact,
        affected.critical,
        REGISTRY_ORIGIN,
    )


@dataclass(frozen=True)
class FixResult:
    """The version that was written to a file, or the reason why the file was not changed."""

    path: str
    version: str | None
    reason: str | None = None

    def __str__(self) -> str:
        return f"{self.path}: version {self.version}" if self.version else f"{self.path}: not changed: {self.reason}"


def fix_all(review: Review, root: Path, limits: Limits) -> Iterator[FixResult]:
    """Fix every changed contract, and yield the result for each file that needed a fix."""
    changed = [one for one in review.contracts if one.state is ContractState.CHANGED and one.format is None]
    for contract in changed:
        if (result := _fix(contract, root / contract.path, limits)) is not None:
            yield result


def _fix(contract: ContractReview, file: Path, limits: Limits) -> FixResult | None:
    version = _target_version(contract)
    if version is None:
        return FixResult(contract.path, None, "its versions are not MAJOR.MINOR.PATCH")
    content = file.read_bytes()
    fixed = fix(content, version, _changelog_entry(contract), limits)
    if not isinstance(fixed, Fixed):
        return FixResult(contract.path, None, fixed.reason)
    if fixed.content == content:
        return None
    _write(file, fixed.content)
    return FixResult(contract.path, version)


def _target_version(contract: ContractReview) -> str | None:
    """Return the declared version if it is high enough, or else the required one."""
    verdict = contract.verdict
    if contract.required_version is None or verdict is None:
        return contract.after if verdict and verdict.required_version else None
    return contract.after if contract.version_is_enough else contract.required_version


def _changelog_entry(contract: ContractReview) -> list[str]:
    """Return the changes of the contract, largest bump first, without the new changelog entry itself."""
    judged = contract.verdict.judged if contract.verdict else ()
    changes = [change for change in judged if change.grade.bump and not is_changelog_entry(change)]
    changes.sort(key=lambda item: -item.grade.bump)
    return list(dict.fromkeys(change.message for change in changes))


def _write(file: Path, content: bytes) -> None:
    """Replace a file atomically, with its permissions."""
    temporary = file.with_name(f".{file.name}.treaty")
    try:
        temporary.write_bytes(content)
        temporary.chmod(file.stat().st_mode & 0o7777)
        os.replace(temporary, file)  # noqa: PTH105 - one step, over what is there
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise Unavailable(f"cannot write {file}: {error.strerror}") from None
