"""The dependency graph as the registry answers it: boxes and arrows, from upstream to downstream."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from treaty.registry.answers.answer import Answer


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
