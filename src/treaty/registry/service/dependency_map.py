"""Parts of the dependency graph for display: around a node, of a domain, or all of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from treaty.consumers import graph
from treaty.consumers.dependencies import Consumer, Dependency, MadeFrom, Node, PublishedBy, Reads
from treaty.consumers.graph import BOTH_WAYS, DOWNSTREAM, UPSTREAM, DependencyGraph, Subgraph, endpoints
from treaty.contracts.versions import Line, parse_line
from treaty.errors import InvalidDocument
from treaty.registry.model import DomainAnswer, DomainEdgeAnswer, DomainsAnswer, MapAnswer, MapEdgeAnswer, MapNodeAnswer
from treaty.registry.service.dependencies import Dependencies, node_named
from treaty.registry.store import Connection, search, subscriptions

WAYS = {"both": BOTH_WAYS, "upstream": (UPSTREAM,), "downstream": (DOWNSTREAM,)}
_MOST_DOMAINS = 200


def map_around(
    connection: Connection, dependencies: Dependencies, name: str, hops: int | None, direction: str, most: int
) -> MapAnswer:
    """Return the graph around a line, contract or consumer."""
    origins = _origins(connection, dependencies, name)
    part = dependencies.ask(
        connection, lambda dependency_graph: graph.neighbourhood(dependency_graph, origins, hops, WAYS[direction], most)
    )
    return map_answer(connection, part, origins)


def map_of(connection: Connection, dependencies: Dependencies, domain: str | None, most: int) -> MapAnswer:
    """Return the full graph, or the lines of a domain (empty: without one) with their neighbours."""
    known = search.lines_by_domain(connection)
    if domain is None:
        part = dependencies.ask(connection, lambda dependency_graph: graph.full_graph(dependency_graph, known, most))
    else:
        chosen = [line for line, of in known.items() if (of or "") == domain]
        part = dependencies.ask(
            connection, lambda dependency_graph: graph.with_neighbours(dependency_graph, chosen, most)
        )
    return map_answer(connection, part)


def domains_of(connection: Connection, dependencies: Dependencies) -> DomainsAnswer:
    """Return the largest domains and the number of dependencies between them."""
    known = search.lines_by_domain(connection)
    sizes = Counter(known.values())
    names = sorted(sizes, key=lambda name: (-sizes[name], name or ""))[:_MOST_DOMAINS]
    readers: dict[str | None, set[str]] = {name: set() for name in names}
    crossing: Counter[tuple[str | None, str | None]] = Counter()
    for dependence in dependencies.ask(connection, _all_dependences):
        match dependence:
            case Reads(subscription):
                readers.get(known.get(subscription.line), set()).add(subscription.consumer)
            case MadeFrom(line, upstream) if line in known and upstream in known:
                crossing[known[upstream], known[line]] += 1
    shown = set(names)
    return DomainsAnswer(
        domains=[DomainAnswer(name=name, lines=sizes[name], consumers=len(readers[name])) for name in names],
        edges=[
            DomainEdgeAnswer(upstream=before, downstream=after, count=count)
            for (before, after), count in crossing.items()
            if before != after and {before, after} <= shown
        ],
        more=len(sizes) - len(names),
    )


def _all_dependences(graph: DependencyGraph) -> tuple[Dependency, ...]:
    return graph.dependencies_among(graph.nodes)


def _origins(connection: Connection, dependencies: Dependencies, name: str) -> list[Node]:
    """Find the nodes of a name: a line, the lines of a contract, a consumer, or a line that is only referred to."""
    if lines := search.lines_of(connection, name):
        return list(lines)
    try:
        spoken_of = parse_line(name)
    except InvalidDocument:
        spoken_of = None
    if spoken_of is not None and dependencies.ask(connection, lambda dependency_graph: spoken_of in dependency_graph):
        return [spoken_of]
    return [node_named(connection, name)]


def map_answer(connection: Connection, part: Subgraph, origins: Iterable[Node] = ()) -> MapAnswer:
    """Return the API model of a part of the graph."""
    lines = search.describe_lines(connection, {node.contract for node in part.nodes if isinstance(node, Line)})
    teams = subscriptions.teams_of(connection, {node.name for node in part.nodes if isinstance(node, Consumer)})
    return MapAnswer(
        origins=[_id(node) for node in origins],
        nodes=[_node(*node, lines, teams) for node in zip(part.nodes, part.degrees, strict=True)],
        edges=sorted(map(_edge, part.dependencies), key=lambda edge: (edge.upstream, edge.downstream, edge.fields)),
        more=part.more,
    )


def _node(node: Node, degree: int, lines: dict[Line, dict[str, Any]], teams: dict[str, str | None]) -> MapNodeAnswer:
    if isinstance(node, Consumer):
        team = teams.get(node.name)
        return MapNodeAnswer(id=_id(node), kind="consumer", name=node.name, degree=degree, team=team)
    described = lines.get(node, {})
    return MapNodeAnswer(id=_id(node), kind="line", name=str(node), contract=node.contract, degree=degree, **described)


def _edge(dependence: Dependency) -> MapEdgeAnswer:
    upstream, downstream = map(_id, endpoints(dependence))
    match dependence:
        case Reads(subscription):
            fields = list(map(str, subscription.fields))
            return MapEdgeAnswer(upstream=upstream, downstream=downstream, kind="reads", fields=fields)
        case MadeFrom(fields=paths):
            fields = list(map(str, paths))
            return MapEdgeAnswer(upstream=upstream, downstream=downstream, kind="made_from", fields=fields)
        case PublishedBy():
            return MapEdgeAnswer(upstream=upstream, downstream=downstream, kind="published_by")


def _id(node: Node) -> str:
    return f"{'line' if isinstance(node, Line) else 'consumer'}:{node}"
