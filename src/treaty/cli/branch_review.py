"""The review of the checked-out branch, with the settings of the project and its registry, and its fixes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, TypeVar

from treaty.cli.contract_context import policies_of, readers_of
from treaty.cli.direct_reads import find_direct_reads
from treaty.cli.git.base import Base, Fetching, find_base
from treaty.cli.git.branch import FileFilter, paths_in_repository, read_branch
from treaty.cli.git.changed_files import State
from treaty.cli.git.repository import Git, find_repository
from treaty.cli.registry_connection import is_server_address, open_registry, registry_to_ask
from treaty.cli.render.review.phrases import is_changelog_entry
from treaty.cli.subscription_outlook import line_outlook, needs_of
from treaty.compatibility import parse_mode
from treaty.contracts.artifact import looks_like_artifact
from treaty.contracts.findings import Finding, Severity
from treaty.contracts.model import Form
from treaty.contracts.text import Limits
from treaty.errors import InvalidDocument, NotFound, TreatyError, Unavailable
from treaty.review import ContractReview, ContractState, Review, Rules, review
from treaty.review.fixes import Fixed, fix
from treaty.review.report import Affected, RegistryAnswer, Step

if TYPE_CHECKING:
    from treaty.cli.registration import AnyRegistry
    from treaty.consumers.subscription_files import DeclaredSubscription
    from treaty.contracts.model import Contract
    from treaty.registry.model import AffectedAnswer
    from treaty.review.branch import Document
    from treaty.review.outlook import LineOutlook
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
    now: datetime | None = None
    """Shows what is coming as of another time."""


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
        rules = Rules(
            mode,
            settings.grading(),
            settings.lint_settings(),
            settings.limits,
            request.today,
            settings.default_policies(),
            needs_of(settings),
        )
        reference = None if request.is_offline else registry_to_ask(request.registry, settings)
        registry = RegistryReviewer(reference, request, settings) if reference else None
        with registry or nullcontext():
            return review(read_branch(self.git, self.base, files), rules, registry)


def check_out(request: CheckRequest, settings: Settings) -> Checkout:
    """Find the repository and the base of its branch."""
    git = find_repository(Path())
    base = find_base(git, request.base or settings.parts.check.base, request.fetching)
    return Checkout(git, base, request, settings)


Answer = TypeVar("Answer")
ENDED_STATUSES = frozenset({"retired", "archived"})
REGISTRY_ORIGIN = "registry"


class RegistryReviewer:
    """Asks one registry about changed and removed contracts; it is opened on first use. Errors become Unavailable."""

    def __init__(self, reference: str, request: CheckRequest, settings: Settings) -> None:
        self._connection = (reference, request.token_file, settings)
        self._mode = request.mode
        self._now = request.now
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

    def outlook(self, declared: DeclaredSubscription) -> LineOutlook | None:
        """Return what is known about the line that a consumer reads; None if there is no such line."""
        now = self._now
        return self._answer(lambda registry: line_outlook(registry if now is None else registry.at(now), declared))

    def _answer(self, ask: Callable[[AnyRegistry], Answer]) -> Answer:
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
            return RegistryAnswer(
                before=contract.version,
                registered=True,
                readers=readers_of(registry, contract),
                policies=policies_of(registry, content),
            )
        impact = registry.consumers.impact(content, compatibility=mode)
        if taken is not None and (steps := _step_findings(registry, document, mode)):
            affected = tuple(_affected(affected) for affected in impact.affected)
            return RegistryAnswer(contract.version, False, contract.version, steps, affected, impact.more)
        report = registry.check(content, compatibility=mode)
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
    if impact.before is None:
        findings[:0] = _objections_to_new_id(registry, document, mode)
    findings += find_direct_reads(registry, contract.line) if contract.line else []
    return RegistryAnswer(
        impact.before,
        False,
        impact.required_version,
        tuple(findings),
        tuple(_affected(affected) for affected in impact.affected),
        impact.more + impact.hidden,
        readers_of(registry, contract),
        policies_of(registry, content),
    )


def _objections_to_new_id(registry: AnyRegistry, document: Document, mode: str | None) -> list[Finding]:
    """Return why the id of a new contract would be refused: a look-alike, or the namespace of another team."""
    from treaty.registry.model.consumer_answers import ID_REFUSED, NAMESPACE_OF_OTHER_TEAM

    reasons = registry.consumers.can_i_publish(document.file.content, compatibility=mode).reasons
    place = document.loaded.place_of(("dataset_id" if document.contract.form is Form.SHORT else "id",))
    return [
        Finding(reason.kind, Severity.ERROR, reason.message, place=place)
        for reason in reasons
        if reason.kind in (ID_REFUSED, NAMESPACE_OF_OTHER_TEAM)
    ]


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


def _step_findings(registry: AnyRegistry, document: Document, mode: str | None) -> tuple[Finding, ...]:
    """Return what a document does that only changes the status or deprecation of its version; empty for any other."""
    from treaty.registry.model.consumer_answers import LIFECYCLE_STEP

    reasons = registry.consumers.can_i_publish(document.file.content, compatibility=mode).reasons
    if not any(reason.kind == LIFECYCLE_STEP for reason in reasons):
        return ()
    place = document.loaded.place_of(("deprecation" if document.contract.treaty.deprecation else "status",))
    return tuple(
        Finding(reason.kind, Severity.INFO, reason.message)
        if reason.kind == LIFECYCLE_STEP
        else Finding(reason.kind, _severity(reason.severity, admissible=False), reason.message, place=place)
        for reason in reasons
    )


def _taken(contract: Contract, required: str | None) -> Finding:
    message = f"version {contract.version} is registered with different content and cannot be changed"
    higher = required if required and required != contract.version else None
    hint = f"use {higher}" if higher else "give the change a new version"
    return Finding("version_taken", Severity.ERROR, message, hint=hint)


def _severity(severity: str, admissible: bool) -> Severity:
    return Severity.ERROR if severity == "error" and not admissible else Severity.WARNING


DIRECT_PATH_LENGTH = 2  # the changed line and its consumer


def _affected(affected: AffectedAnswer) -> Affected:
    return Affected(
        affected.name,
        affected.kind,
        affected.effect,
        tuple(affected.fields),
        tuple(Step(None, reason) for reason in affected.reasons) if affected.effect in ("hit", "warned") else (),
        affected.consumer_class,
        affected.contact,
        affected.critical,
        REGISTRY_ORIGIN,
        tuple(affected.path) if len(affected.path) > DIRECT_PATH_LENGTH else (),
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
    if looks_like_artifact(content):
        return FixResult(contract.path, None, "it is compiled; fix the contract, then: treaty plan --artifact FILE")
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
