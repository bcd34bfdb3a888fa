"""Layouts of the dependency graph: around a node, of a domain or in full, and between domains."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

from treaty.consumers import graph
from treaty.consumers.dependencies import Consumer, Dependency, MadeFrom, Node, PublishedBy, Reads
from treaty.consumers.graph import BOTH_WAYS, DOWNSTREAM, UPSTREAM, DependencyGraph, Subgraph, endpoints
from treaty.contracts.versions import Line, parse_line
from treaty.errors import InvalidDocument
from treaty.registry.model import (
    DomainAnswer,
    DomainEdgeAnswer,
    DomainsAnswer,
    LayoutAnswer,
    LayoutEdgeAnswer,
    LayoutNodeAnswer,
)
from treaty.registry.service.dependencies import Dependencies, node_named
from treaty.registry.service.observed_usage import Usage, usage_of
from treaty.registry.store import Connection, health_records, search, subscriptions
from treaty.registry.store.observed_usage import Reader
from treaty.registry.store.visibility import Visibility

DIRECTIONS = {"both": BOTH_WAYS, "upstream": (UPSTREAM,), "downstream": (DOWNSTREAM,)}

_MAX_DOMAINS = 200


def layout_around(
    connection: Connection,
    visibility: Visibility,
    dependencies: Dependencies,
    name: str,
    hops: int | None,
    direction: str,
    most: int,
) -> LayoutAnswer:
    """Return the graph around a line, contract or consumer."""
    origins = _origins(connection, visibility, dependencies, name)
    part = dependencies.ask(
        connection,
        visibility,
        lambda dependency_graph: graph.neighbourhood(dependency_graph, origins, hops, DIRECTIONS[direction], most),
    )
    return layout_answer(connection, visibility, part, dependencies.window, origins)


def layout_of(
    connection: Connection, visibility: Visibility, dependencies: Dependencies, domain: str | None, most: int
) -> LayoutAnswer:
    """Return the full graph, or the lines of a domain (empty: without one) with their neighbours."""
    known = search.lines_by_domain(connection, visibility)
    if domain is None:
        part = dependencies.ask(
            connection, visibility, lambda dependency_graph: graph.full_graph(dependency_graph, known, most)
        )
    else:
        chosen = [line for line, of in known.items() if (of or "") == domain]
        part = dependencies.ask(
            connection, visibility, lambda dependency_graph: graph.with_neighbours(dependency_graph, chosen, most)
        )
    return layout_answer(connection, visibility, part, dependencies.window)


def domains_of(connection: Connection, visibility: Visibility, dependencies: Dependencies) -> DomainsAnswer:
    """Return the largest domains and the number of dependencies between them."""
    known = search.lines_by_domain(connection, visibility)
    sizes = Counter(known.values())
    names = sorted(sizes, key=lambda name: (-sizes[name], name or ""))[:_MAX_DOMAINS]
    readers: dict[str | None, set[str]] = {name: set() for name in names}
    crossing: Counter[tuple[str | None, str | None]] = Counter()
    for dependency in dependencies.ask(connection, visibility, _all_dependencies):
        match dependency:
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


def _all_dependencies(graph: DependencyGraph) -> tuple[Dependency, ...]:
    return graph.dependencies_among(graph.nodes)


def _origins(connection: Connection, visibility: Visibility, dependencies: Dependencies, name: str) -> list[Node]:
    """Find the nodes of a name: a line, the lines of a contract, a consumer, or a line that is only referred to."""
    if visibility.sees(name) and (lines := search.lines_of(connection, name)):
        return list(lines)
    try:
        named = parse_line(name)
    except InvalidDocument:
        named = None
    if named is not None and dependencies.ask(
        connection, visibility, lambda dependency_graph: named in dependency_graph
    ):
        return [named]
    return [node_named(connection, visibility, name)]


def layout_answer(
    connection: Connection, visibility: Visibility, part: Subgraph, window: timedelta, origins: Iterable[Node] = ()
) -> LayoutAnswer:
    """Return the API model of a part of the graph."""
    lines = search.describe_lines(connection, {node.contract for node in part.nodes if isinstance(node, Line)})
    teams = subscriptions.teams_of(
        connection, visibility, {node.name for node in part.nodes if isinstance(node, Consumer)}
    )
    readers = {
        (one.subscription.consumer, one.subscription.line) for one in part.dependencies if isinstance(one, Reads)
    }
    usages = usage_of(connection, readers, window)
    edges = [_edge(dependency, usages) for dependency in part.dependencies]
    return LayoutAnswer(
        origins=[_id(node) for node in origins],
        nodes=[_node(*node, lines, teams) for node in zip(part.nodes, part.degrees, strict=True)],
        edges=sorted(edges, key=lambda edge: (edge.upstream, edge.downstream, edge.fields)),
        more=part.more,
    )


def with_health(connection: Connection, visibility: Visibility, now: datetime, answer: LayoutAnswer) -> LayoutAnswer:
    """Return a layout with the health of its lines."""
    healths = health_records.health_of_lines(connection, now, {node.contract for node in answer.nodes if node.contract})
    shown = {
        str(line): {"health": health.state.value, "cause": health_records.shown_cause(health, visibility)}
        for line, health in healths.items()
        if health.state is not None
    }
    nodes = [
        node.model_copy(update=shown[node.name]) if node.kind == "line" and node.name in shown else node
        for node in answer.nodes
    ]
    return answer.model_copy(update={"nodes": nodes})


def _node(node: Node, degree: int, lines: dict[Line, dict[str, Any]], teams: dict[str, str | None]) -> LayoutNodeAnswer:
    if isinstance(node, Consumer):
        team = teams.get(node.name)
        return LayoutNodeAnswer(id=_id(node), kind="consumer", name=node.name, degree=degree, team=team)
    described = lines.get(node, {})
    return LayoutNodeAnswer(
        id=_id(node), kind="line", name=str(node), contract=node.contract, degree=degree, **described
    )


def _edge(dependency: Dependency, usages: Mapping[Reader, Usage]) -> LayoutEdgeAnswer:
    upstream, downstream = map(_id, endpoints(dependency))
    match dependency:
        case Reads(subscription):
            fields = list(map(str, subscription.fields))
            usage = usages[subscription.consumer, subscription.line].state
            return LayoutEdgeAnswer(upstream=upstream, downstream=downstream, kind="reads", fields=fields, usage=usage)
        case MadeFrom():
            fields = list(map(str, dependency.used_fields))
            return LayoutEdgeAnswer(upstream=upstream, downstream=downstream, kind="made_from", fields=fields)
        case PublishedBy():
            return LayoutEdgeAnswer(upstream=upstream, downstream=downstream, kind="published_by")


def _id(node: Node) -> str:
    return f"{'line' if isinstance(node, Line) else 'consumer'}:{node}"
