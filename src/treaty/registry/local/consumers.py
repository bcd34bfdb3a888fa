"""Consumers: who subscribes, who depends on whom, and what a change would mean for them."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection

from treaty.consumers.subscriptions import ConsumerClass, Subscription, parse_fields
from treaty.contracts.versions import parse_line
from treaty.errors import InvalidDocument
from treaty.registry import candidates, deciding, mapping, subscribing
from treaty.registry import depending as depends
from treaty.registry.access.rules import Action
from treaty.registry.answers import (
    DecisionAnswer,
    DomainsAnswer,
    GraphAnswer,
    ImpactAnswer,
    MapAnswer,
    Page,
    SubscriptionAnswer,
)
from treaty.registry.local.desk import Desk, Document
from treaty.registry.names import check_name
from treaty.registry.pages import PAGE, after, check_limit, page_of
from treaty.registry.store import dependence

_LONGEST_TEXT = 2_000
_MOST_FIELDS = 2_000


class Consumers:
    """The consumers of a registry."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

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
        """Declare that a consumer depends on a line; without fields, no change is taken to be safe for it."""
        for text, what in ((consumer, "consumer"), *([(team, "team")] if team is not None else [])):
            check_name(text, what)
        for said in (purpose, latency, contact):
            if said is not None and (len(said) > _LONGEST_TEXT or "\x00" in said):
                raise InvalidDocument(f"purpose, latency and contact have {_LONGEST_TEXT:,} characters at most, no NUL")
        if len(fields) > _MOST_FIELDS:
            raise InvalidDocument(f"more than {_MOST_FIELDS:,} fields; name the objects they stand in")
        asked = Subscription(
            consumer, parse_line(line), _class(consumer_class), parse_fields(list(fields)), purpose, latency, contact
        )
        return self._desk.write(lambda it: subscribing.subscribe(it, self._desk.actor, asked, team))

    def unsubscribe(self, consumer: str, line: str) -> SubscriptionAnswer:
        """End a subscription."""
        parsed = parse_line(line)
        return self._desk.write(lambda it: subscribing.unsubscribe(it, self._desk.actor, consumer, parsed))

    def subscriptions(
        self,
        *,
        contract: str | None = None,
        consumer: str | None = None,
        team: str | None = None,
        cursor: str | None = None,
        limit: int = PAGE,
    ) -> Page[SubscriptionAnswer]:
        """List subscriptions, of one contract, one consumer or one team, or of all."""
        check_limit(limit)
        name, of, major = after(cursor, "", "", -1)
        start = (str(name), str(of), int(major)) if cursor else None

        def read(it: Connection) -> list[SubscriptionAnswer]:
            listed = dependence.page_of_subscriptions(it, contract, consumer, team, start, limit + 1)
            warned = {line: subscribing.warnings_for(it, line) for line in {one.subscription.line for one in listed}}
            return [subscribing.answer(one, warned[one.subscription.line]) for one in listed]

        found = self._desk.read(read)
        return page_of(found, limit, _place)

    def graph(self, node: str, *, direction: str = "downstream", depth: int | None = None) -> GraphAnswer:
        """Say who rests on a line or consumer, or what it rests on."""
        if direction not in ("upstream", "downstream"):
            raise InvalidDocument(f"unknown direction {direction[:40]!r}; use upstream or downstream")
        if depth is not None and depth < 1:
            raise InvalidDocument(f"depth must be 1 or more, not {depth}")
        reach = self._desk.read(
            lambda it: self._desk.dependencies.reach(it, depends.node_named(it, node), direction, depth)
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
        """Return the graph around a line, contract or consumer, or of a domain, or all of it; never too much of it."""
        check_limit(limit)
        if direction not in mapping.WAYS:
            raise InvalidDocument(f"unknown direction {direction[:40]!r}; use one of: {', '.join(mapping.WAYS)}")
        if hops is not None and hops < 1:
            raise InvalidDocument(f"hops must be 1 or more, not {hops}")
        if node is not None and domain is not None:
            raise InvalidDocument("ask around a node or for a domain, not both")
        known = self._desk.dependencies
        if node is None:
            return self._desk.read(lambda it: mapping.map_of(it, known, domain, limit))
        return self._desk.read(lambda it: mapping.map_around(it, known, node, hops, direction, limit))

    def domains(self) -> DomainsAnswer:
        """Return the graph from far away: the domains, and what goes from one to another."""
        return self._desk.read(lambda it: mapping.domains_of(it, self._desk.dependencies))

    def impact(self, document: Document, *, compatibility: str | None = None) -> ImpactAnswer:
        """Say whom a new version would hit, by field."""
        candidate = self._desk.prepared(document)
        return self._desk.read(
            lambda it: depends.impact_of(
                it,
                self._desk.dependencies,
                candidates.judge(it, self._desk.rules, candidate, self._desk.mode(compatibility), self._desk.today),
            ),
            Action.CHECK,
        )

    def can_i_publish(self, document: Document, *, compatibility: str | None = None) -> DecisionAnswer:
        """Say yes or no to publishing a new version, with every reason."""
        candidate = self._desk.prepared(document)
        mode = self._desk.mode(compatibility)

        def decide(it: Connection) -> DecisionAnswer:
            judgement = candidates.judge(it, self._desk.rules, candidate, mode, self._desk.today)
            found = depends.exposure_of(it, self._desk.dependencies, judgement)
            return deciding.can_i_publish(it, self._desk.rules, judgement, found)

        return self._desk.read(decide, Action.CHECK)

    def can_i_retire(self, line: str, *, version: str | None = None) -> DecisionAnswer:
        """Say yes or no to retiring a line or one version of it, with every reason."""
        parsed = parse_line(line)
        return self._desk.read(lambda it: deciding.can_i_retire(it, parsed, version, self._desk.today), Action.CHECK)


def _place(one: SubscriptionAnswer) -> tuple[str, str, int]:
    line = parse_line(one.line)
    return one.consumer, line.contract, line.major


def _class(text: str) -> ConsumerClass:
    try:
        return ConsumerClass(text)
    except ValueError:
        choices = ", ".join(ConsumerClass)
        raise InvalidDocument(f"unknown consumer class {text[:40]!r}; use one of: {choices}") from None
