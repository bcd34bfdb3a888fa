"""Convert answers of the registry into graphs: of everything, of domains, around a contract, or by field."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import NamedTuple

from treaty.catalog import links
from treaty.catalog.formatting import format_health, pluralize
from treaty.catalog.links import Link
from treaty.catalog.source import Source
from treaty.catalog.svg.graph_figure import Edge, Figure, Node, Row, compose
from treaty.contracts.versions import parse_line
from treaty.observability.health import HEALTH_RANKS, Health
from treaty.registry.model import (
    DomainAnswer,
    DomainEdgeAnswer,
    DomainsAnswer,
    LayoutAnswer,
    LayoutEdgeAnswer,
    LayoutNodeAnswer,
)

TIERS = {
    "product": "data product",
    "edge": "edge contract",
    "domain": "domain policy",
    "enterprise": "enterprise policy",
}
STATES = {
    "active": "healthy",
    "draft": "none",
    "deprecated": "warning",
    "sunset": "warning",
    "retired": "failing",
    "archived": "failing",
}
MAX_NODES, MAX_EDGES = 120, 360
"""Limits of a graph. Larger graphs are unreadable and slow to lay out."""

MAX_FIELD_ROWS = 40
NO_DOMAIN = "without a domain"
_MAX_FIELD_EDGES = 400
_MAX_LINEAGE_NODES = 60
_MAX_DOMAINS, _MAX_DOMAIN_EDGES = 80, 160
_WORST_LAST = ("healthy", "none", "warning", "failing")
_EDGE_LABELS = {"reads": "uses", "made_from": "is made from", "published_by": "is published by"}


class NodesAndEdges(NamedTuple):
    """Nodes and the edges between them."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]


def map_to_graph(answer: LayoutAnswer) -> NodesAndEdges:
    """Return the lines and consumers of a map as a graph, with one edge per connected pair."""
    edges = _merge_edges(answer)
    origins = set(answer.origins)
    hidden_edges = {node.id: node.degree for node in answer.nodes}
    for edge in answer.edges:
        hidden_edges[edge.upstream] -= 1
        hidden_edges[edge.downstream] -= 1
    lines = {node.id: node for node in answer.nodes if node.kind == "line"}
    nodes = (
        _line_node(node, node.id in origins)
        if node.kind == "line"
        else _consumer_node(
            node, node.id in origins, [lines[e.tail] for e in edges if e.head == node.id and e.tail in lines]
        )
        for node in answer.nodes
    )
    return NodesAndEdges(tuple(replace(node, hidden_edges=hidden_edges[node.id]) for node in nodes), edges)


def split_isolated(answer: LayoutAnswer) -> tuple[NodesAndEdges, tuple[Node, ...]]:
    """Return the graph of a map without isolated nodes, and the isolated nodes."""
    graph = map_to_graph(answer)
    isolated = {node.id for node in answer.nodes if not node.degree}
    connected = tuple(node for node in graph.nodes if node.id not in isolated)
    return NodesAndEdges(connected, graph.edges), tuple(node for node in graph.nodes if node.id in isolated)


def limit_size(graph: NodesAndEdges, max_nodes: int, max_edges: int) -> tuple[NodesAndEdges, int]:
    """Keep the first nodes within both limits, and return how many nodes were dropped."""
    rank = {node.id: position for position, node in enumerate(graph.nodes)}
    last = sorted(max(rank[edge.tail], rank[edge.head]) for edge in graph.edges)
    limit = min(max_nodes, last[max_edges]) if len(last) > max_edges else max_nodes
    nodes = graph.nodes[: max(limit, 1)]
    ids = {node.id for node in nodes}
    edges = tuple(edge for edge in graph.edges if edge.tail in ids and edge.head in ids)
    return NodesAndEdges(nodes, edges[:max_edges]), len(graph.nodes) - len(nodes)


def contract_lineage(source: Source, contract_id: str, hops: int = 1) -> Figure:
    """Return the graph of the sources, consumers and downstream contracts of a contract."""
    answer = source.consumers.layout(contract_id, hops=hops, limit=_MAX_LINEAGE_NODES)
    graph, dropped = limit_size(map_to_graph(answer), _MAX_LINEAGE_NODES, MAX_EDGES)
    return compose(f"Dependencies around {contract_id}", *graph, omitted=describe_omitted(answer.more + dropped))


