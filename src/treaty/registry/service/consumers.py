"""Consumers: subscriptions, the dependency graph, and the impact of a change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from treaty.consumers.subscriptions import ConsumerClass, Subscription, parse_fields
from treaty.contracts.model import Contract, Field
from treaty.contracts.paths import FieldPath
from treaty.contracts.versions import Line, parse_line
from treaty.errors import InvalidDocument, Refused
from treaty.governance.lifecycle import EXISTING_CONSUMERS, NEW_CONSUMERS, ConsumerAdmission
from treaty.registry.access.actors import Actor
from treaty.registry.access.permissions import Action, Resource, authorize
from treaty.registry.api import ConsumersApi
from treaty.registry.documents import Document, check_name
from treaty.registry.model import (
    DecisionAnswer,
    DomainsAnswer,
    GraphAnswer,
    ImpactAnswer,
    MapAnswer,
    Page,
    SubscriptionAnswer,
)
from treaty.registry.model.page import PAGE, after, check_limit, page_of
from treaty.registry.not_found import no_line, not_reading
from treaty.registry.service import decisions, dependencies
from treaty.registry.service import dependencies as depends
from treaty.registry.service import judgement as candidates
from treaty.registry.service.context import Context
from treaty.registry.service.lifecycle import status_of_line
from treaty.registry.store import Connection, subscriptions, versions
from treaty.registry.store.subscriptions import Subscribed
from treaty.registry.store.transaction import Transaction
from treaty.registry.store.versions import StoredVersion

_MAX_TEXT_LENGTH = 2_000
_MAX_FIELDS = 2_000


class Consumers(ConsumersApi):
    """The consumers of a registry."""

    def __init__(self, context: Context) -> None:
        self._context = context

    def subscribe(
        self,
        consumer: str,
        line: str,
        *,
        consumer_class: str,
        fields: Sequence[str] = (),
        purpose: str | None = None,
        latency: str | None = None,
        contact: str | None = None,
        team: str | None = None,
    ) -> SubscriptionAnswer:
        """Declare that a consumer depends on a line; without fields, every change may affect it."""
        for text, what in ((consumer, "consumer"), *([(team, "team")] if team is not None else [])):
            check_name(text, what)
        for value in (purpose, latency, contact):
            if value is not None and (len(value) > _MAX_TEXT_LENGTH or "\x00" in value):
                raise InvalidDocument(
                    f"purpose, latency and contact have {_MAX_TEXT_LENGTH:,} characters at most, no NUL"
                )
        if len(fields) > _MAX_FIELDS:
            raise InvalidDocument(f"more than {_MAX_FIELDS:,} fields; name the objects that contain them")
        subscription = Subscription(
            consumer, parse_line(line), _class(consumer_class), parse_fields(list(fields)), purpose, latency, contact
        )
        return self._context.write(lambda transaction: subscribe(transaction, self._context.actor, subscription, team))

    def unsubscribe(self, consumer: str, line: str) -> SubscriptionAnswer:
        """End a subscription."""
        parsed = parse_line(line)
        return self._context.write(lambda transaction: unsubscribe(transaction, self._context.actor, consumer, parsed))

    def subscriptions(
        self,
        *,
        contract: str | None = None,
        consumer: str | None = None,
        team: str | None = None,
        cursor: str | None = None,
        limit: int = PAGE,
    ) -> Page[SubscriptionAnswer]:
        """List subscriptions, optionally of one contract, consumer or team."""
        check_limit(limit)
        name, of, major = after(cursor, "", "", -1)
        start = (str(name), str(of), int(major)) if cursor else None

        def read(connection: Connection) -> list[SubscriptionAnswer]:
            listed = subscriptions.page_of_subscriptions(connection, contract, consumer, team, start, limit + 1)
            warned = {
                line: warnings_for(connection, line) for line in {subscriber.subscription.line for subscriber in listed}
            }
            return [answer(subscriber, warned[subscriber.subscription.line]) for subscriber in listed]

        rows = self._context.read(read)
        return page_of(rows, limit, _place)

    def names(self) -> list[str]:
        """Return the names of all consumers, sorted."""
        return self._context.read(subscriptions.consumer_names)

    def graph(self, node: str, *, direction: str = "downstream", depth: int | None = None) -> GraphAnswer:
        """Return what depends on a line or consumer, or what it depends on."""
        if direction not in ("upstream", "downstream"):
            raise InvalidDocument(f"unknown direction {direction[:40]!r}; use upstream or downstream")
        if depth is not None and depth < 1:
            raise InvalidDocument(f"depth must be 1 or more, not {depth}")
        reach = self._context.read(
            lambda connection: self._context.dependencies.reach(
                connection, depends.node_named(connection, node), direction, depth
            )
        )
        return depends.graph_answer(reach, direction)

    def map(
        self,
        node: str | None = None,
        *,
        hops: int | None = None,
        direction: str = "both",
        domain: str | None = None,
        limit: int = PAGE,
    ) -> MapAnswer:
        """Return the graph around a line, contract or consumer, of a domain, or all of it, up to `limit` nodes."""
        check_limit(limit)
        if direction not in dependencies.WAYS:
            raise InvalidDocument(f"unknown direction {direction[:40]!r}; use one of: {', '.join(dependencies.WAYS)}")
        if hops is not None and hops < 1:
            raise InvalidDocument(f"hops must be 1 or more, not {hops}")
        if node is not None and domain is not None:
            raise InvalidDocument("ask around a node or for a domain, not both")
        known = self._context.dependencies
        if node is None:
            return self._context.read(lambda connection: dependencies.map_of(connection, known, domain, limit))
        return self._context.read(
            lambda connection: dependencies.map_around(connection, known, node, hops, direction, limit)
        )

    def domains(self) -> DomainsAnswer:
        """Return the domains and the number of dependencies between them."""
        return self._context.read(lambda connection: dependencies.domains_of(connection, self._context.dependencies))

    def impact(self, document: Document, *, compatibility: str | None = None) -> ImpactAnswer:
        """Return which consumers and lines a new version affects, by field."""
        candidate = self._context.prepared(document)
        return self._context.read(
            lambda connection: depends.impact_of(
                connection,
                self._context.dependencies,
                candidates.judge(
                    connection, self._context.rules, candidate, self._context.mode(compatibility), self._context.today
                ),
            ),
            Action.CHECK,
        )

    def can_i_publish(self, document: Document, *, compatibility: str | None = None) -> DecisionAnswer:
        """Decide whether a new version may be published, with every reason."""
        candidate = self._context.prepared(document)
        mode = self._context.mode(compatibility)

        def decide(connection: Connection) -> DecisionAnswer:
            judgement = candidates.judge(connection, self._context.rules, candidate, mode, self._context.today)
            exposure = depends.exposure_of(connection, self._context.dependencies, judgement)
            return decisions.can_i_publish(connection, self._context.rules, judgement, exposure)

        return self._context.read(decide, Action.CHECK)

    def can_i_retire(self, line: str, *, version: str | None = None) -> DecisionAnswer:
        """Decide whether a line, or one version of it, may be retired, with every reason."""
        parsed = parse_line(line)
        return self._context.read(
            lambda connection: decisions.can_i_retire(connection, parsed, version, self._context.today), Action.CHECK
        )


def _place(subscription: SubscriptionAnswer) -> tuple[str, str, int]:
    line = parse_line(subscription.line)
    return subscription.consumer, line.contract, line.major


def _class(text: str) -> ConsumerClass:
    try:
        return ConsumerClass(text)
    except ValueError:
        choices = ", ".join(ConsumerClass)
        raise InvalidDocument(f"unknown consumer class {text[:40]!r}; use one of: {choices}") from None


def subscribe(
    transaction: Transaction, actor: Actor, subscription: Subscription, team: str | None
) -> SubscriptionAnswer:
    """Keep a subscription; a deprecated line is warned of, one in sunset takes no new consumers."""
    line = subscription.line
    there = subscriptions.find_subscription(transaction.connection, subscription.consumer, line)
    is_new = there is None or not there.active
    teams = _teams_of(transaction.connection, subscription.consumer)
    team = team if team is not None else next(iter(sorted(teams)), None)
    for owner in teams or {team or subscription.consumer}:
        authorize(actor, Action.SUBSCRIBE, _resource(subscription.consumer, owner))
    if team is not None and team not in teams:
        authorize(actor, Action.SUBSCRIBE, _resource(subscription.consumer, team))
    members = versions.versions_in_line(transaction.connection, line)
    if not members:
        raise no_line(line)
    warnings = _check_admission(line, members, subscription.consumer, is_new)
    _check_fields(versions.contract_of(transaction.connection, members[0]), subscription)
    since = transaction.now if there is None or not there.active else there.since
    revision = transaction.record(
        actor.name,
        "subscription.put",
        f"{subscription.consumer} -> {line}",
        before=_state(there.subscription, there.team) if there and there.active else None,
        after=_state(subscription, team),
        details={
            "fields": [str(path) for path in subscription.fields],
            "class": subscription.consumer_class.value,
            "purpose": subscription.purpose,
            "team": team,
            "new": is_new,
        },
    )
    subscriptions.put_subscription(transaction, subscription, team, actor.name, revision, since)
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
    there = subscriptions.find_subscription(transaction.connection, consumer, line)
    if there is None or not there.active:
        raise not_reading(consumer, str(line))
    authorize(actor, Action.SUBSCRIBE, _resource(consumer, there.team or consumer))
    revision = transaction.record(
        actor.name, "subscription.end", f"{consumer} -> {line}", before=_state(there.subscription, there.team)
    )
    subscriptions.end_subscription(transaction, there.subscription, actor.name, revision)
    owners = versions.versions_in_line(transaction.connection, line)[0].teams
    transaction.notify("subscription.ended", line.contract, f"{consumer} no longer reads {line}", parties=owners)
    return answer(there, [])


def _state(subscription: Subscription, team: str | None) -> dict[str, Any]:
    """Return the values of a subscription that the audit log digests."""
    return {
        "class": subscription.consumer_class,
        "fields": [str(field) for field in subscription.fields],
        "purpose": subscription.purpose,
        "latency": subscription.latency,
        "contact": subscription.contact,
        "team": team,
    }


def answer(subscribed: Subscribed, warnings: list[str]) -> SubscriptionAnswer:
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
        warnings=warnings,
    )


def warnings_for(connection: Connection, line: Line) -> list[str]:
    """Return the warnings for consumers of a line."""
    members = versions.versions_in_line(connection, line)
    warned = bool(members) and EXISTING_CONSUMERS[status_of_line(members)] is not ConsumerAdmission.ALLOWED
    return [_line_status_text(line, members)] if warned else []


def _resource(consumer: str, team: str) -> Resource:
    return Resource("subscription", consumer, frozenset({team}))


def _teams_of(connection: Connection, consumer: str) -> set[str]:
    """Return the teams of a consumer: those of its subscriptions, by default the team that has its name."""
    return {subscriber.team or consumer for subscriber in subscriptions.subscriptions_of(connection, consumer)}


def _check_admission(line: Line, members: list[StoredVersion], consumer: str, is_new: bool) -> list[str]:
    """Refuse a new consumer if the line takes none; return the warnings otherwise."""
    admission = NEW_CONSUMERS[status_of_line(members)]
    text = _line_status_text(line, members)
    if is_new and admission is ConsumerAdmission.REFUSED:
        raise Refused(f"{text}; it takes no new consumers: {consumer} must use another line")
    return [] if admission is ConsumerAdmission.ALLOWED else [text]


def _line_status_text(line: Line, members: list[StoredVersion]) -> str:
    latest = members[0]
    text = f"{line} is {status_of_line(members)}"
    if latest.sunset_on:
        text += f"; sunset on {latest.sunset_on}, retirement from {latest.retire_on}"
    return text + (f"; see {latest.deprecation_uri}" if latest.deprecation_uri else "")


def _check_fields(contract: Contract, subscription: Subscription) -> None:
    """Refuse a field that the line does not have, because no impact could be computed for it."""
    for path in subscription.fields:
        if not _has(contract, path):
            raise InvalidDocument(f"{subscription.line} has no field {str(path)!r}; see its fields with: treaty show")


def _has(contract: Contract, path: FieldPath) -> bool:
    objects = [table for table in contract.schema if path.object in (None, table.name)]
    return any(_leads(table.fields, path) for table in objects)


def _leads(fields: tuple[Field, ...], path: FieldPath) -> bool:
    """Tell whether a path exists; inside a field without declared properties every path is possible."""
    here: list[Field] = [Field(properties=fields)]
    for step in path.steps:
        if any(field.properties is None and not field.children and _may_hold(field) for field in here):
            return True
        if step.is_mark:
            here = [child for field in here for mark, child in field.children if mark == step.text]
        else:
            here = [child for field in here for child in field.properties or () if child.name == step.text]
    return bool(here)


def _may_hold(field: Field) -> bool:
    return field.type is None or field.type.name in ("object", "array", "map", "json")
