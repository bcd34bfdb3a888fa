"""Reviews the subscriptions that a repository declares: what is coming for each consumer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import date

from treaty.compatibility import diff, judge
from treaty.consumers.impact import BreakingChanges, Effect
from treaty.consumers.subscription_files import DeclaredSubscription, looks_like_subscriptions
from treaty.consumers.suitability import check_layer, check_suitability
from treaty.contracts.findings import Finding, Severity
from treaty.contracts.model import Contract, has_field
from treaty.contracts.versions import try_parse_version
from treaty.governance.lifecycle import (
    EXISTING_CONSUMERS,
    NEW_CONSUMERS,
    ConsumerAdmission,
    describe_ending,
)
from treaty.governance.waivers import Waiver, apply_consumer_waivers
from treaty.review.affected_consumers import ConsumerSteps
from treaty.review.branch import Branch, Contents, Needs, Rules, read_file
from treaty.review.context import ReviewContext
from treaty.review.outlook import LineOutlook, PlannedChange, PlanState, SubscriptionReview

_KEY = "subscriptions"
MAX_CHANGES_SHOWN = 5


def review_subscriptions(
    branch: Branch, touched: Iterable[Contents], context: ReviewContext
) -> tuple[SubscriptionReview, ...]:
    """Return what is coming for each consumer that the repository declares; nothing without a registry."""
    if not context.registry.answers:
        return ()
    files = [file for file in branch.mentioning([_KEY]) if looks_like_subscriptions(file.content)]
    unchanged = [read_file(file, context.rules.limits) for file in files]
    declared = [subscription for contents in (*touched, *unchanged) for subscription in contents.declared]
    chosen = [subscription for subscription in declared if branch.selects(subscription.place.source)]
    reviews = []
    for subscription in sorted(chosen, key=lambda one: (one.place.source, one.place.line or 0)):
        outlook = context.registry.outlook_for(subscription)
        if context.registry.failure is not None:
            return ()
        if outlook is None and _is_in_repository(branch, subscription, context):
            continue  # the branch may be about to register it
        findings = tuple(sorted(_findings(subscription, outlook, context.rules), key=lambda one: one.sort_key))
        reviews.append(SubscriptionReview(subscription.place.source, subscription, outlook, findings))
    return tuple(reviews)


def _is_in_repository(branch: Branch, declared: DeclaredSubscription, context: ReviewContext) -> bool:
    """Tell whether a file of the repository has a contract of the line."""
    line = declared.subscription.line
    if any(document.contract.line == str(line) for document in context.documents):
        return True
    unchanged = (read_file(file, context.rules.limits) for file in branch.mentioning([line.contract]))
    return any(document.contract.line == str(line) for contents in unchanged for document in contents.documents)


def check_declaration(
    declared: DeclaredSubscription,
    outlook: LineOutlook | None,
    severities: Needs,
    today: date,
    waivers: Iterable[Waiver] = (),
) -> Iterator[Finding]:
    """Yield what the registry would warn of or refuse if the consumer subscribed, at the place of its declaration.

    Waivers of the project count beside those of the registry.
    """
    if outlook is None:
        message = f"the registry has no line {declared.subscription.line}"
        hint = "check its name and MAJOR, and that you may read it: treaty search"
        yield Finding("consumer_line_unknown", Severity.ERROR, message, place=declared.place, hint=hint)
        return
    checks = (
        _check_ending(declared, outlook),
        _check_fields(declared, outlook.contract),
        _check_needs(declared, outlook, severities, today, (*waivers, *outlook.waivers)),
    )
    for check in checks:
        yield from (replace(finding, place=declared.place) for finding in check)


def _findings(declared: DeclaredSubscription, outlook: LineOutlook | None, rules: Rules) -> Iterator[Finding]:
    """Yield everything that the consumer should know, at the place of its declaration."""
    yield from check_declaration(declared, outlook, rules.needs, rules.today, rules.lint.waivers)
    if outlook is None:
        return
    checks = (
        _check_planned(declared, outlook),
        _check_newer_lines(declared, outlook, rules),
        _check_newer_version(declared, outlook, rules),
        _check_hidden_dependencies(declared, outlook, rules),
    )
    for check in checks:
        yield from (replace(finding, place=declared.place) for finding in check)


def _check_ending(declared: DeclaredSubscription, outlook: LineOutlook) -> Iterator[Finding]:
    """Report that the line ends, or that it takes no new consumers."""
    ending = outlook.ending
    admission = (EXISTING_CONSUMERS if outlook.is_subscribed else NEW_CONSUMERS)[ending.status]
    if admission is ConsumerAdmission.ALLOWED and not ending.is_announced:
        return
    message = describe_ending(str(declared.subscription.line), ending)
    severity = Severity.ERROR if admission is ConsumerAdmission.REFUSED else Severity.WARNING
    hint = None if outlook.is_subscribed or severity is Severity.WARNING else "it takes no new consumers"
    yield Finding("consumer_line_ending", severity, message, hint=hint)


def _check_fields(declared: DeclaredSubscription, contract: Contract) -> Iterator[Finding]:
    """Report declared fields that the line does not have."""
    for path in declared.subscription.fields:
        if not has_field(contract, path):
            message = f"{contract.line} has no field {str(path)!r}"
            hint = f"see its fields: treaty show {contract.id} {contract.version}"
            yield Finding("consumer_field_unknown", Severity.ERROR, message, str(path), hint=hint)


def _check_needs(
    declared: DeclaredSubscription,
    outlook: LineOutlook,
    severities: Needs,
    today: date,
    waivers: Iterable[Waiver],
) -> Iterator[Finding]:
    """Report what the consumer needs and the contract does not offer; the settings decide the severity."""
    subscription = declared.subscription
    needs = check_suitability(outlook.contract, subscription, outlook.policies, today=today, layer=outlook.layer)
    remaining, _ = apply_consumer_waivers(needs, subscription.line.contract, subscription.consumer, waivers, today)
    for finding in remaining:
        is_error = finding.severity is Severity.ERROR
        yield finding if is_error else replace(finding, severity=severities.unsuitable)
    if severities.direct_reads is not None:
        for finding in check_layer(outlook.layer, subscription, outlook.served_by):
            yield replace(finding, severity=severities.direct_reads)


def _check_planned(declared: DeclaredSubscription, outlook: LineOutlook) -> Iterator[Finding]:
    """Report breaking versions that are proposed, and migrations that are open."""
    for change in outlook.planned:
        check = _describe_proposed if change.state is PlanState.PROPOSED else _describe_open
        yield from check(declared, outlook.contract, change)


_PROPOSED_EFFECTS = {
    Effect.HIT.value: "breaks {consumer}",
    Effect.UNKNOWN.value: "may break {consumer}, which has not declared its fields",
    None: "breaks consumers of {line}; register {consumer} to see whether it is one of them",
}


def _describe_proposed(declared: DeclaredSubscription, contract: Contract, change: PlannedChange) -> Iterator[Finding]:
    consumer, line = declared.subscription.consumer, declared.subscription.line
    effect = _PROPOSED_EFFECTS.get(change.effect)
    if effect is None:
        message = f"{contract.id} {change.version} is proposed; it breaks nothing that {consumer} reads"
        yield Finding("consumer_change_proposed", Severity.INFO, message)
        return
    hint = None
    if change.migration is not None and change.progress == "waiting":
        hint = f"agree to it: treaty migrate acknowledge {change.migration} {consumer}"
    message = f"{contract.id} {change.version} is proposed and {effect.format(consumer=consumer, line=line)}"
    yield Finding("consumer_change_proposed", Severity.WARNING, message, hint=hint)


def _describe_open(declared: DeclaredSubscription, _: Contract, change: PlannedChange) -> Iterator[Finding]:
    consumer, line = declared.subscription.consumer, declared.subscription.line
    ends = f" until {change.ends_on}" if change.ends_on else ""
    message = f"migration {change.migration} from {line} to {change.line} is open{ends}"
    if change.progress == "moved":
        hint = f"{consumer} has moved in the registry: change the line to {change.line} here"
        yield Finding("consumer_migration_open", Severity.WARNING, message, hint=hint)
    elif change.progress == "waived":
        yield Finding("consumer_migration_open", Severity.INFO, f"{message}; {consumer} is waived")
    else:
        hint = f"once {consumer} reads {change.line}: treaty migrate move {change.migration} {consumer}"
        yield Finding("consumer_migration_open", Severity.WARNING, message, hint=hint)


def _check_newer_lines(declared: DeclaredSubscription, outlook: LineOutlook, rules: Rules) -> Iterator[Finding]:
    """Report the highest line with a higher MAJOR, and what the consumer has to do to read it."""
    for newer in outlook.newer_lines[:1]:
        verdict = judge(diff(outlook.contract, newer), rules.mode, rules.grading)
        fields = declared.subscription.fields
        effect, hits = BreakingChanges(verdict).effect_on(fields)
        message = f"{newer.line} ({newer.version}) is available"
        if effect is Effect.SAFE:
            message += f"; it breaks nothing that {declared.subscription.consumer} reads"
        steps = ConsumerSteps(verdict).steps(hits, fields)
        listed = [f"{step.field}: {step.action}" if step.field else step.action for step in steps]
        yield Finding("consumer_newer_line", Severity.INFO, message, hint=_few(listed) or None)


def _check_newer_version(declared: DeclaredSubscription, outlook: LineOutlook, rules: Rules) -> Iterator[Finding]:
    """Report what changed in the line since the version that the consumer was built for."""
    built_for, current = declared.version, outlook.contract
    if built_for is None:
        return
    if outlook.built_for is None:
        message = f"{current.id} {built_for} is not registered"
        yield Finding("consumer_newer_version", Severity.WARNING, message, hint="correct the version in this file")
        return
    ours, theirs = try_parse_version(built_for), current.semantic_version
    if ours is None or theirs is None or theirs <= ours:
        return
    verdict = judge(diff(outlook.built_for, current), rules.mode, rules.grading)
    changes = [judged.message for judged in verdict.judged if judged.grade.bump]
    message = f"{current.id} {current.version} is newer than {built_for}, which {declared.subscription.consumer} reads"
    yield Finding("consumer_newer_version", Severity.INFO, message, hint=_few(changes) or None)


def _check_hidden_dependencies(declared: DeclaredSubscription, outlook: LineOutlook, rules: Rules) -> Iterator[Finding]:
    """Report what the consumer was found to read that the contract does not promise, except for what is waived."""
    contract, consumer = declared.subscription.line.contract, declared.subscription.consumer
    remaining, _ = apply_consumer_waivers(outlook.hidden, contract, consumer, rules.lint.waivers, rules.today)
    yield from remaining


def _few(texts: list[str]) -> str:
    more = len(texts) - MAX_CHANGES_SHOWN
    return "; ".join(texts[:MAX_CHANGES_SHOWN]) + (f"; and {more} more" if more > 0 else "")