def describe_omitted(count: int) -> str | None:
    """Return a note about nodes that are not shown, or None if there are none."""
    return f"{pluralize(count, 'more node')} not shown; the nearest are shown." if count else None


def domain_graph(answer: DomainsAnswer) -> Figure:
    """Return the graph of domains and the dependencies between them. Only the largest are shown if there are many."""
    domains = answer.domains[:_MAX_DOMAINS]
    names = {domain.name for domain in domains}
    edges = [edge for edge in answer.edges if edge.upstream in names and edge.downstream in names]
    strongest = sorted(edges, key=lambda edge: -edge.count)[:_MAX_DOMAIN_EDGES]
    omitted = _omitted_domains(answer.more + len(answer.domains) - len(domains), len(edges) - len(strongest))
    return compose(
        "Domains and their dependencies",
        [_domain_node(domain) for domain in domains],
        [_domain_edge(edge) for edge in strongest],
        omitted=omitted,
    )


def expand_fields(
    graph: NodesAndEdges, node_id: str, fields: Mapping[str, Link], other_fields: Link
) -> tuple[NodesAndEdges, list[Edge]]:
    """Show the fields of one node as rows, and return the graph and the edges to draw.

    Only used fields have a row; the last row counts the others. An edge starts at the heading if the fields are
    not known or if there are too many edges.
    """
    graph = _restrict_to_paths_through(graph, node_id)
    consumers = Counter(field for edge in graph.edges if edge.tail == node_id for field in edge.fields)
    names = [*fields, *(field for field in consumers if field not in fields)]
    used = [field for field in names if consumers[field]]
    row_of = {field: position for position, field in enumerate(used[:MAX_FIELD_ROWS])}
    rows = [Row(name, consumers[name], fields.get(name, other_fields)) for name in row_of]
    if len(names) > len(rows):
        label = _other_fields_label(len(names) - len(rows), bool(rows), len(used) > MAX_FIELD_ROWS)
        rows.append(Row(label, 0, other_fields))
    nodes = tuple(replace(node, rows=tuple(rows)) if node.id == node_id else node for node in graph.nodes)
    edges: list[Edge] = []
    for edge in graph.edges:
        edges += _field_edges(edge, row_of) if edge.tail == node_id and len(edges) < _MAX_FIELD_EDGES else [edge]
    return NodesAndEdges(nodes, graph.edges), edges


def _line_node(node: LayoutNodeAnswer, is_origin: bool) -> Node:
    what = TIERS.get(node.tier or "", "contract") if node.status else "not registered"
    version = node.version or f"line {parse_line(node.name).major}"
    status = [node.status] if node.status and node.status != "active" else []
    title = f"{node.title}, {node.name}" if node.title else node.name
    details = [
        title,
        what,
        f"version {node.version}" if node.version else version,
        *([node.status] if node.status else []),
        *([f"owned by {node.team}"] if node.team else []),
        *([format_health(node.health, node.cause)] if node.health else []),
    ]
    return Node(
        id=node.id,
        kind="line",
        name=node.name,
        heading=node.title or node.contract or node.name,
        note=" · ".join((what, version, *status)),
        description=", ".join(details),
        link=links.contract(node.contract) if node.status and node.contract else links.graph(node.name),
        state=STATES.get(node.status or "", "none"),
        health=node.health or "none",
        is_origin=is_origin,
    )


def _consumer_node(node: LayoutNodeAnswer, is_origin: bool, lines: Collection[LayoutNodeAnswer]) -> Node:
    states = [STATES.get(line.status or "", "none") for line in lines]
    worst = max(states, key=_WORST_LAST.index, default="healthy")
    uses_ending_line = worst in ("warning", "failing")
    team = [f"of {node.team}"] if node.team else []
    warning = ["uses a line that is deprecated or retired"] if uses_ending_line else []
    health = max((Health(line.health) for line in lines if line.health), key=HEALTH_RANKS.__getitem__, default=None)
    is_hit = health in (Health.FAILING, Health.BLOCKED)
    warning += [f"uses a line that is {health}"] if is_hit else []
    return Node(
        id=node.id,
        kind="consumer",
        name=node.name,
        heading=node.name,
        note=" · ".join(("consumer", *([node.team] if node.team else []))),
        description=", ".join((node.name, " ".join(("consumer", *team)), *warning)),
        link=links.graph(node.name),
        state=worst if uses_ending_line else None,
        health=health if is_hit else None,
        is_origin=is_origin,
    )


