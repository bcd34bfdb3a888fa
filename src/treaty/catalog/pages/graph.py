"""The graph: of everything, of a domain, or around a line, contract or consumer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

from treaty.catalog import links
from treaty.catalog.formatting import pluralize
from treaty.catalog.links import Link
from treaty.catalog.pages.contract.contract_data import parse_contract
from treaty.catalog.pages.contract.schema_tree import field_anchor, field_paths
from treaty.catalog.rendering import Page
from treaty.catalog.source import Source, iterate_pages
from treaty.catalog.svg.graph_figure import Figure, compose
from treaty.catalog.svg.graph_nodes import (
    MAX_EDGES,
    MAX_NODES,
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
from treaty.registry.model import LayoutAnswer, LayoutNodeAnswer

ASSETS = ("graph.css", "graph.js")
HOPS = (1, 2, 3, 4)
DEFAULT_HOPS = 2
COLORS = ("lifecycle", "health")
DIRECTIONS = {"both": "Both", "upstream": "Upstream", "downstream": "Downstream"}


@dataclass(frozen=True)
class GraphOptions:
    """Options of the graph around a node."""

    hops: int = DEFAULT_HOPS
    direction: str = "both"
    columns: str | None = None
    """The line whose fields are shown."""
    colors: str = "lifecycle"
    """What the icons show first, one of `COLORS`; the page lets people switch."""


def graph_page(source: Source, colors: str = "lifecycle") -> Page:
    """Return the full graph, or the graph of domains if the full one is too large. `colors` is one of `COLORS`."""
    answer = source.consumers.layout(limit=MAX_NODES)
    graph, isolated = split_isolated(answer)
    if answer.more and not isolated:
        domains = source.consumers.domains()
        if len(domains.domains) > 1:
            return _page(links.graph(), "Graph", domain_graph(domains), is_by_domain=True)
    figure = _limited_figure(graph, "All contracts and consumers", 0 if isolated else answer.more)
    more = answer.more if isolated else 0
    return _page(links.graph(), "Graph", figure, isolated=isolated, isolated_more=more, colors=colors)


def domain_page(source: Source, name: str | None) -> Page:
    """Return the graph of a domain and its direct neighbors."""
    answer = source.consumers.layout(domain=name or "", limit=MAX_NODES)
    if not answer.nodes:
        raise NotFound(f"no contract belongs to the domain {name!r}")
    graph, isolated = split_isolated(answer)
    title = f"Domain {name}" if name else f"Contracts {NO_DOMAIN}"
    figure = _limited_figure(graph, title, 0 if isolated else answer.more)
    more = answer.more if isolated else 0
    return _page(links.domain(name), title, figure, isolated=isolated, isolated_more=more, domain=name or NO_DOMAIN)


def around_page(source: Source, name: str, options: GraphOptions | None = None) -> Page:
    """Return the graph around a line, contract or consumer, optionally with the fields of one line."""
    options = options or GraphOptions()
    answer = source.consumers.layout(name, hops=options.hops, direction=options.direction, limit=MAX_NODES)
    graph, dropped = limit_size(map_to_graph(answer), MAX_NODES, MAX_EDGES)
    origin = next(node for node in answer.nodes if node.id in answer.origins)
    arrows = None
    if options.columns:
        line = _find_line(answer, options.columns)
        graph, arrows = expand_fields(graph, line.id, _field_links(source, line), links.contract(line.contract or ""))
    label = f"Dependencies around {origin.title or name}"
    figure = compose(label, *graph, arrows=arrows, omitted=describe_omitted(answer.more + dropped))
    return _page(
        links.graph(name),
        f"Graph around {origin.title or name}",
        figure,
        name=name,
        origin=origin,
        options=options,
        colors=options.colors,
        lines=[node.name for node in answer.nodes if node.kind == "line" and node.status],
    )


def static_graph_pages(source: Source) -> Iterator[Page]:
    """Return the pages of the full graph in a static site: one, or one for each domain if the graph is too large."""
    page = graph_page(source)
    yield page
    if page.values["is_by_domain"]:
        for domain in source.consumers.domains().domains:
            yield domain_page(source, domain.name)


def graph_names(source: Source) -> Iterator[str]:
    """Return the names that have a graph page: contracts, consumers, and sources that are not registered."""
    contracts = dict.fromkeys(iterate_pages(lambda cursor, limit: source.datasets(cursor=cursor, limit=limit)))
    yield from contracts
    subscriptions = iterate_pages(lambda cursor, limit: source.consumers.subscriptions(cursor=cursor, limit=limit))
    readers = iterate_pages(lambda cursor, limit: source.lineage.usage(cursor=cursor, limit=limit))
    consumers = chain((one.consumer for one in subscriptions), (one.consumer for one in readers))
    yield from dict.fromkeys(consumer for consumer in consumers if consumer not in contracts)
    unregistered = {
        node.name
        for name in contracts
        for node in source.consumers.layout(name, hops=1, direction="upstream", limit=1_000).nodes
        if node.kind == "line" and not node.status
    }
    yield from sorted(unregistered)


def _limited_figure(graph: NodesAndEdges, label: str, more: int) -> Figure:
    limited, dropped = limit_size(graph, MAX_NODES, MAX_EDGES)
    count = more + dropped
    omitted = f"{pluralize(count, 'more node')} not shown; the most connected are shown." if count else None
    return compose(label, *limited, omitted=omitted)


def _find_line(answer: LayoutAnswer, name: str) -> LayoutNodeAnswer:
    line = next((node for node in answer.nodes if node.kind == "line" and node.name == name and node.version), None)
    if line is None:
        raise NotFound(f"{name[:80]!r} is not in this part of the graph; choose another line or more hops")
    return line


def _field_links(source: Source, line: LayoutNodeAnswer) -> dict[str, Link]:
    """Return the fields of a line, each with the link to its row on the contract page."""
    contract = parse_contract(source.get(line.contract or "", line.version or ""))
    return {path: links.contract(contract.id, anchor=field_anchor(path)) for path in field_paths(contract)}


def _page(link: Link, title: str, figure: Figure, **values: object) -> Page:
    defaults: dict[str, object] = {
        "name": None,
        "origin": None,
        "options": None,
        "lines": (),
        "isolated": (),
        "isolated_more": 0,
        "domain": None,
        "is_by_domain": False,
        "colors": "lifecycle",
        "hops": HOPS,
        "directions": DIRECTIONS,
    }
    return Page(link, "graph/graph.html", title, "graph", {"figure": figure, **defaults, **values}, ASSETS)
