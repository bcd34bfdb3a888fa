"""Subscriptions: a consumer starts or stops to depend on a line, with what it is warned of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from treaty.consumers.dependencies import DataLayer
from treaty.consumers.subscriptions import ConsumerClass, Subscription, parse_fields
from treaty.consumers.suitability import check_layer, check_suitability
from treaty.contracts.findings import Finding, Severity
from treaty.contracts.model import Contract, has_field
from treaty.contracts.versions import Line, parse_line
from treaty.errors import InvalidDocument, NotAllowed, Refused
from treaty.governance.effective import EffectiveContract
from treaty.governance.lifecycle import EXISTING_CONSUMERS, NEW_CONSUMERS, ConsumerAdmission, describe_ending
from treaty.governance.waivers import apply_consumer_waivers
from treaty.registry.access.actors import Actor
from treaty.registry.access.permissions import Action, authorize
from treaty.registry.documents import check_name
from treaty.registry.model import SubscriptionAnswer
from treaty.registry.not_found import no_line, not_reading
from treaty.registry.rules import DirectReads, RegistryRules, Unsuitable
from treaty.registry.service.confirmations import check_declaration, consumer_resource, is_public, shown_consumer
from treaty.registry.service.direct_reads import notify_of_read
from treaty.registry.service.lifecycle import head_of
from treaty.registry.service.lifecycle_notices import ending_of
from treaty.registry.service.line_lineage import publications_of
from treaty.registry.service.policies import effective_of
from treaty.registry.service.retired_feeds import check_retired_feeds
from treaty.registry.store import Connection, governance_records, lineage, subscriptions, versions
from treaty.registry.store.subscriptions import Subscribed
from treaty.registry.store.transaction import Transaction
from treaty.registry.store.versions import StoredVersion
from treaty.registry.store.visibility import Sight

_MAX_TEXT_LENGTH = 2_000
_MAX_FIELDS = 2_000


def parse_subscription(
    consumer: str,
    line: str,
    consumer_class: str,
    fields: Sequence[str],
    *,
    purpose: str | None,
    latency: str | None,
    contact: str | None,
) -> Subscription:
    """Return a subscription as a consumer declares it; raise InvalidDocument if a value is not valid."""
    check_name(consumer, "consumer")
    for text in (purpose, latency, contact):
        if text is not None and (len(text) > _MAX_TEXT_LENGTH or "\x00" in text):
            raise InvalidDocument(f"purpose, latency and contact have {_MAX_TEXT_LENGTH:,} characters at most, no NUL")
    if len(fields) > _MAX_FIELDS:
        raise InvalidDocument(f"more than {_MAX_FIELDS:,} fields; name the objects that contain them")
    paths = parse_fields(list(fields))
    return Subscription(consumer, parse_line(line), _parse_class(consumer_class), paths, purpose, latency, contact)


def _parse_class(text: str) -> ConsumerClass:
    try:
        return ConsumerClass(text)
    except ValueError:
        choices = ", ".join(ConsumerClass)
        raise InvalidDocument(f"unknown consumer class {text[:40]!r}; use one of: {choices}") from None


def subscribe(
    transaction: Transaction,
    actor: Actor,
    rules: RegistryRules,
    sight: Sight,
    subscription: Subscription,
    team: str | None,
) -> SubscriptionAnswer:
    """Store a subscription; a deprecated line gives a warning, one in sunset takes no new consumers."""
    line, connection = subscription.line, transaction.connection
    is_visible = sight.sees(line.contract)
    previous = _find_active(connection, subscription.consumer, line) if is_visible else None
    named, team = team, _default_team(connection, subscription.consumer, previous) if team is None else team
    is_confirmed = check_declaration(transaction, actor, subscription.consumer, team, named, previous)
    members = versions.versions_in_line(connection, line) if is_visible else []
    if not members:
        raise no_line(line)
    if not is_confirmed and not is_public(transaction, line.contract):
        raise NotAllowed(
            f"{line.contract} is private: only team {team} itself or a steward can subscribe {subscription.consumer}"
        )
    confirm_by = previous.subscription.confirm_by if previous and not is_confirmed else None
    subscription = replace(subscription, is_confirmed=is_confirmed, confirm_by=confirm_by)
    warnings = _check_admission(line, members, subscription.consumer, is_new=previous is None)
    effective = effective_of(connection, rules, members[0], transaction.now.date())
    _check_fields(effective.contract, subscription)
    layer = lineage.layer_of(connection, line)
    warnings += _check_suitable(transaction, effective, subscription, layer, rules)
    subscribed = _store(transaction, actor, subscription, team, previous)
    if previous is None:
        check_retired_feeds(transaction, rules)
        notify_of_read(transaction, rules, subscription.consumer, line, subscription.consumer_class, team)
        _notify_of_start(transaction, subscription, members[0].teams)
        if not is_confirmed:
            _request_confirmation(transaction, actor, subscription, team)
    return subscription_answer(subscribed, [*warnings, *_confirmation_warnings(subscription, team)])


def _find_active(connection: Connection, consumer: str, line: Line) -> Subscribed | None:
    subscribed = subscriptions.find_subscription(connection, consumer, line)
    return subscribed if subscribed is not None and subscribed.active else None


def _store(
    transaction: Transaction, actor: Actor, subscription: Subscription, team: str | None, previous: Subscribed | None
) -> Subscribed:
    """Store a subscription with its audit entry, in place of the previous one."""
    revision = transaction.record(
        actor.name,
        "subscription.put",
        f"{subscription.consumer} -> {subscription.line}",
        before=_audited_state(previous.subscription, previous.team) if previous else None,
        after=_audited_state(subscription, team),
        details={
            "fields": [str(path) for path in subscription.fields],
            "class": subscription.consumer_class.value,
            "purpose": subscription.purpose,
            "team": team,
            "new": previous is None,
            **({} if subscription.is_confirmed else {"unconfirmed": True}),
        },
    )
    since = previous.since if previous else transaction.now
    subscriptions.put_subscription(transaction, subscription, team, actor.name, revision, since)
    return Subscribed(subscription, team, since, actor.name, True, revision)


def _notify_of_start(transaction: Transaction, subscription: Subscription, owners: frozenset[str]) -> None:
    """Notify the owners of a line of a new consumer."""
    transaction.notify(
        "subscription.started",
        subscription.line.contract,
        f"{shown_consumer(transaction, subscription.consumer)} reads {subscription.line}",
        details={
            "purpose": subscription.purpose if is_public(transaction, subscription.consumer) else None,
            "class": subscription.consumer_class.value,
        },
        parties=owners,
    )


def _default_team(connection: Connection, consumer: str, previous: Subscribed | None) -> str | None:
    """Return the team of a consumer that is subscribed without one: that of the subscription, else of its name."""
    if previous is not None:
        return previous.team
    owner = subscriptions.confirmed_team(connection, consumer)
    return None if owner == consumer else owner


def _request_confirmation(transaction: Transaction, actor: Actor, subscription: Subscription, team: str | None) -> None:
    """Notify the team of a consumer that another team declared."""
    transaction.notify(
        "subscription.declared",
        subscription.line.contract,
        f"{actor.name} declared that {shown_consumer(transaction, subscription.consumer)} reads {subscription.line}; "
        "confirm it: treaty consumer confirm",
        parties={subscription.consumer} | ({team} if team else set()),
    )


def _confirmation_warnings(subscription: Subscription, team: str | None) -> list[str]:
    if subscription.is_confirmed:
        return []
    return [
        f"{subscription.consumer} is unconfirmed; ask team {team or subscription.consumer} to confirm it: "
        f"treaty consumer confirm {subscription.consumer} {subscription.line}"
    ]


def unsubscribe(transaction: Transaction, actor: Actor, sight: Sight, consumer: str, line: Line) -> SubscriptionAnswer:
    """End a subscription."""
    subscribed = _find_active(transaction.connection, consumer, line)
    if subscribed is None or not sight.sees(line.contract):
        raise not_reading(consumer, str(line))
    authorize(actor, Action.SUBSCRIBE, consumer_resource(consumer, subscribed.team or consumer))
    revision = transaction.record(
        actor.name,
        "subscription.end",
        f"{consumer} -> {line}",
        before=_audited_state(subscribed.subscription, subscribed.team),
    )
    subscriptions.end_subscription(transaction, subscribed.subscription, actor.name, revision)
    owners = versions.versions_in_line(transaction.connection, line)[0].teams
    shown = shown_consumer(transaction, consumer)
    transaction.notify("subscription.ended", line.contract, f"{shown} no longer reads {line}", parties=owners)
    return subscription_answer(subscribed, [])


def _audited_state(subscription: Subscription, team: str | None) -> dict[str, Any]:
    """Return the values of a subscription that the audit log digests."""
    return {
        "class": subscription.consumer_class,
        "fields": [str(field) for field in subscription.fields],
        "purpose": subscription.purpose,
        "latency": subscription.latency,
        "contact": subscription.contact,
        "team": team,
        **({} if subscription.is_confirmed else {"unconfirmed": True, "confirm_by": subscription.confirm_by}),
    }


def subscription_answer(subscribed: Subscribed, warnings: list[str]) -> SubscriptionAnswer:
    """Return the API model of a subscription."""
    subscription = subscribed.subscription
    return SubscriptionAnswer(
        consumer=subscription.consumer,
        line=str(subscription.line),
        consumer_class=subscription.consumer_class.value,
        fields=[str(path) for path in subscription.fields],
        purpose=subscription.purpose,
        latency=subscription.latency,
        contact=subscription.contact,
        team=subscribed.team,
        since=subscribed.since,
        confirmed=subscription.is_confirmed,
        confirm_by=subscription.confirm_by,
        warnings=warnings,
    )


def warnings_for(connection: Connection, line: Line) -> list[str]:
    """Return the warnings for consumers of a line."""
    members = versions.versions_in_line(connection, line)
    if not members:
        return []
    ending = ending_of(head_of(members))
    warned = ending.is_announced or EXISTING_CONSUMERS[ending.status] is not ConsumerAdmission.ALLOWED
    return [describe_ending(str(line), ending)] if warned else []


def _check_admission(line: Line, members: list[StoredVersion], consumer: str, is_new: bool) -> list[str]:
    """Refuse a new consumer if the line takes none; return the warnings otherwise."""
    ending = ending_of(head_of(members))
    admission = NEW_CONSUMERS[ending.status]
    if is_new and admission is ConsumerAdmission.REFUSED:
        use = ending.replacement or "another line"
        raise Refused(f"{line} is {ending.status} and takes no new consumers; {consumer} must use {use}")
    is_warned = ending.is_announced or admission is not ConsumerAdmission.ALLOWED
    return [describe_ending(str(line), ending)] if is_warned else []


def _check_suitable(
    transaction: Transaction,
    effective: EffectiveContract,
    subscription: Subscription,
    layer: DataLayer | None,
    rules: RegistryRules,
) -> list[str]:
    """Return what the consumer needs and the contract does not offer; refuse it if the registry or a policy says so.

    What a waiver covers is a warning that names it.
    """
    connection, today = transaction.connection, transaction.now.date()
    needs = check_suitability(effective.contract, subscription, effective.policies, today=today, layer=layer)
    needs, waived = apply_consumer_waivers(
        needs,
        subscription.line.contract,
        subscription.consumer,
        governance_records.waivers_in_force(connection, today) if needs else (),
        today,
    )
    direct: tuple[Finding, ...] = ()
    if rules.direct_reads is not DirectReads.ALLOW:
        is_internal = layer is not None and layer.is_internal
        served_by = next(iter(publications_of(connection, subscription.line)), None) if is_internal else None
        direct = check_layer(layer, subscription, served_by)
    refused = (
        *(one for one in needs if rules.unsuitable is Unsuitable.REFUSE or one.severity is Severity.ERROR),
        *(direct if rules.direct_reads is DirectReads.REFUSE else ()),
    )
    if refused:
        raise Refused("; ".join(f"{finding.message}; {finding.hint}" for finding in refused), refused)
    excused = [f"{one.finding.message}; waived by {one.waiver.owner} until {one.waiver.until}" for one in waived]
    named = [f"{one.message}; {one.hint}" if one.hint and one in direct else one.message for one in (*needs, *direct)]
    return [*named, *excused]


def _check_fields(contract: Contract, subscription: Subscription) -> None:
    """Refuse a field that the line does not have, because no impact could be computed for it."""
    for path in subscription.fields:
        if not has_field(contract, path):
            raise InvalidDocument(f"{subscription.line} has no field {str(path)!r}; see its fields with: treaty show")
