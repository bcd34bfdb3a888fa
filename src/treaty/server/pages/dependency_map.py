"""The page of the dependency map, and its export."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Request
from fastapi.responses import Response

from treaty.catalog.pages.dependency_map import MapFilter, all_entries, dependency_map_page
from treaty.registry.access.permissions import Action
from treaty.registry.dependency_map_csv import write_map_csv
from treaty.server.pages.responses import BASE, SECURITY_HEADERS, compressed_response, page_response
from treaty.server.pages.visits import AuthorizedVisit
from treaty.server.rate_limits import Cost
from treaty.server.routing import Routes

routes = Routes("catalog", BASE)
Text = Annotated[str | None, Query(max_length=300)]
Cursor = Annotated[str | None, Query(max_length=2_000)]


@routes.get("/map", Action.READ, cost=Cost.EXPENSIVE, include_in_schema=False)
def dependency_map(
    request: Request,
    visit: AuthorizedVisit,
    consumer: Text = None,
    team: Text = None,
    source: Text = None,
    direct: Text = None,
    cursor: Cursor = None,
) -> Response:
    """Show who reads what."""
    criteria = _filter(consumer, team, source, direct, cursor)
    return page_response(request, visit, dependency_map_page(visit.registry, criteria))


@routes.get("/map.csv", Action.READ, cost=Cost.EXPENSIVE, include_in_schema=False)
def dependency_map_csv(
    request: Request,
    visit: AuthorizedVisit,
    consumer: Text = None,
    team: Text = None,
    source: Text = None,
    direct: Text = None,
) -> Response:
    """Return the map as CSV, with all entries of the filter."""
    entries = all_entries(visit.registry, _filter(consumer, team, source, direct, None))
    headers = {**SECURITY_HEADERS, "Content-Disposition": 'attachment; filename="dependency-map.csv"'}
    return compressed_response(request, write_map_csv(entries).encode(), "text/csv", headers)


def _filter(
    consumer: str | None, team: str | None, source: str | None, direct: str | None, cursor: str | None
) -> MapFilter:
    texts = [(text or "").strip() or None for text in (consumer, team, source, direct, cursor)]
    return MapFilter(*texts)
