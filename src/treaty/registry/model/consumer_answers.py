"""Consumers, and what a change means for them, as the registry answers it."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any, Literal

from pydantic import Field

from treaty.registry.model.page import Answer


class SubscriptionAnswer(Answer):
    """Who depends on which line, which fields, for what; without fields it is unknown which are read."""

    consumer: str
    line: str
    consumer_class: str
    fields: list[str]
    purpose: str | None = None
    latency: str | None = None
    contact: str | None = None
    team: str | None = None
    since: datetime
    warnings: list[str] = Field(default=[])


class NodeAnswer(Answer):
    """A line or consumer that is reached, how far away it is, and by which way."""

    name: str
    kind: Literal["line", "consumer"]
    distance: int
    path: list[str]


class GraphAnswer(Answer):
    """Who depends on a line or consumer, or what it rests on."""

    node: str
    direction: Literal["upstream", "downstream"]
    nodes: list[NodeAnswer]
    more: int = Field(default=0, description="How many more are reached than are listed.")


class AffectedAnswer(Answer):
    """What a change means for one consumer or one line that is made from this one."""

    name: str
    kind: Literal["consumer", "line"]
    effect: Literal["hit", "unknown", "safe", "exposed"]
    consumer_class: str | None = None
    contact: str | None = None
    critical: bool = False
    fields: list[str] = Field(default=[], description="The changed fields that it reads.")
    reasons: list[str] = Field(default=[])
    path: list[str] = Field(default=[])


class ImpactAnswer(Answer):
    """Whom a change hits, by field."""

    contract: str
    line: str
    before: str | None
    after: str
    compatible: bool
    required_version: str | None
    affected: list[AffectedAnswer]
    more: int = Field(default=0, description="How many more are affected than are listed.")

    def having(self, *effects: str) -> list[AffectedAnswer]:
        """Return those for whom the change has one of these effects."""
        return [one for one in self.affected if one.effect in effects]


WAITS_FOR_CONSUMERS = "waits_for_consumers"
WAITS_FOR_APPROVAL = "waits_for_approval"


class ReasonAnswer(Answer):
    """One thing that speaks against, or that somebody should know."""

    kind: str
    message: str
    severity: Literal["error", "warning"] = "error"


class DecisionAnswer(Answer):
    """Yes or no to one question, with every reason."""

    question: str
    answer: bool
    reasons: list[ReasonAnswer]
    affected: list[AffectedAnswer] = Field(default=[])
    required_version: str | None = None

    @property
    def waits(self) -> list[str]:
        """What a version waits for that is proposed first."""
        return [one.message for one in self.reasons if one.kind in (WAITS_FOR_CONSUMERS, WAITS_FOR_APPROVAL)]


class MapNodeAnswer(Answer):
    """A line or consumer, with what one wants to know at a glance."""

    id: str = Field(description="What edges call it; a consumer may have the name of a line.")
    kind: Literal["line", "consumer"]
    name: str
    contract: str | None = None
    title: str | None = Field(default=None, description="What the contract calls itself.")
    version: str | None = Field(default=None, description="The highest of the line.")
    status: str | None = Field(default=None, description="Where the line stands; null if it is not registered.")
    domain: str | None = None
    tier: str | None = None
    degree: int = Field(default=0, description="How many dependences it takes part in, listed here or not.")
    team: str | None = Field(default=None, description="Who owns the line, or whose consumer it is.")


class MapEdgeAnswer(Answer):
    """One dependence; data goes from upstream to downstream."""

    upstream: str
    downstream: str
    kind: Literal["reads", "made_from", "published_by"]
    fields: list[str] = Field(default=[], description="Of the upstream line; none if it is unknown which.")


class MapAnswer(Answer):
    """A part of the graph, with every dependence among its nodes."""

    origins: list[str] = Field(default=[], description="The ids of the nodes it was asked around.")
    nodes: list[MapNodeAnswer]
    edges: list[MapEdgeAnswer]
    more: int = Field(default=0, description="How many nodes more there are than are listed.")


class DomainAnswer(Answer):
    """A domain: how many lines it has, and how many consumers read them."""

    name: str | None = Field(description="Null for the lines that belong to none.")
    lines: int
    consumers: int


class DomainEdgeAnswer(Answer):
    """How many dependences lead from one domain to another."""

    upstream: str | None
    downstream: str | None
    count: int


class DomainsAnswer(Answer):
    """The graph from far away: domains, and what goes from one to another."""

    domains: list[DomainAnswer]
    edges: list[DomainEdgeAnswer]
    more: int = Field(default=0, description="How many domains more there are than are listed.")


class MigrationAnswer(Answer):
    """The move of consumers from one line to the next."""

    id: int
    contract: str
    before: str = Field(description="The line that consumers leave.")
    after: str = Field(description="The line they move to.")
    before_version: str
    after_version: str
    state: Literal["proposed", "open", "closed", "withdrawn"]
    owner: str | None = None
    guide: str | None = None
    window: str | None = None
    opened_at: datetime
    ends_on: date | None = None
    closed_at: datetime | None = None
    proposal: int | None = Field(default=None, description="The proposal that waits for acknowledgements.")
    proven: bool | None = Field(default=None, description="Whether the shims kept their word on rows; null: not tried.")
    counts: dict[str, int] = Field(default={}, description="How many consumers stand where.")
    missing: list[str] = Field(default=[], description="The critical consumers whose acknowledgement is missing.")


class MigrationConsumerAnswer(Answer):
    """Where one consumer stands in a migration."""

    consumer: str
    consumer_class: str
    critical: bool
    effect: Literal["hit", "unknown", "safe"]
    state: Literal["waiting", "acknowledged", "moved", "waived"]
    fields: list[str] = Field(default=[], description="The fields of the old line that it reads.")
    team: str | None = None
    contact: str | None = None
    reason: str | None = None
    until: date | None = None
    changed_at: datetime | None = None
    changed_by: str | None = None


class BoardAnswer(MigrationAnswer):
    """A migration with where each of its consumers stands, and its proof."""

    consumers: list[MigrationConsumerAnswer]
    proof: dict[str, Any] | None = None


class MigrationPathAnswer(Answer):
    """The way over between two versions: how each shape is made from the other, and a guide for each consumer."""

    contract: str
    before: str
    after: str
    path: dict[str, Any]
    views: list[dict[str, Any]]
    guides: list[dict[str, Any]]
