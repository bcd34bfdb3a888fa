"""Lines and consumers as boxes: what they are called, what they are, and where they stand in their life."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import NamedTuple

from treaty.catalog import places, words
from treaty.catalog.drawing.pieces import Piece, Tie
from treaty.registry.answers import MapAnswer, MapEdgeAnswer, MapNodeAnswer

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


class Parties(NamedTuple):
    """Boxes and arrows between them."""

    pieces: tuple[Piece, ...]
    ties: tuple[Tie, ...]


def parties(answer: MapAnswer) -> Parties:
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
    return Parties(tuple(replace(piece, unseen=unseen[piece.id]) for piece in pieces), ties)


def apart(answer: MapAnswer) -> tuple[Parties, tuple[Piece, ...]]:
    """Return boxes and arrows, and beside them the boxes of whom no dependence is known."""
    found = parties(answer)
    alone = {node.id for node in answer.nodes if not node.degree}
    within = tuple(piece for piece in found.pieces if piece.id not in alone)
    return Parties(within, found.ties), tuple(piece for piece in found.pieces if piece.id in alone)


def bounded(found: Parties, boxes: int, arrows: int) -> tuple[Parties, int]:
    """Keep the first boxes, as many as can be drawn with their arrows, and say how many are left out."""
    rank = {piece.id: position for position, piece in enumerate(found.pieces)}
    last = sorted(max(rank[tie.tail], rank[tie.head]) for tie in found.ties)
    most = min(boxes, last[arrows]) if len(last) > arrows else boxes
    kept = found.pieces[: max(most, 1)]
    ids = {piece.id for piece in kept}
    ties = tuple(tie for tie in found.ties if tie.tail in ids and tie.head in ids)
    return Parties(kept, ties[:arrows]), len(found.pieces) - len(kept)


def _line(node: MapNodeAnswer, is_origin: bool) -> Piece:
    what = TIERS.get(node.tier or "", "contract") if node.status else "not registered here"
    version = node.version or f"line {node.name.rpartition('@')[2]}"
    status = [node.status] if node.status and node.status != "active" else []
    team = [f"owned by {node.team}"] if node.team else []
    title = f"{node.title}, {node.name}" if node.title else node.name
    return Piece(
        id=node.id,
        kind="line",
        name=node.name,
        heading=node.title or node.contract or node.name,
        note=" · ".join((what, version, *status)),
        words=", ".join((title, what, f"version {node.version}" if node.version else version, *_said(node), *team)),
        place=places.contract(node.contract) if node.status and node.contract else places.graph(node.name),
        state=STATES.get(node.status or "", "none"),
        is_origin=is_origin,
    )


def _consumer(node: MapNodeAnswer, is_origin: bool, reads: Collection[str | None]) -> Piece:
    states = [STATES.get(status or "", "none") for status in reads]
    worst = max(states, key=_WORST_LAST.index, default="healthy")
    warned = worst in ("warning", "failing")
    team = [f"of {node.team}"] if node.team else []
    warning = ["reads a line that goes away"] if warned else []
    return Piece(
        id=node.id,
        kind="consumer",
        name=node.name,
        heading=node.name,
        note=" · ".join(("consumer", *([node.team] if node.team else []))),
        words=", ".join((node.name, " ".join(("consumer", *team)), *warning)),
        place=places.graph(node.name),
        state=worst if warned else None,
        is_origin=is_origin,
    )


def _said(node: MapNodeAnswer) -> list[str]:
    return [node.status] if node.status else []


def _ties(answer: MapAnswer) -> tuple[Tie, ...]:
    """Return one arrow for each two nodes, with all fields that any dependence between them names."""
    together: dict[tuple[str, str], list[MapEdgeAnswer]] = {}
    for edge in answer.edges:
        together.setdefault((edge.upstream, edge.downstream), []).append(edge)
    names = {node.id: node.name for node in answer.nodes}
    return tuple(_tie(edges, names[ends[0]], names[ends[1]]) for ends, edges in together.items())


def _tie(edges: list[MapEdgeAnswer], upstream: str, downstream: str) -> Tie:
    first = edges[0]
    known = all(edge.fields for edge in edges)
    fields = tuple(dict.fromkeys(_all_fields(edges))) if known else ()
    said = f"{downstream} {_SAYING[first.kind]} {upstream}"
    some = f": {words.counted(len(fields), 'field')}" if fields else ""
    return Tie(first.upstream, first.downstream, first.kind, fields, words=said + some)


def _all_fields(edges: Iterable[MapEdgeAnswer]) -> Iterable[str]:
    return (field for edge in edges for field in edge.fields)