def _merge_edges(answer: LayoutAnswer) -> tuple[Edge, ...]:
    """Return one edge per connected pair of nodes, with the fields of all dependencies between them."""
    by_ends: dict[tuple[str, str], list[LayoutEdgeAnswer]] = {}
    for edge in answer.edges:
        by_ends.setdefault((edge.upstream, edge.downstream), []).append(edge)
    names = {node.id: node.name for node in answer.nodes}
    return tuple(_map_edge(edges, names[ends[0]], names[ends[1]]) for ends, edges in by_ends.items())


def _map_edge(edges: list[LayoutEdgeAnswer], upstream: str, downstream: str) -> Edge:
    first = edges[0]
    fields = tuple(dict.fromkeys(_all_fields(edges))) if all(edge.fields for edge in edges) else ()
    label = f"{downstream} {_EDGE_LABELS[first.kind]} {upstream}"
    count = f": {pluralize(len(fields), 'field')}" if fields else ""
    return Edge(first.upstream, first.downstream, first.kind, fields, label=label + count)


def _all_fields(edges: Iterable[LayoutEdgeAnswer]) -> Iterable[str]:
    return (field for edge in edges for field in edge.fields)


def _restrict_to_paths_through(graph: NodesAndEdges, node_id: str) -> NodesAndEdges:
    """Drop nodes and edges that are neither upstream nor downstream of a node."""
    downstream: dict[str, list[str]] = {}
    upstream: dict[str, list[str]] = {}
    for edge in graph.edges:
        downstream.setdefault(edge.tail, []).append(edge.head)
        upstream.setdefault(edge.head, []).append(edge.tail)
    sides = [_reachable(downstream, node_id), _reachable(upstream, node_id)]
    edges = tuple(edge for edge in graph.edges if any(edge.tail in side and edge.head in side for side in sides))
    dropped = Counter(end for edge in graph.edges if edge not in edges for end in (edge.tail, edge.head))
    nodes = (node for node in graph.nodes if any(node.id in side for side in sides))
    return NodesAndEdges(tuple(replace(n, hidden_edges=n.hidden_edges + dropped[n.id]) for n in nodes), edges)


def _reachable(neighbors: Mapping[str, list[str]], start: str) -> set[str]:
    seen = {start}
    queue = [start]
    while queue:
        new = set(neighbors.get(queue.pop(), ())) - seen
        seen |= new
        queue += new
    return seen


def _other_fields_label(count: int, has_rows: bool, are_used: bool) -> str:
    """Return the label of the row for fields without a row of their own, nested fields included."""
    label = f"{count} more" if has_rows else pluralize(count, "field")
    return label if are_used else f"{label}, not used"


def _field_edges(edge: Edge, row_of: Mapping[str, int]) -> list[Edge]:
    fields = [field for field in edge.fields if field in row_of]
    rest = [] if fields and len(fields) == len(edge.fields) else [edge]
    return [replace(edge, row=row_of[field], label=f"{edge.label}: {field}") for field in fields] + rest


def _omitted_domains(domains: int, edges: int) -> str | None:
    counts = [pluralize(count, noun) for count, noun in ((domains, "smaller domain"), (edges, "weaker edge")) if count]
    return f"Not shown: {' and '.join(counts)}." if counts else None


def _domain_node(domain: DomainAnswer) -> Node:
    note = f"{pluralize(domain.lines, 'line')} · {pluralize(domain.consumers, 'consumer')}"
    return Node(
        id=domain.name or "",
        kind="domain",
        name=domain.name or NO_DOMAIN,
        heading=domain.name or NO_DOMAIN,
        note=note,
        description=f"domain {domain.name}: {note}" if domain.name else f"{NO_DOMAIN}: {note}",
        link=links.domain(domain.name),
    )


def _domain_edge(edge: DomainEdgeAnswer) -> Edge:
    label = pluralize(edge.count, "dependency", "dependencies")
    return Edge(edge.upstream or "", edge.downstream or "", "crosses", label=label)
