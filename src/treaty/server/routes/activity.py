"""Routes for past activity, upcoming dates and teams."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query

from treaty.registry.access.permissions import Action
from treaty.registry.model import ActivityAnswer, Page, TeamAnswer, UpcomingAnswer
from treaty.registry.model.operation_answers import ActivityKind
from treaty.registry.model.page import PAGE
from treaty.registry.service.calendar import MAX_DAYS
from treaty.server.errors import API
from treaty.server.request_models import IsoDate
from treaty.server.routing import CallerRegistry, Cursor, Limit, Routes

routes = Routes("activity", API)
Word = Annotated[str | None, Query(max_length=256)]


@routes.get("/activity", Action.READ)
def list_activity(
    registry: CallerRegistry,
    contract: Word = None,
    team: Annotated[str | None, Query(max_length=256, description="A team that owns or consumes the contract.")] = None,
    kind: ActivityKind | None = None,
    since: Annotated[IsoDate | None, Query(description="The first day to include, in UTC.")] = None,
    cursor: Cursor = None,
    limit: Limit = PAGE,
) -> Page[ActivityAnswer]:
    """List activity, newest first. A page may be short and still have a `next`."""
    return registry.activity(contract=contract, team=team, kind=kind, since=since, cursor=cursor, limit=limit)


@routes.get("/upcoming", Action.READ)
def list_upcoming(
    registry: CallerRegistry,
    contract: Word = None,
    team: Word = None,
    days: Annotated[int, Query(ge=1, le=MAX_DAYS)] = 60,
    cursor: Cursor = None,
    limit: Limit = PAGE,
) -> Page[UpcomingAnswer]:
    """List deprecations, sunsets, retirements and migration deadlines within the next days."""
    return registry.upcoming(contract=contract, team=team, days=days, cursor=cursor, limit=limit)


@routes.get("/teams", Action.READ)
def list_teams(registry: CallerRegistry, cursor: Cursor = None, limit: Limit = PAGE) -> Page[TeamAnswer]:
    """List teams that own or consume contracts."""
    return registry.teams(cursor=cursor, limit=limit)
