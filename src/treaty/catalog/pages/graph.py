"""The graph: whole, of a domain, or around a line, contract or consumer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from treaty.catalog import links
from treaty.catalog.formatting import pluralize
from treaty.catalog.links import Link
from treaty.catalog.pages.contract.contract_data import parse_contract
from treaty.catalog.pages.contract.schema_tree import anchor_of, field_paths
from treaty.catalog.rendering import Page
from treaty.catalog.source import Source, iterate_pages
from treaty.catalog.svg.graph_figure import Figure, compose
from treaty.catalog.svg.graph_nodes import (
    ARROWS,
    BOXES,
    NO_DOMAIN,
    NodesAndEdges,
    describe_omitted,
    domain_graph,
    expand_fields,
    limit_size,
    map_to_graph,
    split_isolated,
)
from treaty.errors import NotFound
from treaty.registry.model import MapAnswer, MapNodeAnswer

ASSETS = ("graph.css", "graph.js")
HOPS = (1, 2, 3, 4)
DEFAULT_HOPS = 2
DIRECTIONS = {"both": "both ways", "upstream": "what it rests on", "downstream": "whom it carries"}


@dataclass(frozen=True)
class GraphOptions:
    """How somebody wants to see the graph around something."""

    hops: int = DEFAULT_HOPS
    direction: str = "both"
    columns: str | None = None


def graph_page(source: Source) -> Page:
    """Return the whole graph; one that is too large to be drawn is drawn by domain."""
    answer = source.consumers.map(limit=BOXES)
    found, alone = split_isolated(answer)
    if answer.more and not alone:
        domains = source.consumers.domains()
        if len(domains.domains) > 1:
            return _page(links.graph(), "Graph", domain_graph(domains), is_by_domain=True)
    drawing = _drawn(found, "All contracts and consumers", 0 if alone else answer.more)
    return _page(links.graph(), "Graph", drawing, alone=alone, alone_more=answer.more if alone else 0)


def domain_page(source: Source, name: str | None) -> Page:
    """Return the graph of a domain, with everybody one step away from it."""
    answer = source.consumers.map(domain=name or "", limit=BOXES)
    if not answer.nodes:
        raise NotFound(f"no contract belongs to the domain {name!r}; see the graph of all: treaty search finds domains")
    found, alone = split_isolated(answer)
    title = f"Domain {name}" if name else f"Contracts {NO_DOMAIN}"
    drawing = _drawn(found, title, 0 if alone else answer.more)
    more = answer.more if alone else 0
    return _page(links.domain(name), title, drawing, alone=alone, alone_more=more, domain=name or NO_DOMAIN)


def around_page(source: Source, name: str, asked: GraphOptions | None = None) -> Page:
    """Return what stands around a line, contract or consumer; on demand one line shows its fields."""
    asked = asked or GraphOptions()
    answer = source.consumers.map(name, hops=asked.hops, direction=asked.direction, limit=BOXES)
    found, cut = limit_size(map_to_graph(answer), BOXES, ARROWS)
    origin = next(node for node in answer.nodes if node.id in answer.origins)
    arrows = None
    if asked.columns:
        line = _line(answer, asked.columns)
        found, arrows = expand_fields(found, line.id, _fields(source, line), links.contract(line.contract or ""))
    label = f"Dependencies around {origin.title or name}"
    drawing = compose(label, *found, arrows=arrows, left_out=describe_omitted(answer.more + cut))
    return _page(
        links.graph(name),
        f"Graph around {origin.title or name}",
        drawing,
        name=name,
        origin=origin,
        asked=asked,
        lines=[node.name for node in answer.nodes if node.kind == "line" and node.status],
    )


def wide_pages(source: Source) -> Iterator[Page]:
    """Return the pages of the whole graph that a static site needs: those of domains only if it is drawn by them."""
    whole = graph_page(source)
    yield whole
    if whole.values["is_by_domain"]:
        for domain in source.consumers.domains().domains:
            yield domain_page(source, domain.name)


def graph_names(source: Source) -> Iterator[str]:
    """Return what has a graph of its own: contracts, consumers, and lines that others merely speak of."""
    contracts = dict.fromkeys(iterate_pages(lambda cursor, limit: source.datasets(cursor=cursor, limit=limit)))
    yield from contracts
    listed = iterate_pages(lambda cursor, limit: source.consumers.subscriptions(cursor=cursor, limit=limit))
    yield from dict.fromkeys(one.consumer for one in listed if one.consumer not in contracts)
    unknown = {
        node.name
        for name in contracts
        for node in source.consumers.map(name, hops=1, direction="upstream", limit=1_000).nodes
        if node.kind == "line" and not node.status
    }
    yield from sorted(unknown)


def _drawn(found: NodesAndEdges, label: str, more: int) -> Figure:
    kept, cut = limit_size(found, BOXES, ARROWS)
    left_out = (
        f"{pluralize(more + cut, 'box', 'boxes')} more not drawn: these are the most connected." if more + cut else None
    )
    return compose(label, *kept, left_out=left_out)


def _line(answer: MapAnswer, name: str) -> MapNodeAnswer:
    found = next((node for node in answer.nodes if node.kind == "line" and node.name == name and node.version), None)
    if found is None:
        raise NotFound(f"{name[:80]!r} is not in this part of the graph; choose a line that is, or more hops")
    return found


def _fields(source: Source, line: MapNodeAnswer) -> dict[str, Link]:
    """Return the fields of a line with where they are explained; nested ones only where somebody names them."""
    contract = parse_contract(source.get(line.contract or "", line.version or ""))
    return {path: links.contract(contract.id, anchor=anchor_of(path)) for path in field_paths(contract)}


def _page(place: Link, title: str, drawing: Figure, **values: object) -> Page:
    unless_said: dict[str, object] = {
        "name": None,
        "origin": None,
        "asked": None,
        "lines": (),
        "alone": (),
        "domain": None,
    }
    defaults = {**unless_said, "alone_more": 0, "is_by_domain": False, "hops": HOPS, "directions": DIRECTIONS}
    return Page(place, "graph/graph.html", title, "graph", {"drawing": drawing, **defaults, **values}, ASSETS)
