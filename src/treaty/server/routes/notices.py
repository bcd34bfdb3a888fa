"""Notices: channels, what was told, and promises that were not kept."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Query, Request

from treaty.registry.access.permissions import Action
from treaty.registry.model import ChannelAnswer, NoticeAnswer, Page
from treaty.registry.model.page import PAGE
from treaty.server.errors import API
from treaty.server.pagination import Cursor, Limit
from treaty.server.request_models import BreachBody, ChannelBody, RetryBody
from treaty.server.routing import CallerRegistry, Routes

routes = Routes("notices", API)
Number = Annotated[int, Path(ge=1, lt=2**63)]
Word = Annotated[str | None, Query(max_length=256)]


@routes.get("/channels", Action.NOTIFY)
def list_channels(registry: CallerRegistry, cursor: Cursor = None, limit: Limit = PAGE) -> Page[ChannelAnswer]:
    """List where parties get their notices."""
    return registry.notices.channels(cursor=cursor, limit=limit)


@routes.post("/channels", Action.NOTIFY, status_code=201)
def add_channel(registry: CallerRegistry, body: ChannelBody) -> ChannelAnswer:
    """Send a team or consumer its notices."""
    return registry.notices.add_channel(body.party, kind=body.kind.value, target=body.target, secret=body.secret)


@routes.delete("/channels/{identity}", Action.NOTIFY, (404,))
def remove_channel(registry: CallerRegistry, identity: Number) -> ChannelAnswer:
    """Send nothing to a channel any more."""
    return registry.notices.remove_channel(identity)


@routes.get("/notices", Action.READ)
def list_notices(
    registry: CallerRegistry, contract: Word = None, party: Word = None, cursor: Cursor = None, limit: Limit = PAGE
) -> Page[NoticeAnswer]:
    """List what was told, and how far it got."""
    return registry.notices.notices(contract=contract, party=party, cursor=cursor, limit=limit)


@routes.post("/notices/retry", Action.NOTIFY, (404,))
def retry_notices(registry: CallerRegistry, request: Request, body: RetryBody) -> dict[str, int]:
    """Try again to deliver what was given up."""
    again = registry.notices.retry(channel=body.channel)
    request.app.state.wake_delivery()
    return {"deliveries": again}


@routes.post("/contracts/{contract:path}/breaches", Action.NOTIFY, (404,), status_code=201)
def report_breach(registry: CallerRegistry, contract: str, body: BreachBody) -> NoticeAnswer:
    """Tell owners and consumers that a promise was not kept."""
    return registry.notices.report_breach(contract, kind=body.kind, message=body.message, details=body.details)
