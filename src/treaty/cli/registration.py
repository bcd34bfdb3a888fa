"""Registration of several documents and subscriptions: their order and the outcome of each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from treaty.cli.inputs import Source, Submission, prepare_submission
from treaty.cli.subscription_outlook import line_outlook
from treaty.compatibility import Mode, Plan, plan_of
from treaty.consumers.subscription_files import DeclaredSubscription, read_subscriptions
from treaty.contracts.findings import Severity
from treaty.contracts.loader import contract_from
from treaty.contracts.text import Limits
from treaty.contracts.versions import try_parse_line
from treaty.errors import Conflict, InvalidDocument, NotAllowed, NotFound, Refused, TreatyError
from treaty.review.branch import Needs
from treaty.review.subscriptions import check_declaration

if TYPE_CHECKING:
    from treaty.registry.client import RegistryClient
    from treaty.registry.model import ImpactAnswer, Registration, SubscriptionAnswer
    from treaty.registry.report import CompatibilityReport
    from treaty.registry.service import Registry

    AnyRegistry = Registry | RegistryClient


class DocumentStatus(StrEnum):
    """The outcome of a document."""

    REGISTERED = "registered"
    SUBSCRIBED = "subscribed"
    PROPOSED = "proposed"
    UPDATED = "updated"
    UNCHANGED = "unchanged"
    WOULD_REGISTER = "would register"
    WOULD_SUBSCRIBE = "would subscribe"
    WOULD_PROPOSE = "would propose"
    WOULD_UPDATE = "would update"
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
    unconfirmed: tuple[str, ...] = ()
    consumer: str | None = None
    line: str | None = None

    @property
    def title(self) -> str:
        """The version, the consumer and the line it reads, or the file."""
        if self.consumer is not None:
            return f"{self.consumer} → {self.line}"
        return f"{self.contract} {self.version}" if self.contract else self.source


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


def read_subscription_files(
    sources: Sequence[Source], limits: Limits
) -> tuple[list[DeclaredSubscription], list[Outcome]]:
    """Read the subscriptions of files; an invalid file gives an outcome, so that the others are still registered."""
    declared: list[DeclaredSubscription] = []
    unreadable: list[Outcome] = []
    for source in sources:
        try:
            declared += read_subscriptions(source.content, source.name, limits)
        except InvalidDocument as error:
            unreadable.append(Outcome(source.name, DocumentStatus.INVALID, message=str(error)))
    return declared, unreadable


def subscribe_all(registry: AnyRegistry, declared: Sequence[DeclaredSubscription]) -> Iterator[Outcome]:
    """Subscribe the declared consumers one after the other; a subscription that is there already is not changed."""
    for declaration in declared:
        subscription = declaration.subscription
        if _is_subscribed(registry, declaration):
            yield _subscription_outcome(declaration, DocumentStatus.UNCHANGED)
            continue
        try:
            answer = registry.consumers.subscribe(
                subscription.consumer,
                str(subscription.line),
                consumer_class=subscription.consumer_class.value,
                fields=[str(field) for field in subscription.fields],
                purpose=subscription.purpose,
                latency=subscription.latency,
                contact=subscription.contact,
                team=declaration.team,
            )
        except (InvalidDocument, NotFound) as error:
            yield _subscription_outcome(declaration, DocumentStatus.INVALID, str(error))
        except (Refused, Conflict) as error:
            yield _subscription_outcome(declaration, DocumentStatus.REFUSED, str(error))
        except NotAllowed as error:
            yield _subscription_outcome(declaration, DocumentStatus.NOT_ALLOWED, str(error))
        else:
            yield _subscription_outcome(declaration, DocumentStatus.SUBSCRIBED, "\n".join(answer.warnings) or None)


def check_subscriptions(
    registry: AnyRegistry, declared: Sequence[DeclaredSubscription], needs: Needs, documents: Sequence[Submission]
) -> Iterator[Outcome]:
    """Return which subscriptions would change, without changing anything; a line may be among the documents."""
    lines = {document.contract.line for document in documents}
    for declaration in declared:
        if _is_subscribed(registry, declaration):
            yield _subscription_outcome(declaration, DocumentStatus.UNCHANGED)
            continue
        outlook = line_outlook(registry, declaration)
        if outlook is None and str(declaration.subscription.line) in lines:
            yield _subscription_outcome(declaration, DocumentStatus.WOULD_SUBSCRIBE)
            continue
        findings = list(check_declaration(declaration, outlook, needs, registry.now().date()))
        is_refused = any(finding.severity is Severity.ERROR for finding in findings)
        status = DocumentStatus.REFUSED if is_refused else DocumentStatus.WOULD_SUBSCRIBE
        yield _subscription_outcome(declaration, status, "\n".join(finding.message for finding in findings) or None)


def _is_subscribed(registry: AnyRegistry, declaration: DeclaredSubscription) -> bool:
    """Return whether the registry has the same subscription."""
    subscription, cursor = declaration.subscription, None
    while True:
        page = registry.consumers.subscriptions(
            contract=subscription.line.contract, consumer=subscription.consumer, cursor=cursor
        )
        if any(_is_same(answer, declaration) for answer in page.items):
            return True
        if (cursor := page.next) is None:
            return False


def _is_same(answer: SubscriptionAnswer, declaration: DeclaredSubscription) -> bool:
    declared = declaration.subscription
    return (
        answer.line == str(declared.line)
        and answer.consumer_class == declared.consumer_class.value
        and answer.fields == [str(field) for field in declared.fields]
        and (answer.purpose, answer.latency, answer.contact) == (declared.purpose, declared.latency, declared.contact)
        and declaration.team in (None, answer.team)
    )


def _subscription_outcome(
    declaration: DeclaredSubscription, status: DocumentStatus, message: str | None = None
) -> Outcome:
    subscription = declaration.subscription
    source = str(declaration.place)
    return Outcome(source, status, message=message, consumer=subscription.consumer, line=str(subscription.line))


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
        status = DocumentStatus.UNCHANGED if answer.unchanged else DocumentStatus(answer.status)
        message = answer.lifecycle or _describe_waiting(answer)
        outcome = _outcome(one, status, message, answer.compatibility, proposal=answer.proposal)
        return replace(outcome, unconfirmed=tuple(answer.unconfirmed))

    for submission in documents:
        yield _attempt(registry, submission, mode, register)


def register_with_impact(registry: AnyRegistry, documents: Sequence[Submission], mode: str | None) -> Iterator[Outcome]:
    """Register documents one after the other, each with its impact, so that notified consumers can be named."""

    def register(one: Submission) -> Outcome:
        existing = _registered(registry, one)
        if existing is not None and existing.status is not DocumentStatus.WOULD_UPDATE:
            return existing
        impact = None if existing else _impact(registry, one, mode)
        answer = registry.register(one.source.content, compatibility=mode)
        status = DocumentStatus.UNCHANGED if answer.unchanged else DocumentStatus(answer.status)
        message = answer.lifecycle or _describe_waiting(answer)
        outcome = _outcome(one, status, message, answer.compatibility, impact, answer.proposal)
        return replace(outcome, unconfirmed=tuple(answer.unconfirmed))

    for submission in documents:
        yield _attempt(registry, submission, mode, register)


def check_all(registry: AnyRegistry, documents: Sequence[Submission], mode: str | None) -> Iterator[Outcome]:
    """Return what the outcome of each document would be, without registering anything."""
    given_ids = {document.contract.id for document in documents}

    def check(one: Submission) -> Outcome:
        if (existing := _registered(registry, one)) is not None:
            return _dry_step(registry, one, mode, existing)
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
            impact = _impact(registry, one, mode) if report.mode == Mode.NONE.value else None
            return _outcome(one, status, "\n".join(waits) or None, report, impact)
        return _refused(registry, one, mode, report, "")

    for submission in documents:
        yield _attempt(registry, submission, mode, check)


def _dry_step(registry: AnyRegistry, one: Submission, mode: str | None, existing: Outcome) -> Outcome:
    """Return the outcome for a registered version; a step of its life cycle may be refused, as its dates may be."""
    if existing.status is not DocumentStatus.WOULD_UPDATE:
        return existing
    reasons = registry.consumers.can_i_publish(one.source.content, compatibility=mode).reasons
    blocking = [reason.message for reason in reasons if reason.severity == "error"]
    return _refused(registry, one, mode, None, "; ".join(blocking)) if blocking else existing


def _attempt(
    registry: AnyRegistry, submission: Submission, mode: str | None, act: Callable[[Submission], Outcome]
) -> Outcome:
    try:
        return act(submission)
    except Refused as error:
        return _refused(registry, submission, mode, getattr(error, "report", None), str(error))
    except Conflict as error:
        existing = _registered(registry, submission)
        if existing is not None and existing.status is not DocumentStatus.WOULD_UPDATE:
            return existing
        return _outcome(submission, DocumentStatus.CONFLICT, str(error))
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
    from treaty.registry.documents import prepare, same_but_for_lifecycle

    content, media = registry.given(submission.contract.id, submission.contract.version)
    if same_but_for_lifecycle(prepare(content, media).data, submission.prepared.data):
        return _outcome(submission, DocumentStatus.WOULD_UPDATE, "only its status or deprecation differs")
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
