"""Consumers say what they depend on."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection

from treaty.consumers.subscriptions import Subscription
from treaty.contracts.model import Contract, Field
from treaty.contracts.paths import FieldPath
from treaty.contracts.versions import Line
from treaty.errors import InvalidDocument, Refused
from treaty.governance.lifecycle import EXISTING_CONSUMERS, NEW_CONSUMERS, Welcome
from treaty.registry.absent import no_line, not_reading
from treaty.registry.access.actors import Actor
from treaty.registry.access.rules import Action, Resource, authorize
from treaty.registry.advancing import standing
from treaty.registry.answers import SubscriptionAnswer
from treaty.registry.store import dependence, kept
from treaty.registry.store.dependence import Subscribed
from treaty.registry.store.kept import Kept
from treaty.registry.store.transaction import Transaction


def subscribe(
    transaction: Transaction, actor: Actor, subscription: Subscription, team: str | None
) -> SubscriptionAnswer:
    """Keep a subscription; a deprecated line is warned of, one in sunset takes no new consumers."""
    line = subscription.line
    there = dependence.find_subscription(transaction.connection, subscription.consumer, line)
    is_new = there is None or not there.active
    teams = _teams_of(transaction.connection, subscription.consumer)
    team = team if team is not None else next(iter(sorted(teams)), None)
    for owner in teams or {team or subscription.consumer}:
        authorize(actor, Action.SUBSCRIBE, _resource(subscription.consumer, owner))
    if team is not None and team not in teams:
        authorize(actor, Action.SUBSCRIBE, _resource(subscription.consumer, team))
    members = kept.in_line(transaction.connection, line)
    if not members:
        raise no_line(line)
    warnings = _welcome(line, members, subscription, is_new)
    _check_fields(kept.contract_of(transaction.connection, members[0]), subscription)
    since = transaction.now if there is None or not there.active else there.since
    revision = transaction.record(
        actor.name,
        "subscription.put",
        f"{subscription.consumer} -> {line}",
        before=_state(there.subscription, there.team) if there and there.active else None,
        after=_state(subscription, team),
        details={
            "fields": [str(one) for one in subscription.fields],
            "class": subscription.consumer_class.value,
            "purpose": subscription.purpose,
            "team": team,
            "new": is_new,
        },
    )
    dependence.put_subscription(transaction, subscription, team, actor.name, revision, since)
    if is_new:
        transaction.notify(
            "subscription.started",
            line.contract,
            f"{subscription.consumer} reads {line}",
            details={"purpose": subscription.purpose, "class": subscription.consumer_class.value},
            parties=members[0].teams,
        )
    kept_now = Subscribed(subscription, team, since, actor.name, True, revision)
    return answer(kept_now, warnings)


def unsubscribe(transaction: Transaction, actor: Actor, consumer: str, line: Line) -> SubscriptionAnswer:
    """End a subscription."""
    there = dependence.find_subscription(transaction.connection, consumer, line)
    if there is None or not there.active:
        raise not_reading(consumer, str(line))
    authorize(actor, Action.SUBSCRIBE, _resource(consumer, there.team or consumer))
    revision = transaction.record(
        actor.name, "subscription.end", f"{consumer} -> {line}", before=_state(there.subscription, there.team)
    )
    dependence.end_subscription(transaction, there.subscription, actor.name, revision)
    owners = kept.in_line(transaction.connection, line)[0].teams
    transaction.notify("subscription.ended", line.contract, f"{consumer} no longer reads {line}", parties=owners)
    return answer(there, [])


def _state(one: Subscription, team: str | None) -> dict[str, Any]:
    """Return what a subscription says."""
    return {
        "class": one.consumer_class,
        "fields": [str(field) for field in one.fields],
        "purpose": one.purpose,
        "latency": one.latency,
        "contact": one.contact,
        "team": team,
    }


def answer(one: Subscribed, warnings: list[str]) -> SubscriptionAnswer:
    """Return a subscription in the words of the API."""
    subscription = one.subscription
    return SubscriptionAnswer(
        consumer=subscription.consumer,
        line=str(subscription.line),
        consumer_class=subscription.consumer_class.value,
        fields=[str(path) for path in subscription.fields],
        purpose=subscription.purpose,
        latency=subscription.latency,
        contact=subscription.contact,
        team=one.team,
        since=one.since,
        warnings=warnings,
    )


def warnings_for(connection: Connection, line: Line) -> list[str]:
    """Return what somebody who reads a line should know."""
    members = kept.in_line(connection, line)
    warned = bool(members) and EXISTING_CONSUMERS[standing(members)] is not Welcome.ALLOWED
    return [_standing(line, members)] if warned else []


def _resource(consumer: str, team: str) -> Resource:
    return Resource("subscription", consumer, frozenset({team}))


def _teams_of(connection: Connection, consumer: str) -> set[str]:
    """Return who speaks for a consumer: the teams of what it reads already, by default the one that has its name."""
    return {one.team or consumer for one in dependence.subscriptions_of(connection, consumer)}


def _welcome(line: Line, members: list[Kept], subscription: Subscription, is_new: bool) -> list[str]:
    status = standing(members)
    welcome = NEW_CONSUMERS[status]
    if is_new and welcome is Welcome.REFUSED:
        raise Refused(
            f"{_standing(line, members)}; it takes no new consumers: {subscription.consumer} must use another line"
        )
    return [] if welcome is Welcome.ALLOWED else [_standing(line, members)]


def _standing(line: Line, members: list[Kept]) -> str:
    latest = members[0]
    said = f"{line} is {standing(members)}"
    if latest.sunset_on:
        said += f"; sunset on {latest.sunset_on}, retirement from {latest.retire_on}"
    return said + (f"; see {latest.deprecation_uri}" if latest.deprecation_uri else "")


def _check_fields(contract: Contract, subscription: Subscription) -> None:
    """Refuse a field that the line does not have: the impact of a change could not be told for it."""
    for path in subscription.fields:
        if not _has(contract, path):
            raise InvalidDocument(f"{subscription.line} has no field {str(path)!r}; see its fields with: treaty show")


def _has(contract: Contract, path: FieldPath) -> bool:
    objects = [item for item in contract.schema if path.object in (None, item.name)]
    return any(_leads(item.fields, path) for item in objects)


def _leads(fields: tuple[Field, ...], path: FieldPath) -> bool:
    """Follow a path; what stands inside a field that does not say what it holds may be there."""
    here: list[Field] = [Field(properties=fields)]
    for step in path.steps:
        if any(one.properties is None and not one.children and _may_hold(one) for one in here):
            return True
        if step.is_mark:
            here = [child for one in here for mark, child in one.children if mark == step.text]
        else:
            here = [child for one in here for child in one.properties or () if child.name == step.text]
    return bool(here)


def _may_hold(field: Field) -> bool:
    return field.type is None or field.type.name in ("object", "array", "map", "json")
