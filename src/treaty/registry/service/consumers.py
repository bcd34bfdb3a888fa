"""Consumers: subscriptions, the dependency graph, and the impact of a change."""

from __future__ import annotations

from collections.abc import Sequence

from treaty.consumers.dependencies import MadeFrom, parse_layer
from treaty.contracts.versions import parse_line
from treaty.errors import InvalidDocument
from treaty.registry.access.permissions import Action
from treaty.registry.api import ConsumersApi
from treaty.registry.documents import Document, check_name
from treaty.registry.model import (
    DecisionAnswer,
    DomainsAnswer,
    GraphAnswer,
    ImpactAnswer,
    LayoutAnswer,
    LineageAnswer,
    Page,
    SubscriptionAnswer,
)
from treaty.registry.model.page import PAGE, after, check_limit, page_of
from treaty.registry.service import decisions, dependencies, graph_layouts, line_lineage
from treaty.registry.service import judgement as candidates
from treaty.registry.service.confirmations import challenge, confirm
from treaty.registry.service.context import Context
from treaty.registry.service.retirement import Days
from treaty.registry.service.subscriptions import (
    parse_subscription,
    subscribe,
    subscription_answer,
    unsubscribe,
    warnings_for,
)
from treaty.registry.store import Connection, subscriptions
from treaty.registry.store.transaction import Transaction
from treaty.registry.store.visibility import Visibility


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
        subscription = parse_subscription(
            consumer, line, consumer_class, fields, purpose=purpose, latency=latency, contact=contact
        )
        if team is not None:
            check_name(team, "team")
        context = self._context
        return context.write(
            lambda transaction: subscribe(
                transaction, context.actor, context.rules, context.sight(transaction), subscription, team
            )
        )

    def unsubscribe(self, consumer: str, line: str) -> SubscriptionAnswer:
        """End a subscription."""
        parsed = parse_line(line)
        context = self._context
        return context.write(
            lambda transaction: unsubscribe(transaction, context.actor, context.sight(transaction), consumer, parsed)
        )

    def confirm(self, consumer: str, line: str) -> SubscriptionAnswer:
        """Confirm a subscription that another team declared; only the consumer's own team and stewards may."""
        parsed = parse_line(line)
        context = self._context

        def unit(transaction: Transaction) -> SubscriptionAnswer:
            confirmed = confirm(transaction, context.actor, context.sight(transaction), consumer, parsed)
            return subscription_answer(confirmed, warnings_for(transaction.connection, parsed))

        return context.write(unit)

    def challenge(self, consumer: str, line: str) -> SubscriptionAnswer:
        """Ask the team of an unconfirmed consumer to confirm it in time; otherwise it no longer counts."""
        parsed = parse_line(line)
        context = self._context

        def unit(transaction: Transaction) -> SubscriptionAnswer:
            sight = context.sight(transaction)
            challenged = challenge(transaction, context.actor, sight, context.rules, consumer, parsed)
            return subscription_answer(challenged, warnings_for(transaction.connection, parsed))

        return context.write(unit)

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

        def read(connection: Connection, visibility: Visibility) -> list[SubscriptionAnswer]:
            listed = subscriptions.page_of_subscriptions(
                connection, visibility, contract, consumer, team, start, limit + 1
            )
            warned = {
                line: warnings_for(connection, line) for line in {subscriber.subscription.line for subscriber in listed}
            }
            return [subscription_answer(subscriber, warned[subscriber.subscription.line]) for subscriber in listed]

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
        known = self._context.dependencies

        def read(connection: Connection, visibility: Visibility) -> GraphAnswer:
            origin = dependencies.node_named(connection, visibility, node)
            reach = known.reach(connection, visibility, origin, direction, depth)
            return dependencies.graph_answer(connection, reach, direction, known.window)

        return self._context.read(read)

    def layout(
        self,
        node: str | None = None,
        *,
        hops: int | None = None,
        direction: str = "both",
        domain: str | None = None,
        limit: int = PAGE,
    ) -> LayoutAnswer:
        """Return the graph around a line, contract or consumer, of a domain, or all of it, up to `limit` nodes."""
        check_limit(limit)
        if direction not in graph_layouts.DIRECTIONS:
            raise InvalidDocument(
                f"unknown direction {direction[:40]!r}; use one of: {', '.join(graph_layouts.DIRECTIONS)}"
            )
        if hops is not None and hops < 1:
            raise InvalidDocument(f"hops must be 1 or more, not {hops}")
        if node is not None and domain is not None:
            raise InvalidDocument("ask around a node or for a domain, not both")
        known, now = self._context.dependencies, self._context.now

        def draw(connection: Connection, visibility: Visibility) -> LayoutAnswer:
            if node is None:
                answer = graph_layouts.layout_of(connection, visibility, known, domain, limit)
            else:
                answer = graph_layouts.layout_around(connection, visibility, known, node, hops, direction, limit)
            return graph_layouts.with_health(connection, visibility, now, answer)

        return self._context.read(draw)

    def domains(self) -> DomainsAnswer:
        """Return the domains and the number of dependencies between them."""
        known = self._context.dependencies
        return self._context.read(
            lambda connection, visibility: graph_layouts.domains_of(connection, visibility, known)
        )

    def lineage(self, line: str) -> LineageAnswer:
        """Return what a line is derived from, by field where that is known."""
        parsed = parse_line(line)
        return self._context.read(
            lambda connection, visibility: line_lineage.lineage_of(connection, visibility, parsed)
        )

    def record_lineage(
        self, line: str, upstreams: Sequence[MadeFrom] | None, *, layer: str | None = None
    ) -> LineageAnswer:
        """Store the lineage that a run observed; it replaces that of earlier runs and completes what is declared.

        `layer` is the layer in which the run publishes the line; None for either leaves what was recorded before.
        """
        context, parsed, named = self._context, parse_line(line), parse_layer(layer)
        return context.write(
            lambda transaction: line_lineage.record_lineage(
                transaction, context.actor, context.sight(transaction), parsed, upstreams, named
            )
        )

    def impact(self, document: Document, *, compatibility: str | None = None) -> ImpactAnswer:
        """Return which consumers and lines a new version affects, by field."""
        context, candidate = self._context, self._context.prepared(document)
        mode = context.mode(compatibility)

        def read(connection: Connection, visibility: Visibility) -> ImpactAnswer:
            judgement = candidates.judge(connection, visibility, context.rules, candidate, mode, context.today)
            return dependencies.impact_of(connection, visibility, context.dependencies, judgement)

        return context.read(read, Action.CHECK)

    def can_i_publish(self, document: Document, *, compatibility: str | None = None) -> DecisionAnswer:
        """Decide whether a new version may be published, with every reason."""
        context, candidate = self._context, self._context.prepared(document)
        mode = context.mode(compatibility)

        def decide(connection: Connection, visibility: Visibility) -> DecisionAnswer:
            judgement = candidates.judge(connection, visibility, context.rules, candidate, mode, context.today)
            exposure = dependencies.exposure_of(connection, visibility, context.dependencies, judgement)
            return decisions.can_i_publish(connection, visibility, context.rules, judgement, exposure, context.today)

        return context.read(decide, Action.CHECK)

    def can_i_retire(self, line: str, *, version: str | None = None) -> DecisionAnswer:
        """Decide whether a line, or one version of it, may be retired, with every reason."""
        parsed = parse_line(line)
        context = self._context
        days = Days(context.today, context.actual_today, context.rules.periods, context.rules.usage_window)
        return context.read(
            lambda connection, visibility: decisions.can_i_retire(connection, visibility, parsed, version, days),
            Action.CHECK,
        )


def _place(subscription: SubscriptionAnswer) -> tuple[str, str, int]:
    line = parse_line(subscription.line)
    return subscription.consumer, line.contract, line.major
