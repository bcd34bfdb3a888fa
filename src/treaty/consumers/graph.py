"""The dependency graph of lines and consumers, with queries in both directions."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from copy import copy
from dataclasses import dataclass
from typing import TypeAlias

from rustworkx import PyDiGraph

from treaty.consumers.dependencies import (
    Consumer,
    Dependency,
    MadeFrom,
    Node,
    PublishedBy,
    Reach,
    Reads,
    dependent,
    node_sort_key,
)
from treaty.consumers.subscriptions import Subscription
from treaty.contracts.versions import Line
from treaty.errors import NotFound

Arrivals: TypeAlias = Mapping[Node, tuple[int, Node]]
"""Nodes with their distance and the node before them."""


class DependencyGraph:
    """Lines and consumers with edges to what they depend on; updated one subscription or line at a time.

    A consumer with the name of a contract is the same party: it passes on what it reads, so every line of that
    contract depends on the consumer (`PublishedBy`).

    A consumer is in the graph while it has a subscription. A line is in the graph once its upstreams were set, even
    to none, and while another node depends on it. The graph is not thread-safe: callers must synchronize access.
    """

    def __init__(self) -> None:
        self._graph: PyDiGraph[Node, Dependency] = PyDiGraph()
        self._places: dict[Node, int] = {}
        self._names: dict[int, tuple[str, int]] = {}  # by place, to sort by
        self._subscribed: dict[tuple[str, Line], int] = {}  # the edge of each consumer and line
        self._declared: set[Line] = set()
        self._lines: defaultdict[str, set[Line]] = defaultdict(set)  # by contract
        self._hidden: frozenset[int] = frozenset()

    def without(self, contracts: Iterable[str]) -> DependencyGraph:
        """Return a view of this graph without the lines of some contracts and the consumers with their names.

        The view shares the nodes and edges of the graph; use it for queries, under the same lock.
        """
        hidden: list[Node] = []
        for name in contracts:
            hidden += [*self._lines.get(name, ()), Consumer(name)]
        view = copy(self)
        view._hidden = frozenset(self._places[node] for node in hidden if node in self._places)
        return view if view._hidden else self

    def __contains__(self, node: object) -> bool:
        place = self._places.get(node)  # type: ignore[call-overload]
        return place is not None and place not in self._hidden

    @property
    def nodes(self) -> tuple[Node, ...]:
        """All nodes, in insertion order; a consumer is left out with the last line that it reads."""
        if not self._hidden:
            return tuple(self._places)
        return tuple(node for node, place in self._places.items() if self._is_shown(node, place))

    def _is_shown(self, node: Node, place: int) -> bool:
        if place in self._hidden:
            return False
        return isinstance(node, Line) or not self._hidden.issuperset(self._graph.successor_indices(place))

    def put_subscription(self, subscription: Subscription) -> None:
        """Add a subscription, or replace the one of the same consumer and line."""
        key = subscription.consumer, subscription.line
        edge = self._subscribed.get(key)
        if edge is not None:
            self._graph.update_edge_by_index(edge, Reads(subscription))
            return
        consumer, line = self._place(Consumer(subscription.consumer)), self._place(subscription.line)
        self._subscribed[key] = self._graph.add_edge(consumer, line, Reads(subscription))

    def drop_subscription(self, consumer: str, line: Line) -> None:
        """Remove a subscription, if it exists."""
        edge = self._subscribed.pop((consumer, line), None)
        if edge is not None:
            self._graph.remove_edge_from_index(edge)
            self._forget_unused(Consumer(consumer))
            self._forget_unused(line)

    def put_upstreams(self, line: Line, upstreams: Iterable[MadeFrom]) -> None:
        """Replace the upstreams of a line; a line without upstreams is added to the graph as well.

        The caller resolves upstreams that name a contract without a line, and sets them again when lines are added.
        """
        made = tuple(dict.fromkeys(upstreams))
        if stray := next((one for one in made if one.line != line), None):
            raise ValueError(f"these are upstreams of {stray.line}, not of {line}")
        self._declared.add(line)
        place = self._place(line)
        edges = {edge: self._graph.get_edge_data_by_index(edge) for edge in self._graph.out_edge_indices(place)}
        stale = {edge: was for edge, was in edges.items() if isinstance(was, MadeFrom)}
        for edge in stale:
            self._graph.remove_edge_from_index(edge)
        for one in made:
            self._graph.add_edge(place, self._place(one.upstream), one)
        for upstream in dict.fromkeys(was.upstream for was in stale.values()):
            self._forget_unused(upstream)

    def readers_of(self, line: Line) -> tuple[Subscription, ...]:
        """Return the subscriptions to a line, by consumer."""
        edges = self._graph.in_edges(self._known(line))
        subscriptions = [
            edge.subscription for place, _, edge in edges if isinstance(edge, Reads) and place not in self._hidden
        ]
        return tuple(sorted(subscriptions, key=lambda subscription: subscription.consumer))

    def subscriptions_on(self, reach: Reach, nodes: Iterable[Node]) -> dict[Node, Subscription]:
        """Return the subscription through which each consumer among some nodes is reached."""
        result: dict[Node, Subscription] = {}
        for node in nodes:
            via = reach.via_of(node)
            if not isinstance(node, Consumer) or not isinstance(via, Line):
                continue
            edge = self._graph.get_edge_data_by_index(self._subscribed[node.name, via])
            if isinstance(edge, Reads):
                result[node] = edge.subscription
        return result

    def made_from(self, line: Line) -> tuple[MadeFrom, ...]:
        """Return the edges of lines that are derived from a line, sorted by line."""
        edges = self._graph.in_edges(self._known(line))
        sources = [edge for place, _, edge in edges if isinstance(edge, MadeFrom) and place not in self._hidden]
        return tuple(sorted(sources, key=lambda source: (source.line, [str(field) for field in source.fields])))

    def dependents_of(self, node: Node) -> tuple[Dependency, ...]:
        """Return the edges of everything that depends directly on a node."""
        edges = self._graph.in_edges(self._known(node))
        return tuple(edge for place, _, edge in edges if place not in self._hidden)

    def neighbours_of(self, node: Node) -> tuple[Node, ...]:
        """Return the nodes one step away in either direction."""
        place = self._known(node)
        near = {*self._graph.successor_indices(place), *self._graph.predecessor_indices(place)} - self._hidden
        return tuple(self._graph[neighbour] for neighbour in sorted(near, key=self._names.__getitem__))

    def degree_of(self, node: Node) -> int:
        """Return the number of edges of a node; 0 if it is not in the graph."""
        place = self._places.get(node)
        if place is None or place in self._hidden:
            return 0
        if not self._hidden:
            return self._graph.in_degree(place) + self._graph.out_degree(place)
        ends = [*(edge[0] for edge in self._graph.in_edges(place)), *(edge[1] for edge in self._graph.out_edges(place))]
        return sum(end not in self._hidden for end in ends)

    def dependencies_among(self, nodes: Iterable[Node]) -> tuple[Dependency, ...]:
        """Return all edges between some nodes."""
        places = [place for place in map(self._places.get, nodes) if place is not None and place not in self._hidden]
        chosen = set(places)
        edges = (edge for place in places for edge in self._graph.out_edges(place))
        return tuple(dependence for _, upstream, dependence in edges if upstream in chosen)

    def upstream_of(self, node: Node, depth: int | None = None) -> Reach:
        """Return all nodes that a node depends on, at most `depth` steps away."""
        nearby = self._graph.successor_indices
        return self._reach(node, nearby(self._known(node)), nearby, depth)

    def downstream_of(self, node: Node, depth: int | None = None) -> Reach:
        """Return all nodes that depend on a node, at most `depth` steps away."""
        nearby = self._graph.predecessor_indices
        return self._reach(node, nearby(self._known(node)), nearby, depth)

    def spread_from(self, origin: Node, reached: Arrivals, passing: Arrivals) -> Reach:
        """Return the nodes that are reached, and all nodes downstream of the passing ones."""
        start = self._known(origin)
        given: defaultdict[int, list[tuple[int, int, bool]]] = defaultdict(list)
        for arrivals, passes in ((passing, True), (reached, False)):
            for node, (distance, previous) in arrivals.items():
                given[distance].append((self._places[node], self._places[previous], passes))
        last = max(given, default=0)
        via, passed = {start: start}, {start}
        layers: list[list[int]] = []
        expanding: list[int] = []
        while expanding or len(layers) < last:
            found = given[len(layers) + 1]
            found += [
                (far, near, True)
                for near in expanding
                for far in self._graph.predecessor_indices(near)
                if far not in self._hidden
            ]
            layer, expanding = [], []
            for place, before, passes in found:
                if place not in via:
                    via[place] = before
                    layer.append(place)
                if passes and place not in passed:
                    passed.add(place)
                    expanding.append(place)
            layers.append(sorted(layer, key=self._names.__getitem__))
            expanding.sort(key=self._names.__getitem__)
        return self._to_reach(origin, layers, via)

    def _reach(
        self, origin: Node, first: Iterable[int], nearby: Callable[[int], Iterable[int]], depth: int | None
    ) -> Reach:
        """Breadth-first search with each layer sorted by name, so that the first of equal paths is chosen."""
        start = self._places[origin]
        via = {start: start}
        hidden = self._hidden
        layers: list[list[int]] = []
        layer = [start]
        while layer and (depth is None or len(layers) < depth):
            order: list[int] = []
            for near in layer:
                for far in first if near == start else nearby(near):
                    if far not in via and far not in hidden:
                        via[far] = near
                        order.append(far)
            layer = sorted(order, key=self._names.__getitem__)
            layers.append(layer)
        return self._to_reach(origin, layers, via)

    def _to_reach(self, origin: Node, layers: list[list[int]], via: Mapping[int, int]) -> Reach:
        node_at = self._graph.get_node_data
        places = [place for layer in layers for place in layer]
        distances = tuple(distance for distance, layer in enumerate(layers, 1) for _ in layer)
        vias = (via[place] for place in places)
        return Reach(origin, tuple(map(node_at, places)), distances, tuple(map(node_at, vias)))

    def _known(self, node: Node) -> int:
        place = self._places.get(node)
        if place is None or place in self._hidden:
            raise NotFound(f"{node} is not in the dependency graph; register the line or add a subscription first")
        return place

    def _place(self, node: Node) -> int:
        """Return the index of a node, adding it with its `PublishedBy` edges if it is new."""
        place = self._places.get(node)
        if place is not None:
            return place
        place = self._places[node] = self._graph.add_node(node)
        self._names[place] = node_sort_key(node)
        if isinstance(node, Consumer):
            for line in self._lines.get(node.name, ()):
                self._graph.add_edge(self._places[line], place, PublishedBy(line, node))
            return place
        self._lines[node.contract].add(node)
        publisher = Consumer(node.contract)
        if publisher in self._places:
            self._graph.add_edge(place, self._places[publisher], PublishedBy(node, publisher))
        return place

    def _forget_unused(self, node: Node) -> None:
        """Remove a consumer without subscriptions, or a line that nothing refers to."""
        place = self._places[node]
        if isinstance(node, Consumer):
            used = self._graph.out_degree(place) > 0
        else:
            used = node in self._declared or self._graph.in_degree(place) > 0
        if used:
            return
        self._graph.remove_node(place)
        del self._places[node], self._names[place]
        if isinstance(node, Line):
            self._lines[node.contract].discard(node)


UPSTREAM, DOWNSTREAM = "upstream", "downstream"
BOTH_WAYS = (UPSTREAM, DOWNSTREAM)


@dataclass(frozen=True)
class Subgraph:
    """A part of the graph: some nodes, all edges between them, and the number of nodes left out."""

    nodes: tuple[Node, ...]
    dependencies: tuple[Dependency, ...] = ()
    more: int = 0
    degrees: tuple[int, ...] = ()  # of each node, in the full graph


def neighbourhood(
    graph: DependencyGraph,
    origins: Collection[Node],
    hops: int | None = None,
    ways: Collection[str] = BOTH_WAYS,
    most: int | None = None,
) -> Subgraph:
    """Return the neighbourhood of some nodes up to a number of hops; with `most`, the nearest nodes are kept.

    Nodes that are not in the graph are returned without edges.
    """
    distances: dict[Node, int] = dict.fromkeys(origins, 0)
    for origin in origins:
        if origin not in graph:
            continue
        reaches = {UPSTREAM: graph.upstream_of, DOWNSTREAM: graph.downstream_of}
        for way in ways:
            for reache in reaches[way](origin, hops):
                distances[reache.node] = min(distances.get(reache.node, reache.distance), reache.distance)
    return _part(graph, sorted(distances, key=lambda node: (distances[node], node_sort_key(node))), most)


def full_graph(graph: DependencyGraph, known: Iterable[Line], most: int | None = None) -> Subgraph:
    """Return the full graph and some further lines; with `most`, the most connected nodes are kept."""
    nodes = {*graph.nodes, *known}
    return _part(graph, sorted(nodes, key=lambda node: (-graph.degree_of(node), node_sort_key(node))), most)


def with_neighbours(graph: DependencyGraph, chosen: Collection[Line], most: int | None = None) -> Subgraph:
    """Return some lines and their direct neighbours; with `most`, the most connected nodes are kept."""
    within = frozenset[Node](chosen)
    ties = {node: graph.degree_of(node) for node in within}
    beside = Counter(near for line in chosen if line in graph for near in graph.neighbours_of(line))
    ties |= {node: number for node, number in beside.items() if node not in within}
    return _part(graph, sorted(ties, key=lambda node: (-ties[node], node not in within, node_sort_key(node))), most)


def endpoints(dependence: Dependency) -> tuple[Node, Node]:
    """Return the upstream and the downstream node of an edge."""
    match dependence:
        case Reads(subscription):
            return subscription.line, dependent(dependence)
        case MadeFrom(line, upstream):
            return upstream, line
        case PublishedBy(line, consumer):
            return consumer, line


def _part(graph: DependencyGraph, nodes: list[Node], most: int | None) -> Subgraph:
    chosen = nodes if most is None else nodes[:most]
    degrees = tuple(map(graph.degree_of, chosen))
    return Subgraph(tuple(chosen), graph.dependencies_among(chosen), len(nodes) - len(chosen), degrees)
