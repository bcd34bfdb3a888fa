"""The graph, as pages."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import Query, Request
from fastapi.responses import Response

from treaty.catalog.pages.graph import USUAL_HOPS, Asked, around_page, domain_page, graph_page
from treaty.catalog.places import name_of
from treaty.registry.access.rules import Action
from treaty.server.pages.answering import BASE, answer
from treaty.server.pages.visiting import Visiting
from treaty.server.routing import Routes

routes = Routes("catalog", BASE)


@routes.get("/graph", Action.READ, include_in_schema=False)
def whole_graph(request: Request, visit: Visiting) -> Response:
    """Show the whole graph."""
    return answer(request, visit, graph_page(visit.registry))


@routes.get("/graph/{key}", Action.READ, include_in_schema=False)
def graph_around(
    request: Request,
    visit: Visiting,
    key: str,
    hops: Annotated[int, Query(ge=1, le=10)] = USUAL_HOPS,
    direction: Literal["both", "upstream", "downstream"] = "both",
    columns: Annotated[str | None, Query(max_length=300)] = None,
) -> Response:
    """Show the graph around a line, contract or consumer."""
    return answer(request, visit, around_page(visit.registry, name_of(key), Asked(hops, direction, columns or None)))


@routes.get("/domains", Action.READ, include_in_schema=False)
def graph_of_no_domain(request: Request, visit: Visiting) -> Response:
    """Show the graph of what belongs to no domain."""
    return answer(request, visit, domain_page(visit.registry, None))


@routes.get("/domains/{key}", Action.READ, include_in_schema=False)
def graph_of_domain(request: Request, visit: Visiting, key: str) -> Response:
    """Show the graph of a domain."""
    return answer(request, visit, domain_page(visit.registry, name_of(key)))
