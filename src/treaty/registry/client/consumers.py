"""Consumers, over HTTP: who subscribes, who depends on whom, and what a change would mean for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from treaty.registry.answers import (
    DecisionAnswer,
    DomainsAnswer,
    GraphAnswer,
    ImpactAnswer,
    MapAnswer,
    Page,
    SubscriptionAnswer,
)
from treaty.registry.client.addresses import API
from treaty.registry.client.documents import parcel
from treaty.registry.client.wire import Wire
from treaty.registry.pages import PAGE, check_limit

if TYPE_CHECKING:
    from treaty.registry.local.desk import Document

_SUBSCRIPTIONS = f"{API}/subscriptions"


class Consumers:
    """The consumers of a registry."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

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
        values = {
            "consumer": consumer,
            "line": line,
            "consumer_class": consumer_class,
            "fields": list(fields),
            "purpose": purpose,
            "latency": latency,
            "contact": contact,
            "team": team,
        }
        return self._wire.change("PUT", _SUBSCRIPTIONS, SubscriptionAnswer, values)

    def unsubscribe(self, consumer: str, line: str) -> SubscriptionAnswer:
        """End a subscription."""
        named = {"consumer": consumer, "line": line}
        return self._wire.change("DELETE", _SUBSCRIPTIONS, SubscriptionAnswer, parameters=named)

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
        asked = {"contract": contract, "consumer": consumer, "team": team, "cursor": cursor, "limit": limit}
        return self._wire.get(_SUBSCRIPTIONS, Page[SubscriptionAnswer], asked)

    def graph(self, node: str, *, direction: str = "downstream", depth: int | None = None) -> GraphAnswer:
        """Say who rests on a line or consumer, or what it rests on."""
        return self._wire.get(f"{API}/graph", GraphAnswer, {"node": node, "direction": direction, "depth": depth})

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
        asked = {"node": node, "hops": hops, "direction": direction, "domain": domain, "limit": limit}
        return self._wire.get(f"{API}/map", MapAnswer, asked)

    def domains(self) -> DomainsAnswer:
        """Return the graph from far away: the domains, and what goes from one to another."""
        return self._wire.get(f"{API}/domains", DomainsAnswer)

    def impact(self, document: Document, *, compatibility: str | None = None) -> ImpactAnswer:
        """Say whom a new version would hit, by field."""
        return self._wire.ask(f"{API}/impact", ImpactAnswer, parcel(document, compatibility))

    def can_i_publish(self, document: Document, *, compatibility: str | None = None) -> DecisionAnswer:
        """Say yes or no to publishing a new version, with every reason."""
        return self._wire.ask(f"{API}/can-i-publish", DecisionAnswer, parcel(document, compatibility))

    def can_i_retire(self, line: str, *, version: str | None = None) -> DecisionAnswer:
        """Say yes or no to retiring a line or one version of it, with every reason."""
        return self._wire.get(f"{API}/can-i-retire", DecisionAnswer, {"line": line, "version": version})
