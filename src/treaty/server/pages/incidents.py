"""The pages of incidents. The form that acknowledges one is an action."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Query, Request
from fastapi.responses import Response

from treaty.catalog.pages.incidents import STATES, IncidentFilter, incident_page, incidents_page
from treaty.registry.access.permissions import Action
from treaty.server.pages.responses import BASE, page_response
from treaty.server.pages.visits import AuthorizedVisit
from treaty.server.routing import Routes

routes = Routes("catalog", BASE)
Text = Annotated[str | None, Query(max_length=256)]
Cursor = Annotated[str | None, Query(max_length=2_000)]


@routes.get("/incidents", Action.READ, include_in_schema=False)
def incidents(
    request: Request,
    visit: AuthorizedVisit,
    state: Text = None,
    contract: Text = None,
    team: Text = None,
    cursor: Cursor = None,
) -> Response:
    """Show open and closed incidents; an unknown state is ignored."""
    criteria = IncidentFilter(
        state if state in STATES else None,
        (contract or "").strip() or None,
        (team or "").strip() or None,
        cursor or None,
    )
    return page_response(request, visit, incidents_page(visit.registry, criteria))


@routes.get("/incidents/{number}", Action.READ, include_in_schema=False)
def incident(request: Request, visit: AuthorizedVisit, number: Annotated[int, Path(ge=1, lt=2**63)]) -> Response:
    """Show one incident with its evidence."""
    return page_response(request, visit, incident_page(visit.registry, number, visit.registry.context.now))
