"""The graph as it is drawn: who depends on whom around a node, in a domain, or everywhere."""

from __future__ import annotations

from collections import Counter

from sqlalchemy import Connection, select

from treaty.consumers import graph
from treaty.consumers.dependencies import Dependence, MadeFrom, Node, Reads
from treaty.consumers.graph import BOTH_WAYS, DOWNSTREAM, UPSTREAM, DependencyGraph
from treaty.contracts.versions import Line, parse_line
from treaty.errors import InvalidDocument
from treaty.registry.answers import DomainAnswer, DomainEdgeAnswer, DomainsAnswer, MapAnswer
from treaty.registry.depending import Dependencies, node_named
from treaty.registry.map_answers import map_answer
from treaty.registry.store.tables import contracts, versions

WAYS = {"both": BOTH_WAYS, "upstream": (UPSTREAM,), "downstream": (DOWNSTREAM,)}
_MOST_DOMAINS = 200
_C, _V = contracts.c, versions.c


def map_around(
    connection: Connection, dependencies: Dependencies, name: str, hops: int | None, direction: str, most: int
) -> MapAnswer:
    """Return what a line, contract or consumer rests on, and who rests on it."""
    origins = _origins(connection, dependencies, name)
    part = dependencies.ask(connection, lambda it: graph.around(it, origins, hops, WAYS[direction], most))
    return map_answer(connection, part, origins)


def map_of(connection: Connection, dependencies: Dependencies, domain: str | None, most: int) -> MapAnswer:
    """Return the whole graph, or the lines of a domain (empty: of none) with those one step away."""
    known = _lines(connection)
    if domain is None:
        part = dependencies.ask(connection, lambda it: graph.all_of(it, known, most))
    else:
        chosen = [line for line, of in known.items() if (of or "") == domain]
        part = dependencies.ask(connection, lambda it: graph.with_neighbours(it, chosen, most))
    return map_answer(connection, part)


def domains_of(connection: Connection, dependencies: Dependencies) -> DomainsAnswer:
    """Return the graph from far away: the largest domains, and what goes between them."""
    known = _lines(connection)
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


def _all_dependences(graph: DependencyGraph) -> tuple[Dependence, ...]:
    return graph.dependences_among(graph.nodes)


def _origins(connection: Connection, dependencies: Dependencies, name: str) -> list[Node]:
    """Find what a name means: a line, all lines of a contract, or a consumer; else a line others merely speak of."""
    if lines := _lines_of(connection, name):
        return list(lines)
    try:
        spoken_of = parse_line(name)
    except InvalidDocument:
        spoken_of = None
    if spoken_of is not None and dependencies.ask(connection, lambda it: spoken_of in it):
        return [spoken_of]
    return [node_named(connection, name)]


def _lines_of(connection: Connection, contract: str) -> list[Line]:
    asked = select(_V.major).distinct().where(_V.contract == contract).order_by(_V.major)
    return [Line(contract, major) for major in connection.execute(asked).scalars()]


def _lines(connection: Connection) -> dict[Line, str | None]:
    """Return every line that is registered, with its domain."""
    asked = select(_V.contract, _V.major, _C.domain).distinct().select_from(versions.join(contracts))
    return {Line(row.contract, row.major): row.domain for row in connection.execute(asked)}
