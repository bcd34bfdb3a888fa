"""Lines and consumers as boxes: what they are called, what they are, and where they stand in their life."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import NamedTuple

from treaty.catalog import formatting, links
from treaty.catalog.formatting import pluralize
from treaty.catalog.links import Link
from treaty.catalog.source import Source
from treaty.catalog.svg.graph_figure import Edge, Figure, Node, Row, compose
from treaty.registry.model import (
    DomainAnswer,
    DomainEdgeAnswer,
    DomainsAnswer,
    MapAnswer,
    MapEdgeAnswer,
    MapNodeAnswer,
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
_WORST_LAST = ("healthy", "none", "warning", "failing")
_SAYING = {"reads": "reads", "made_from": "is made from", "published_by": "is published by"}


class NodesAndEdges(NamedTuple):
    """Boxes and arrows between them."""

    pieces: tuple[Node, ...]
    ties: tuple[Edge, ...]


def map_to_graph(answer: MapAnswer) -> NodesAndEdges:
    """Return the nodes and edges of a map as boxes and arrows."""
    ties = _ties(answer)
    origins = set(answer.origins)
    unseen = {node.id: node.degree for node in answer.nodes}
    for edge in answer.edges:
        unseen[edge.upstream] -= 1
        unseen[edge.downstream] -= 1
    statuses = {node.id: node.status for node in answer.nodes if node.kind == "line"}
    pieces = (
        _line(node, node.id in origins)
        if node.kind == "line"
        else _consumer(node, node.id in origins, [statuses.get(tie.tail) for tie in ties if tie.head == node.id])
        for node in answer.nodes
    )
    return NodesAndEdges(tuple(replace(piece, unseen=unseen[piece.id]) for piece in pieces), ties)


def split_isolated(answer: MapAnswer) -> tuple[NodesAndEdges, tuple[Node, ...]]:
    """Return boxes and arrows, and beside them the boxes of whom no dependence is known."""
    found = map_to_graph(answer)
    alone = {node.id for node in answer.nodes if not node.degree}
    within = tuple(piece for piece in found.pieces if piece.id not in alone)
    return NodesAndEdges(within, found.ties), tuple(piece for piece in found.pieces if piece.id in alone)


def limit_size(found: NodesAndEdges, boxes: int, arrows: int) -> tuple[NodesAndEdges, int]:
    """Keep the first boxes, as many as can be drawn with their arrows, and say how many are left out."""
    rank = {piece.id: position for position, piece in enumerate(found.pieces)}
    last = sorted(max(rank[tie.tail], rank[tie.head]) for tie in found.ties)
    most = min(boxes, last[arrows]) if len(last) > arrows else boxes
    kept = found.pieces[: max(most, 1)]
    ids = {piece.id for piece in kept}
    ties = tuple(tie for tie in found.ties if tie.tail in ids and tie.head in ids)
    return NodesAndEdges(kept, ties[:arrows]), len(found.pieces) - len(kept)


def _line(node: MapNodeAnswer, is_origin: bool) -> Node:
    what = TIERS.get(node.tier or "", "contract") if node.status else "not registered here"
    version = node.version or f"line {node.name.rpartition('@')[2]}"
    status = [node.status] if node.status and node.status != "active" else []
    team = [f"owned by {node.team}"] if node.team else []
    title = f"{node.title}, {node.name}" if node.title else node.name
    return Node(
        id=node.id,
        kind="line",
        name=node.name,
        heading=node.title or node.contract or node.name,
        note=" · ".join((what, version, *status)),
        words=", ".join((title, what, f"version {node.version}" if node.version else version, *_said(node), *team)),
        place=links.contract(node.contract) if node.status and node.contract else links.graph(node.name),
        state=STATES.get(node.status or "", "none"),
        is_origin=is_origin,
    )


def _consumer(node: MapNodeAnswer, is_origin: bool, reads: Collection[str | None]) -> Node:
    states = [STATES.get(status or "", "none") for status in reads]
    worst = max(states, key=_WORST_LAST.index, default="healthy")
    warned = worst in ("warning", "failing")
    team = [f"of {node.team}"] if node.team else []
    warning = ["reads a line that goes away"] if warned else []
    return Node(
        id=node.id,
        kind="consumer",
        name=node.name,
        heading=node.name,
        note=" · ".join(("consumer", *([node.team] if node.team else []))),
        words=", ".join((node.name, " ".join(("consumer", *team)), *warning)),
        place=links.graph(node.name),
        state=worst if warned else None,
        is_origin=is_origin,
    )


def _said(node: MapNodeAnswer) -> list[str]:
    return [node.status] if node.status else []


def _ties(answer: MapAnswer) -> tuple[Edge, ...]:
    """Return one arrow for each two nodes, with all fields that any dependence between them names."""
    together: dict[tuple[str, str], list[MapEdgeAnswer]] = {}
    for edge in answer.edges:
        together.setdefault((edge.upstream, edge.downstream), []).append(edge)
    names = {node.id: node.name for node in answer.nodes}
    return tuple(_tie(edges, names[ends[0]], names[ends[1]]) for ends, edges in together.items())


def _tie(edges: list[MapEdgeAnswer], upstream: str, downstream: str) -> Edge:
    first = edges[0]
    known = all(edge.fields for edge in edges)
    fields = tuple(dict.fromkeys(_all_fields(edges))) if known else ()
    said = f"{downstream} {_SAYING[first.kind]} {upstream}"
    some = f": {formatting.pluralize(len(fields), 'field')}" if fields else ""
    return Edge(first.upstream, first.downstream, first.kind, fields, words=said + some)


def _all_fields(edges: Iterable[MapEdgeAnswer]) -> Iterable[str]:
    return (field for edge in edges for field in edge.fields)


MOST_ROWS = 40
_MOST_ARROWS = 400


def expand_fields(
    found: NodesAndEdges, opened_id: str, fields: Mapping[str, Link], elsewhere: Link
) -> tuple[NodesAndEdges, list[Edge]]:
    """Return the parties with one of them opened, and the arrows that this makes.

    Fields that somebody reads have a row; how many others there are stands in the last one. An arrow begins at the
    heading where it is unknown which fields are read, or where there are too many.
    """
    found = _before_and_after(found, opened_id)
    readers = Counter(field for tie in found.ties if tie.tail == opened_id for field in tie.fields)
    order = [*fields, *(field for field in readers if field not in fields)]
    read = [field for field in order if readers[field]]
    number = {field: position for position, field in enumerate(read[:MOST_ROWS])}
    rows = [Row(name, readers[name], fields.get(name, elsewhere)) for name in number]
    if len(order) > len(rows):
        rows.append(Row(_others(len(order) - len(rows), bool(rows), len(read) > MOST_ROWS), 0, elsewhere))
    pieces = tuple(replace(piece, rows=tuple(rows)) if piece.id == opened_id else piece for piece in found.pieces)
    arrows: list[Edge] = []
    for tie in found.ties:
        arrows += _from_rows(tie, number) if tie.tail == opened_id and len(arrows) < _MOST_ARROWS else [tie]
    return NodesAndEdges(pieces, found.ties), arrows


def _before_and_after(found: NodesAndEdges, middle: str) -> NodesAndEdges:
    """Leave out what goes past the opened box: its fields are in question, not the ways around it."""
    onward: dict[str, list[str]] = {}
    back: dict[str, list[str]] = {}
    for tie in found.ties:
        onward.setdefault(tie.tail, []).append(tie.head)
        back.setdefault(tie.head, []).append(tie.tail)
    sides = [_reached(onward, middle), _reached(back, middle)]
    ties = tuple(tie for tie in found.ties if any(tie.tail in side and tie.head in side for side in sides))
    past = Counter(end for tie in found.ties if tie not in ties for end in (tie.tail, tie.head))
    pieces = (piece for piece in found.pieces if any(piece.id in side for side in sides))
    return NodesAndEdges(tuple(replace(piece, unseen=piece.unseen + past[piece.id]) for piece in pieces), ties)


def _reached(ways: Mapping[str, list[str]], start: str) -> set[str]:
    seen = {start}
    waiting = [start]
    while waiting:
        new = set(ways.get(waiting.pop(), ())) - seen
        seen |= new
        waiting += new
    return seen


def _others(number: int, is_rest: bool, are_read: bool) -> str:
    """Say how many fields have no row; nested ones count, too."""
    said = f"{number} more" if is_rest else pluralize(number, "field")
    return said if are_read else f"{said}, read by none"


def _from_rows(tie: Edge, number: Mapping[str, int]) -> list[Edge]:
    known = [field for field in tie.fields if field in number]
    rest = [] if known and len(known) == len(tie.fields) else [tie]
    return [replace(tie, row=number[field], words=f"{tie.words}: {field}") for field in known] + rest


NO_DOMAIN = "without a domain"
_BOXES, _ARROWS = 80, 160


def domain_graph(answer: DomainsAnswer) -> Figure:
    """Draw domains and what goes from one to another; the largest where there are many."""
    domains = answer.domains[:_BOXES]
    names = {one.name for one in domains}
    edges = [one for one in answer.edges if one.upstream in names and one.downstream in names]
    strongest = sorted(edges, key=lambda one: -one.count)[:_ARROWS]
    left_out = _left_out(answer.more + len(answer.domains) - len(domains), len(edges) - len(strongest))
    label = "Domains and what goes between them"
    return compose(label, [_piece(one) for one in domains], [_tie_domains(one) for one in strongest], left_out=left_out)


def _left_out(domains: int, arrows: int) -> str | None:
    said = [
        pluralize(number, noun) for number, noun in ((domains, "smaller domain"), (arrows, "thinner arrow")) if number
    ]
    return f"Not drawn: {' and '.join(said)}." if said else None


def _piece(one: DomainAnswer) -> Node:
    note = f"{pluralize(one.lines, 'line')} · {pluralize(one.consumers, 'consumer')}"
    return Node(
        id=one.name or "",
        kind="domain",
        name=one.name or NO_DOMAIN,
        heading=one.name or NO_DOMAIN,
        note=note,
        words=f"domain {one.name}: {note}" if one.name else f"{NO_DOMAIN}: {note}",
        place=links.domain(one.name),
    )


def _tie_domains(one: DomainEdgeAnswer) -> Edge:
    return Edge(one.upstream or "", one.downstream or "", "crosses", words=pluralize(one.count, "dependence"))


BOXES, ARROWS = 120, 360
"""The most that is drawn: beyond that a picture shows nothing any more, and takes long to lay out."""

_BOXES_OF_ONE = 60


def contract_lineage(source: Source, contract_id: str, hops: int = 1) -> Figure:
    """Draw what a contract is made from, and who rests on it, the nearest first."""
    answer = source.consumers.map(contract_id, hops=hops, limit=_BOXES_OF_ONE)
    found, cut = limit_size(map_to_graph(answer), _BOXES_OF_ONE, ARROWS)
    return compose(f"Dependencies around {contract_id}", *found, left_out=describe_omitted(answer.more + cut))


def describe_omitted(more: int) -> str | None:
    """Say what was left out."""
    if not more:
        return None
    return f"{pluralize(more, 'box', 'boxes')} more {'is' if more == 1 else 'are'} not drawn; the nearest are."
