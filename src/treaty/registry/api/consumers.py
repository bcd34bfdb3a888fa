"""The interface for consumers: subscriptions, the dependency graph, lineage, and decisions about changes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from treaty.consumers.dependencies import MadeFrom
from treaty.registry.documents import Document
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
from treaty.registry.model.page import PAGE


class ConsumersApi(Protocol):
    """Subscriptions, the dependency graph, and what a change means for consumers."""

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
        ...

    def unsubscribe(self, consumer: str, line: str) -> SubscriptionAnswer:
        """End a subscription."""
        ...

    def confirm(self, consumer: str, line: str) -> SubscriptionAnswer:
        """Confirm a subscription that another team declared; only the consumer's own team and stewards may."""
        ...

    def challenge(self, consumer: str, line: str) -> SubscriptionAnswer:
        """Ask the team of an unconfirmed consumer to confirm it in time; otherwise it no longer counts."""
        ...

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
        ...

    def names(self) -> list[str]:
        """Return the names of all consumers, sorted."""
        ...

    def graph(self, node: str, *, direction: str = "downstream", depth: int | None = None) -> GraphAnswer:
        """Return what depends on a line or consumer, or what it depends on."""
        ...

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
        ...

    def domains(self) -> DomainsAnswer:
        """Return the domains and the number of dependencies between them."""
        ...

    def lineage(self, line: str) -> LineageAnswer:
        """Return what a line is derived from, by field where that is known."""
        ...

    def record_lineage(
        self, line: str, upstreams: Sequence[MadeFrom] | None, *, layer: str | None = None
    ) -> LineageAnswer:
        """Store the lineage that a run observed; it replaces that of earlier runs and completes what is declared.

        `layer` is the layer in which the run publishes the line; None for either leaves what was recorded before.
        """
        ...

    def impact(self, document: Document, *, compatibility: str | None = None) -> ImpactAnswer:
        """Return which consumers and lines a new version affects, by field."""
        ...

    def can_i_publish(self, document: Document, *, compatibility: str | None = None) -> DecisionAnswer:
        """Decide whether a new version may be published, with every reason."""
        ...

    def can_i_retire(self, line: str, *, version: str | None = None) -> DecisionAnswer:
        """Decide whether a line, or one version of it, may be retired, with every reason."""
        ...
