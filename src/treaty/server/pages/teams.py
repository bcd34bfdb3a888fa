"""Teams, as pages."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Request
from fastapi.responses import Response

from treaty.catalog.pages.teams import team_page, teams_page
from treaty.catalog.places import name_of
from treaty.registry.access.rules import Action
from treaty.server.pages.answering import BASE, answer
from treaty.server.pages.visiting import Visiting
from treaty.server.routing import Routes

routes = Routes("catalog", BASE)


@routes.get("/teams", Action.READ, include_in_schema=False)
def teams(request: Request, visit: Visiting, cursor: Annotated[str | None, Query(max_length=2_000)] = None) -> Response:
    """List the teams that own or read something."""
    return answer(request, visit, teams_page(visit.registry, cursor or None))


@routes.get("/teams/{key}", Action.READ, include_in_schema=False)
def team(request: Request, visit: Visiting, key: str) -> Response:
    """Show what a team owns, what it depends on, and what is coming at it."""
    return answer(request, visit, team_page(visit.registry, name_of(key), visit.registry.desk.today))
