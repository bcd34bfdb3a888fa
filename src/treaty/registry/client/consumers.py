"""Consumers over HTTP: subscriptions, the dependency graph, lineage, and decisions about changes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from treaty.consumers.dependencies import MadeFrom
from treaty.registry.api import ConsumersApi
from treaty.registry.client.requests import API, document_body, line_path
from treaty.registry.client.transport import Transport
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
from treaty.registry.model.page import MAX_PAGE_SIZE, PAGE, check_limit

if TYPE_CHECKING:
    from treaty.registry.documents import Document


_SUBSCRIPTIONS = f"{API}/subscriptions"


def _upstream(made_from: MadeFrom) -> dict[str, Any]:
    return {
        "line": str(made_from.upstream),
        "fields": [str(field) for field in made_from.fields],
        "mappings": {str(mapping.target): list(map(str, mapping.sources)) for mapping in made_from.mappings},
    }


class Consumers(ConsumersApi):
    """The consumers of a registry."""

    def __init__(self, wire: Transport) -> None:
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
        """Declare that a consumer depends on a line; without fields, every change may affect it."""
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

    def confirm(self, consumer: str, line: str) -> SubscriptionAnswer:
        """Confirm a subscription that another team declared; only the consumer's own team and stewards may."""
        named = {"consumer": consumer, "line": line}
        return self._wire.change("POST", f"{_SUBSCRIPTIONS}/confirm", SubscriptionAnswer, named)

    def challenge(self, consumer: str, line: str) -> SubscriptionAnswer:
        """Ask the team of an unconfirmed consumer to confirm it in time; otherwise it no longer counts."""
        named = {"consumer": consumer, "line": line}
        return self._wire.change("POST", f"{_SUBSCRIPTIONS}/challenge", SubscriptionAnswer, named)

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
        parameters = {"contract": contract, "consumer": consumer, "team": team, "cursor": cursor, "limit": limit}
        return self._wire.get(_SUBSCRIPTIONS, Page[SubscriptionAnswer], parameters)

    def names(self) -> list[str]:
        """Return the names of all consumers, sorted."""
        names: set[str] = set()
        cursor: str | None = None
        while True:
            page = self.subscriptions(cursor=cursor, limit=MAX_PAGE_SIZE)
            names |= {subscription.consumer for subscription in page.items}
            cursor = page.next
            if cursor is None:
                return sorted(names)

    def graph(self, node: str, *, direction: str = "downstream", depth: int | None = None) -> GraphAnswer:
        """Return what depends on a line or consumer, or what it depends on."""
        return self._wire.get(f"{API}/graph", GraphAnswer, {"node": node, "direction": direction, "depth": depth})

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
        parameters = {"node": node, "hops": hops, "direction": direction, "domain": domain, "limit": limit}
        return self._wire.get(f"{API}/graph/layout", LayoutAnswer, parameters)

    def domains(self) -> DomainsAnswer:
        """Return the domains and the number of dependencies between them."""
        return self._wire.get(f"{API}/domains", DomainsAnswer)

    def lineage(self, line: str) -> LineageAnswer:
        """Return what a line is derived from, by field where that is known."""
        return self._wire.get(line_path(line, "lineage"), LineageAnswer)

    def record_lineage(
        self, line: str, upstreams: Sequence[MadeFrom] | None, *, layer: str | None = None
    ) -> LineageAnswer:
        """Store the lineage that a run observed; it replaces that of earlier runs and completes what is declared.

        `layer` is the layer in which the run publishes the line; None for either leaves what was recorded before.
        """
        listed = None if upstreams is None else [_upstream(made_from) for made_from in upstreams]
        body = {"upstreams": listed, "layer": layer}
        return self._wire.change("PUT", line_path(line, "lineage"), LineageAnswer, body)

    def impact(self, document: Document, *, compatibility: str | None = None) -> ImpactAnswer:
        """Return which consumers and lines a new version affects, by field."""
        return self._wire.ask(f"{API}/impact", ImpactAnswer, document_body(document, compatibility))

    def can_i_publish(self, document: Document, *, compatibility: str | None = None) -> DecisionAnswer:
        """Decide whether a new version may be published, with every reason."""
        return self._wire.ask(f"{API}/can-i-publish", DecisionAnswer, document_body(document, compatibility))

    def can_i_retire(self, line: str, *, version: str | None = None) -> DecisionAnswer:
        """Decide whether a line, or one version of it, may be retired, with every reason."""
        return self._wire.get(f"{API}/can-i-retire", DecisionAnswer, {"line": line, "version": version})
