"""How promises are kept, as a page."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Request
from fastapi.responses import Response

from treaty.catalog.pages.health import Wanted, health_page
from treaty.registry.access.rules import Action
from treaty.server.pages.answering import BASE, answer
from treaty.server.pages.visiting import Visiting
from treaty.server.routing import Routes

routes = Routes("catalog", BASE)


@routes.get("/health", Action.READ, include_in_schema=False)
def health(
    request: Request,
    visit: Visiting,
    domain: Annotated[str | None, Query(max_length=200)] = None,
    cursor: Annotated[str | None, Query(max_length=2_000)] = None,
) -> Response:
    """Show how promises are kept."""
    now = visit.registry.desk.database.clock()
    return answer(request, visit, health_page(visit.registry, Wanted(domain or None, cursor), now))
