"""Registration of several documents: their order and the outcome of each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from treaty.cli.inputs import Source, Submission, prepare_submission
from treaty.compatibility import Plan, plan_of
from treaty.contracts.loader import contract_from
from treaty.contracts.text import Limits
from treaty.contracts.versions import try_parse_line
from treaty.errors import Conflict, InvalidDocument, NotAllowed, NotFound, Refused, TreatyError

if TYPE_CHECKING:
    from treaty.registry.client import RegistryClient
    from treaty.registry.model import ImpactAnswer, Registration
    from treaty.registry.report import CompatibilityReport
    from treaty.registry.service import Registry

    AnyRegistry = Registry | RegistryClient


class DocumentStatus(StrEnum):
    """The outcome of a document."""

    REGISTERED = "registered"
    PROPOSED = "proposed"
    UNCHANGED = "unchanged"
    WOULD_REGISTER = "would register"
    WOULD_PROPOSE = "would propose"
    UNDECIDED = "undecided"
    REFUSED = "refused"
    CONFLICT = "conflict"
    INVALID = "invalid"
    NOT_ALLOWED = "not allowed"


REFUSED_STATUSES = frozenset({DocumentStatus.REFUSED, DocumentStatus.CONFLICT, DocumentStatus.INVALID})
"""Outcomes that the author of the document has to correct."""


@dataclass(frozen=True)
class Outcome:
    """The outcome of one document and its reasons."""

    source: str
    status: DocumentStatus
    contract: str | None = None
    version: str | None = None
    message: str | None = None
    report: CompatibilityReport | None = None
    impact: ImpactAnswer | None = None
    plan: Plan = Plan.MISSING
    proposal: int | None = None


def read_documents(sources: Sequence[Source], limits: Limits) -> tuple[list[Submission], list[Outcome]]:
    """Read documents; an invalid one gives an outcome, so that the others are still registered."""
    documents: list[Submission] = []
    unreadable: list[Outcome] = []
    for source in sources:
        try:
            documents.append(prepare_submission(source, limits))
        except InvalidDocument as error:
            unreadable.append(Outcome(source.name, DocumentStatus.INVALID, message=str(error)))
    return documents, unreadable


def order_by_dependency(documents: Sequence[Submission]) -> list[Submission]:
    """Sort policies before their children, upstream before downstream contracts, lower versions before higher."""
    dependencies: dict[str, set[str]] = {document.contract.id: set() for document in documents}
    for submission in documents:
        blocks = submission.contract.treaty
        names = {blocks.parent, *(upstream.contract for upstream in blocks.lineage)}
        dependencies[submission.contract.id] |= {contract_of_line(name) for name in names if name} & dependencies.keys()
    depths = dict.fromkeys(dependencies, 1)
    for _ in dependencies:  # bounded, so that a cycle ends too
        deeper = {
            name: 1 + max((depths[other] for other in needed), default=0) for name, needed in dependencies.items()
        }
        if deeper == depths:
            break
        depths = deeper

    def sort_key(one: Submission) -> tuple[int, str, tuple[int, ...], str]:
        version = one.contract.semantic_version
        parts = (version.major, version.minor, version.patch) if version else ()
        return depths[one.contract.id], one.contract.id, parts, one.contract.version

    return sorted(documents, key=sort_key)


def contract_of_line(name: str) -> str:
    """Return the contract of a line; any other name is itself a contract."""
    line = try_parse_line(name)
    return line.contract if line else name


def register_all(registry: AnyRegistry, documents: Sequence[Submission], mode: str | None) -> Iterator[Outcome]:
    """Register documents one after the other."""

    def register(one: Submission) -> Outcome:
        answer = registry.register(one.source.content, compatibility=mode)
        status = DocumentStatus(answer.status)
        return _outcome(one, status, _describe_waiting(answer), answer.compatibility, proposal=answer.proposal)

    for submission in documents:
        yield _attempt(registry, submission, mode, register)


def register_with_impact(registry: AnyRegistry, documents: Sequence[Submission], mode: str | None) -> Iterator[Outcome]:
    """Register documents one after the other, each with its impact, so that notified consumers can be named."""

    def register(one: Submission) -> Outcome:
        if (existing := _registered(registry, one)) is not None:
            return existing
        impact = _impact(registry, one, mode)
        answer = registry.register(one.source.content, compatibility=mode)
        status = DocumentStatus(answer.status)
        return _outcome(one, status, _describe_waiting(answer), answer.compatibility, impact, answer.proposal)

    for submission in documents:
        yield _attempt(registry, submission, mode, register)


def check_all(registry: AnyRegistry, documents: Sequence[Submission], mode: str | None) -> Iterator[Outcome]:
    """Return what the outcome of each document would be, without registering anything."""
    given_ids = {document.contract.id for document in documents}

    def check(one: Submission) -> Outcome:
        if (existing := _registered(registry, one)) is not None:
            return existing
        try:
            report = registry.check(one.source.content, compatibility=mode)
        except InvalidDocument:
            parent = one.contract.treaty.parent
            if parent not in given_ids:
                raise
            return _outcome(one, DocumentStatus.UNDECIDED, f"it can be judged when {parent} is registered")
        if report.admissible:
            waits = registry.consumers.can_i_publish(one.source.content, compatibility=mode).waits
            status = DocumentStatus.WOULD_PROPOSE if waits else DocumentStatus.WOULD_REGISTER
            return _outcome(one, status, "\n".join(waits) or None, report)
        return _refused(registry, one, mode, report, "")

    for submission in documents:
        yield _attempt(registry, submission, mode, check)


def _attempt(
    registry: AnyRegistry, submission: Submission, mode: str | None, act: Callable[[Submission], Outcome]
) -> Outcome:
    try:
        return act(submission)
    except Refused as error:
        return _refused(registry, submission, mode, getattr(error, "report", None), str(error))
    except Conflict as error:
        return _registered(registry, submission) or _outcome(submission, DocumentStatus.CONFLICT, str(error))
    except InvalidDocument as error:
        return _outcome(submission, DocumentStatus.INVALID, str(error))
    except NotAllowed as error:
        return _outcome(submission, DocumentStatus.NOT_ALLOWED, str(error))


def _describe_waiting(answer: Registration) -> str | None:
    """Describe whose acknowledgement a version waits for."""
    if not answer.waits_for:
        return None
    consumers = ", ".join(answer.waits_for)
    return f"it waits for the acknowledgement of {consumers}: treaty migrate status --contract {answer.dataset_id}"


def _registered(registry: AnyRegistry, submission: Submission) -> Outcome | None:
    """Return an outcome if the version is registered already: the same content is not a conflict."""
    try:
        registered = registry.get(submission.contract.id, submission.contract.version)
    except NotFound:
        return None
    if registered.digest == submission.prepared.digest:
        return _outcome(submission, DocumentStatus.UNCHANGED)
    return _outcome(
        submission,
        DocumentStatus.CONFLICT,
        f"version {submission.contract.version} is registered with different content and cannot be changed;"
        " give the change a new version",
    )


def _refused(
    registry: AnyRegistry, submission: Submission, mode: str | None, report: CompatibilityReport | None, message: str
) -> Outcome:
    impact = _impact(registry, submission, mode)
    refused = _outcome(submission, DocumentStatus.REFUSED, message or None, report=report, impact=impact)
    return replace(refused, plan=_plan(registry, submission, impact))


def _plan(registry: AnyRegistry, submission: Submission, impact: ImpactAnswer | None) -> Plan:
    """Return whether the migration plan of a document is missing, its own, or that of the previous line."""
    before = None
    if submission.contract.treaty.migration is not None and impact is not None and impact.before is not None:
        before = contract_from(registry.get(submission.contract.id, impact.before).document, "the registry")
    return plan_of(before, submission.contract)


def _impact(registry: AnyRegistry, submission: Submission, mode: str | None) -> ImpactAnswer | None:
    try:
        return registry.consumers.impact(submission.source.content, compatibility=mode)
    except TreatyError:  # the refusal is reported even if the impact may not be read
        return None


def _outcome(
    submission: Submission,
    status: DocumentStatus,
    message: str | None = None,
    report: CompatibilityReport | None = None,
    impact: ImpactAnswer | None = None,
    proposal: int | None = None,
) -> Outcome:
    contract = submission.contract
    return Outcome(
        submission.source.name,
        status,
        contract.id,
        contract.version,
        message,
        report,
        impact,
        proposal=proposal,
    )
