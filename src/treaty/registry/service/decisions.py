"""One verdict over versions, consumers, policies and dates: may this be published, may that be retired?"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import Literal

from treaty.consumers.migration_guides import line_of
from treaty.consumers.subscriptions import Subscription
from treaty.consumers.suitability import check_layer, check_suitability
from treaty.contracts.model import Contract
from treaty.contracts.versions import Line
from treaty.errors import Refused
from treaty.governance.effective import effective_contract
from treaty.governance.lifecycle import Status
from treaty.registry.model import AffectedAnswer, DecisionAnswer, ReasonAnswer
from treaty.registry.model.consumer_answers import LIFECYCLE_STEP, WAITS_FOR_APPROVAL, WAITS_FOR_CONSUMERS
from treaty.registry.not_found import no_line
from treaty.registry.rules import DirectReads, RegistryRules
from treaty.registry.service.dependencies import SeenExposure, affected_answers, impact_answer, with_usage
from treaty.registry.service.document_steps import check_status, is_step
from treaty.registry.service.judgement import Judgement
from treaty.registry.service.lifecycle import SERVING, status_of_line
from treaty.registry.service.line_lineage import publications_of
from treaty.registry.service.migration_start import Waiting, readers, waits
from treaty.registry.service.namespaces import objections_to_new_id
from treaty.registry.service.observed_usage import as_subscription, usage_of
from treaty.registry.service.policies import policies_above
from treaty.registry.service.retirement import Days, obstacles_to_retiring, stranded, stranded_readers, waived
from treaty.registry.store import Connection, lineage, migration_records, subscriptions, versions
from treaty.registry.store.visibility import Sight, hidden_text, visible_consumers

CHALLENGED_TEXT = "challenged, unconfirmed"
_ASK = "ask their teams to confirm them (treaty consumer confirm), or challenge them (treaty consumer challenge)"


def can_i_publish(
    connection: Connection,
    sight: Sight,
    rules: RegistryRules,
    judgement: Judgement,
    exposure: SeenExposure,
    today: date,
) -> DecisionAnswer:
    """Decide whether a candidate may be published: admissible, no consumer affected, nothing to wait for."""
    contract = judgement.candidate.contract
    impact = impact_answer(judgement, exposure)
    affected = with_usage(connection, impact.affected, rules.usage_window)
    required = judgement.verdict.required_version
    if _is_step(connection, judgement):
        reasons, required = [*_against_step(judgement)], contract.version
    else:
        reasons = [*_against_publishing(connection, sight, judgement, affected_answers(exposure.seen), today)]
    reasons += _unsuitable_readers(connection, sight, rules, contract, today)
    if exposure.hits:
        text = f"{hidden_text(exposure.hits)} {'is' if exposure.hits == 1 else 'are'} hit, or may be"
        reasons.append(ReasonAnswer(kind="hidden_hit", message=text, severity=_hit_severity(judgement)))
    if judgement.admissible:
        reasons += _waiting(waits(rules, judgement, readers(connection, judgement)), sight)
    return DecisionAnswer(
        question=f"can {contract.id} {contract.version} be published?",
        answer=not any(reason.severity == "error" for reason in reasons),
        reasons=reasons,
        affected=affected,
        hidden=impact.hidden,
        required_version=required,
    )


def can_i_retire(connection: Connection, sight: Sight, line: Line, version: str | None, days: Days) -> DecisionAnswer:
    """Decide whether a line, or one version of it, may be retired on a day."""
    members = versions.versions_in_line(connection, line) if sight.sees(line.contract) else []
    leaving = [member for member in members if member.version == version] if version else members
    if not leaving:
        raise no_line(line, version)
    name = f"{line.contract} {version}" if version else str(line)
    staying = [version for version in leaving if version.status in SERVING or version.status is Status.DRAFT]
    if staying:
        obstacles = obstacles_to_retiring(connection, sight, staying, days)
        reasons = [ReasonAnswer(kind="not_retirable", message=obstacle) for obstacle in obstacles]
        reasons += _migration_reasons(connection, sight, line, days.asked)
        reasons += _confirmation_reasons(stranded(connection, staying), sight, days.asked)
        reasons += _usage_reasons(connection, stranded(connection, staying), sight, days)
    else:
        reasons = [
            ReasonAnswer(kind="gone", message=f"{name} is {status_of_line(leaving)} already", severity="warning")
        ]
    left = stranded(connection, staying) if staying else []
    seen = stranded_readers(connection, staying, days.window) if staying else []
    since = days.asked - days.window
    left += [as_subscription(reads, since) for reads in seen]
    return DecisionAnswer(
        question=f"can {name} be retired?",
        answer=not any(reason.severity == "error" for reason in reasons),
        reasons=reasons,
        affected=with_usage(
            connection,
            [_left_behind(subscriber, line) for subscriber in left if sight.sees(subscriber.consumer)],
            days.window,
        ),
        hidden=sum(not sight.sees(subscriber.consumer) for subscriber in left),
    )


def _left_behind(subscription: Subscription, line: Line) -> AffectedAnswer:
    """Return a consumer that would have no version left."""
    return AffectedAnswer(
        name=subscription.consumer,
        kind="consumer",
        effect="hit",
        consumer_class=None if subscription.is_observed else subscription.consumer_class.value,
        contact=subscription.contact,
        critical=subscription.consumer_class.is_critical,
        confirmed=subscription.is_confirmed,
        confirm_by=subscription.confirm_by,
        path=[str(line), subscription.consumer],
    )


def _usage_reasons(
    connection: Connection, left: list[Subscription], sight: Sight, days: Days
) -> Iterator[ReasonAnswer]:
    """Return warnings about subscribers whose observed usage differs from what they subscribed to."""
    usages = usage_of(connection, [(one.consumer, one.line) for one in left], days.window)
    for (consumer, line), usage in usages.items():
        if not sight.sees(consumer):
            continue
        if usage.state == "silent":
            since = f"since {usage.last_read}" if usage.last_read else "at all"
            text = f"{consumer} subscribed to {line}, but was not seen reading it {since}; ask whether it still does"
            yield ReasonAnswer(kind="consumer_silent", message=text, severity="warning")
        if usage.unread_fields:
            fields, period = ", ".join(usage.unread_fields), f"{days.window.days} days"
            text = f"{consumer} declares fields of {line} that it was not seen reading in {period}: {fields}"
            yield ReasonAnswer(kind="consumer_fields_unread", message=text, severity="warning")
        if usage.undeclared_fields:
            fields = ", ".join(usage.undeclared_fields)
            text = f"{consumer} was seen reading fields of {line} that it does not declare: {fields}"
            yield ReasonAnswer(kind="consumer_fields_undeclared", message=text, severity="warning")


def _migration_reasons(connection: Connection, sight: Sight, line: Line, today: date) -> Iterator[ReasonAnswer]:
    """Return warnings about migrations from a line and the consumers they are waived for."""
    for migration in migration_records.live_from(connection, line):
        ends = f"; its window ends on {migration.ends_on}" if migration.ends_on else ""
        text = f"migration {migration.id} to {migration.to_line} is {migration.state}{ends}"
        yield ReasonAnswer(kind="migration", message=text, severity="warning")
    for name, row in waived(connection, line, today).items():
        if not sight.sees(name):
            continue
        text = f"{name} still reads {line}, and is waived until {row.until}: {row.reason}"
        yield ReasonAnswer(kind="consumer_waived", message=text, severity="warning")


def _confirmation_reasons(left: list[Subscription], sight: Sight, today: date) -> Iterator[ReasonAnswer]:
    """Return warnings about unconfirmed consumers: those that no longer count, and those that can be challenged."""
    for subscription in left:
        if subscription.is_confirmed or not sight.sees(subscription.consumer):
            continue
        name, line = subscription.consumer, subscription.line
        if not subscription.counts(today):
            text = f"{name} is said to read {line}, and does not count: {CHALLENGED_TEXT}"
        elif subscription.confirm_by is not None:
            text = f"{name} is {CHALLENGED_TEXT}; it counts until {subscription.confirm_by}"
        else:
            text = f"{name} is unconfirmed; ask its team to confirm it, or challenge it: treaty consumer challenge"
        yield ReasonAnswer(kind="consumer_unconfirmed", message=text, severity="warning")


def _against_publishing(
    connection: Connection, sight: Sight, judgement: Judgement, affected: list[AffectedAnswer], today: date
) -> Iterator[ReasonAnswer]:
    contract, before = judgement.candidate.contract, judgement.before
    if before is None:
        yield from objections_to_new_id(connection, sight, contract)
    if before is not None and versions.is_registered(connection, contract.id, contract.version):
        required = judgement.verdict.required_version
        text = f"version {contract.version} is registered already"
        text += f"; the next is {required}" if required != before.version else f", and nothing differs from {required}"
        yield ReasonAnswer(kind="version_taken", message=text)
    excused = {change.change.kind for change in judgement.verdict.judged} if judgement.admissible else set()
    for issue in judgement.report.issues:
        stands = issue.severity == "error" and issue.kind not in excused
        yield ReasonAnswer(kind=issue.kind, message=issue.message, severity="error" if stands else "warning")
    yield from _hits(judgement, affected, today)


def _is_step(connection: Connection, judgement: Judgement) -> bool:
    """Return whether a document is the registered version with another status or deprecation."""
    before, candidate = judgement.before, judgement.candidate
    return before is not None and before.digest != candidate.digest and is_step(connection, before, candidate)


def _against_step(judgement: Judgement) -> Iterator[ReasonAnswer]:
    """Return what a document that only changes the status or deprecation of its version does, and what blocks it."""
    before = judgement.before
    assert before is not None  # noqa: S101 - a step is one of a registered version
    text = f"registering {before.version} again changes its status or deprecation, and nothing else"
    yield ReasonAnswer(kind=LIFECYCLE_STEP, message=text, severity="warning")
    try:
        check_status(before, judgement.candidate.status)
    except Refused as refusal:
        yield ReasonAnswer(kind="status_invalid", message=str(refusal))
    if judgement.too_soon:
        yield ReasonAnswer(kind="sunset_too_soon", message=judgement.too_soon)


def _unsuitable_readers(
    connection: Connection, sight: Sight, rules: RegistryRules, contract: Contract, today: date
) -> Iterator[ReasonAnswer]:
    """Return warnings about consumers of the line that the version would not suit, or that should not read it."""
    line = line_of(contract)
    if line is None:
        return
    layer = lineage.layer_of(connection, line) if rules.direct_reads is not DirectReads.ALLOW else None
    subscribers = subscriptions.subscribers(connection, line)
    policies = policies_above(connection, sight, contract, rules.default_policies, today) if subscribers else ()
    promised = effective_contract(contract, policies).contract
    served_by = next(iter(publications_of(connection, line)), None) if layer is not None and subscribers else None
    for subscriber in subscribers:
        subscription = subscriber.subscription
        if sight.sees(subscription.consumer):
            needs = check_suitability(promised, subscription, policies, today=today, layer=layer)
            for finding in (*needs, *check_layer(layer, subscription, served_by)):
                yield ReasonAnswer(kind=finding.id, message=finding.message, severity="warning")


def _waiting(waiting: Waiting, sight: Sight) -> Iterator[ReasonAnswer]:
    """Return what an admissible version still waits for."""
    then = "register it: it is proposed, and registered once"
    if waiting.consumers:
        names = ", ".join(visible_consumers(waiting.consumers, sight))
        text = f"it waits for acknowledgement by {names}; {then} they acknowledge it: treaty migrate acknowledge"
        yield ReasonAnswer(kind=WAITS_FOR_CONSUMERS, message=text)
    if waiting.unconfirmed:
        names = ", ".join(visible_consumers(waiting.unconfirmed, sight))
        text = f"it does not wait for {names}: critical, but unconfirmed; {_ASK}"
        yield ReasonAnswer(kind="consumer_unconfirmed", message=text, severity="warning")
    if waiting.approval:
        text = f"it breaks consumers and waits for approval; {then} someone else approves it: treaty proposal approve"
        yield ReasonAnswer(kind=WAITS_FOR_APPROVAL, message=text)


def _hits(judgement: Judgement, affected: list[AffectedAnswer], today: date) -> Iterator[ReasonAnswer]:
    """Return the affected consumers: an error on the same line, a warning where a new line is opened.

    A consumer that was challenged and not confirmed in time is a warning too.
    """
    for consumer in affected:
        if consumer.effect in ("hit", "unknown"):
            reads = f" ({', '.join(consumer.fields)})" if consumer.fields and consumer.effect == "hit" else ""
            text = "is hit" if consumer.effect == "hit" else "may be hit: it never said which fields it reads"
            lapsed = consumer.confirm_by is not None and consumer.confirm_by < today
            yield ReasonAnswer(
                kind=f"{consumer.kind}_{consumer.effect}",
                message=f"{consumer.name} {text}{reads}" + (f" ({CHALLENGED_TEXT})" if lapsed else ""),
                severity="warning" if lapsed else _hit_severity(judgement),
            )


def _hit_severity(judgement: Judgement) -> Literal["error", "warning"]:
    return "warning" if judgement.verdict.opens_line else "error"
