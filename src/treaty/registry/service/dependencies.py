"""The dependency graph, updated incrementally, and the impact of a candidate."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, Literal, TypeVar

from treaty.compatibility import Judged, Verdict
from treaty.consumers import graph
from treaty.consumers.dependencies import Consumer, Dependency, MadeFrom, Node, PublishedBy, Reach, Reads
from treaty.consumers.graph import BOTH_WAYS, DOWNSTREAM, UPSTREAM, DependencyGraph, Subgraph, endpoints
from treaty.consumers.impact import Effect, Exposure, Impact, LineImpact, compute_exposure
from treaty.contracts.versions import Line, parse_line
from treaty.errors import InvalidDocument, NotFound
from treaty.registry.model import (
    AffectedAnswer,
    DomainAnswer,
    DomainEdgeAnswer,
    DomainsAnswer,
    GraphAnswer,
    ImpactAnswer,
    MapAnswer,
    MapEdgeAnswer,
    MapNodeAnswer,
    NodeAnswer,
)
from treaty.registry.service.judgement import Judgement
from treaty.registry.store import Connection, search, subscriptions, versions

T = TypeVar("T")
_MAX_NODES = 1_000


class Dependencies:
    """The dependency graph of one registry; each query first applies the changes since the last one."""

    def __init__(self) -> None:
        self._graph = DependencyGraph()
        self._revision = 0
        self._lock = threading.Lock()

    def ask(self, connection: Connection, question: Callable[[DependencyGraph], T]) -> T:
        """Run a query on the graph under its lock."""
        with self._lock:
            self._catch_up(connection)
            return question(self._graph)

    def reach(self, connection: Connection, node: Node, direction: str, depth: int | None) -> Reach:
        """Return what a node depends on, or what depends on it."""
        with self._lock:
            self._catch_up(connection)
            if node not in self._graph:
                return Reach(node)
            if direction == "upstream":
                return self._graph.upstream_of(node, depth)
            return self._graph.downstream_of(node, depth)

    def exposure(self, connection: Connection, verdict: Verdict, line: Line) -> Exposure:
        """Return the consumers and lines that a change of a line reaches."""
        with self._lock:
            self._catch_up(connection)
            if line not in self._graph:
                return Exposure(line, (), (), Reach(line))
            return compute_exposure(verdict, self._graph, line)

    def _catch_up(self, connection: Connection) -> None:
        changed, rows, newest = subscriptions.changed_since(connection, self._revision)
        for subscriber in changed:
            if subscriber.active:
                self._graph.put_subscription(subscriber.subscription)
            else:
                self._graph.drop_subscription(subscriber.subscription.consumer, subscriber.subscription.line)
        if self._revision == 0:
            self._put_all(rows)
        else:
            for line in dict.fromkeys(Line(row.contract, row.major) for row in rows):
                self._graph.put_upstreams(line, list(_made_from(line, subscriptions.upstreams_of(connection, line))))
        self._revision = newest

    def _put_all(self, rows: list[subscriptions.UpstreamRow]) -> None:
        by_line: dict[Line, list[subscriptions.UpstreamRow]] = {}
        for row in rows:
            by_line.setdefault(Line(row.contract, row.major), []).append(row)
        for line, upstreams in by_line.items():
            self._graph.put_upstreams(line, list(_made_from(line, [row for row in upstreams if row.active])))


def node_named(connection: Connection, name: str) -> Node:
    """Find a node by name: a line, a contract (its highest line), or a consumer."""
    try:
        line = parse_line(name)
    except InvalidDocument:
        line = None
    if line is not None and versions.versions_in_line(connection, line):
        return line
    highest = versions.highest(connection, name)
    if highest is not None:
        return highest.line
    if subscriptions.subscriptions_of(connection, name):
        return Consumer(name)
    raise NotFound(f"neither a line nor a consumer is called {name!r}; find one with: treaty search")


def graph_answer(reach: Reach, direction: str) -> GraphAnswer:
    """Return the API model of a reach."""
    nodes = [
        NodeAnswer(
            name=str(reached.node),
            kind=_kind(reached.node),
            distance=reached.distance,
            path=[str(node) for node in reach.path_to(reached.node)],
        )
        for reached in islice(reach, _MAX_NODES)
    ]
    return GraphAnswer(
        node=str(reach.origin),
        direction="upstream" if direction == "upstream" else "downstream",
        nodes=nodes,
        more=max(0, len(reach) - _MAX_NODES),
    )


def impact_answer(judgement: Judgement, exposure: Exposure) -> ImpactAnswer:
    """Return the API model of the impact of a candidate."""
    contract, verdict = judgement.candidate.contract, judgement.verdict
    return ImpactAnswer(
        contract=contract.id,
        line=str(exposure.line),
        before=judgement.before.version if judgement.before else None,
        after=contract.version,
        compatible=verdict.compatible,
        required_version=verdict.required_version,
        affected=list(islice(_affected(exposure), _MAX_NODES)),
        more=max(0, len(exposure.consumers) + len(exposure.lines) + len(exposure.exposed) - _MAX_NODES),
    )


def exposure_of(connection: Connection, dependencies: Dependencies, judgement: Judgement) -> Exposure:
    """Return what a candidate reaches: the dependents of the line that it follows."""
    line = judgement.before.line if judgement.before else judgement.candidate.line
    return dependencies.exposure(connection, judgement.verdict, line)


def impact_of(connection: Connection, dependencies: Dependencies, judgement: Judgement) -> ImpactAnswer:
    """Return the impact of a candidate, by field."""
    return impact_answer(judgement, exposure_of(connection, dependencies, judgement))


def struck(exposure: Exposure) -> list[AffectedAnswer]:
    """Return all consumers and lines that a change affects, or may affect, directly."""
    consumers = [_consumer(impact) for impact in exposure.consumers if impact.effect is not Effect.SAFE]
    return consumers + [_line(impact) for impact in exposure.lines if impact.effect is not Effect.SAFE]


def _affected(exposure: Exposure) -> Iterator[AffectedAnswer]:
    for consumer in exposure.consumers:
        yield _consumer(consumer)
    for line in exposure.lines:
        yield _line(line)
    for exposed in exposure.exposed:
        path = [str(node) for node in exposure.path_to(exposed)]
        yield AffectedAnswer(name=str(exposed), kind=_kind(exposed), effect="exposed", path=path)


def _consumer(impact: Impact) -> AffectedAnswer:
    subscription = impact.subscription
    return AffectedAnswer(
        name=subscription.consumer,
        kind="consumer",
        effect=impact.effect.value,
        consumer_class=subscription.consumer_class.value,
        contact=subscription.contact,
        critical=subscription.consumer_class.is_critical,
        fields=_fields(impact.changes),
        reasons=_reasons(impact.changes),
        path=[str(subscription.line), subscription.consumer],
    )


def _line(impact: LineImpact) -> AffectedAnswer:
    return AffectedAnswer(
        name=str(impact.made_from.line),
        kind="line",
        effect=impact.effect.value,
        fields=_fields(impact.changes),
        reasons=_reasons(impact.changes),
        path=[str(impact.made_from.upstream), str(impact.made_from.line)],
    )


def _fields(changes: tuple[Judged, ...]) -> list[str]:
    return list(dict.fromkeys(change.change.field for change in changes if change.change.field))


def _reasons(changes: tuple[Judged, ...]) -> list[str]:
    return list(dict.fromkeys(change.message for change in changes))


def _kind(node: Node) -> Literal["line", "consumer"]:
    return "line" if isinstance(node, Line) else "consumer"


def _made_from(line: Line, rows: list[subscriptions.UpstreamRow]) -> Iterator[MadeFrom]:
    for row in rows:
        if row.upstream_major != subscriptions.NO_LINE:
            yield MadeFrom(line, Line(row.upstream, row.upstream_major), subscriptions.fields_named(row.fields))


WAYS = {"both": BOTH_WAYS, "upstream": (UPSTREAM,), "downstream": (DOWNSTREAM,)}
_MAX_DOMAINS = 200


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
    names = sorted(sizes, key=lambda name: (-sizes[name], name or ""))[:_MAX_DOMAINS]
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
