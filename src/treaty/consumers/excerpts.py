"""Excerpts of the dependency graph: the nodes around some, or all of them, with every dependence among them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from treaty.consumers.dependencies import Consumer, Dependence, MadeFrom, Node, PublishedBy, Reads, in_order
from treaty.consumers.subscriptions import Line

if TYPE_CHECKING:
    from treaty.consumers.graph import DependencyGraph

UPSTREAM, DOWNSTREAM = "upstream", "downstream"
BOTH_WAYS = (UPSTREAM, DOWNSTREAM)


@dataclass(frozen=True)
class Excerpt:
    """A part of the graph: some nodes, every dependence among them, and how many nodes more there would be."""

    nodes: tuple[Node, ...]
    dependences: tuple[Dependence, ...] = ()
    more: int = 0
    degrees: tuple[int, ...] = ()  # of each node, in the whole graph


def around(
    graph: DependencyGraph,
    origins: Collection[Node],
    hops: int | None = None,
    ways: Collection[str] = BOTH_WAYS,
    most: int | None = None,
) -> Excerpt:
    """Return what some nodes rest on and who rests on them, a few steps away; the nearest go first where it is much.

    A node that the graph does not know stands alone: nobody has said anything about it yet.
    """
    distances: dict[Node, int] = dict.fromkeys(origins, 0)
    for origin in origins:
        if origin not in graph:
            continue
        reaches = {UPSTREAM: graph.upstream_of, DOWNSTREAM: graph.downstream_of}
        for way in ways:
            for one in reaches[way](origin, hops):
                distances[one.node] = min(distances.get(one.node, one.distance), one.distance)
    return _part(graph, sorted(distances, key=lambda node: (distances[node], in_order(node))), most)


def all_of(graph: DependencyGraph, known: Iterable[Line], most: int | None = None) -> Excerpt:
    """Return the whole graph with the lines that are known besides; the most connected go first where it is much."""
    nodes = {*graph.nodes, *known}
    return _part(graph, sorted(nodes, key=lambda node: (-graph.degree_of(node), in_order(node))), most)


def with_neighbours(graph: DependencyGraph, chosen: Collection[Line], most: int | None = None) -> Excerpt:
    """Return some lines with everybody one step away from them; those with most ties go first where it is much."""
    within = frozenset[Node](chosen)
    ties = {node: graph.degree_of(node) for node in within}
    beside = Counter(near for line in chosen if line in graph for near in graph.neighbours_of(line))
    ties |= {node: number for node, number in beside.items() if node not in within}
    return _part(graph, sorted(ties, key=lambda node: (-ties[node], node not in within, in_order(node))), most)


def ends_of(dependence: Dependence) -> tuple[Node, Node]:
    """Return what is rested on, and who rests on it."""
    match dependence:
        case Reads(subscription):
            return subscription.line, Consumer(subscription.consumer)
        case MadeFrom(line, upstream):
            return upstream, line
        case PublishedBy(line, consumer):
            return consumer, line


def _part(graph: DependencyGraph, nodes: list[Node], most: int | None) -> Excerpt:
    chosen = nodes if most is None else nodes[:most]
    degrees = tuple(map(graph.degree_of, chosen))
    return Excerpt(tuple(chosen), graph.dependences_among(chosen), len(nodes) - len(chosen), degrees)
