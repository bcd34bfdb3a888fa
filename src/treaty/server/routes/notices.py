"""Routes for notices, their channels, and reports of SLA breaches."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Query, Request
from pydantic import BaseModel, Field

from treaty.registry.access.permissions import Action
from treaty.registry.model import ChannelAnswer, NoticeAnswer, Page
from treaty.registry.model.page import PAGE
from treaty.server.errors import API
from treaty.server.request_models import BreachBody, ChannelBody, RetryBody, RotationBody
from treaty.server.routing import CallerRegistry, Cursor, Limit, Routes

routes = Routes("notices", API)
Number = Annotated[int, Path(ge=1, lt=2**63)]
Word = Annotated[str | None, Query(max_length=256)]


class RetriedDeliveries(BaseModel):
    """The number of deliveries that are tried again."""

    deliveries: int = Field(examples=[2])


@routes.get("/channels", Action.NOTIFY)
def list_channels(registry: CallerRegistry, cursor: Cursor = None, limit: Limit = PAGE) -> Page[ChannelAnswer]:
    """List notification channels."""
    return registry.notices.channels(cursor=cursor, limit=limit)


@routes.post("/channels", Action.NOTIFY, (409,), status_code=201)
def add_channel(registry: CallerRegistry, body: ChannelBody) -> ChannelAnswer:
    """Add a notification channel for a team or consumer."""
    return registry.notices.add_channel(body.party, kind=body.kind.value, target=body.target, secret=body.secret)


@routes.delete("/channels/{identity}", Action.NOTIFY, (404,))
def remove_channel(registry: CallerRegistry, identity: Number) -> ChannelAnswer:
    """Remove a notification channel."""
    return registry.notices.remove_channel(identity)


@routes.post("/channels/{identity}/secret", Action.NOTIFY, (404, 409))
def rotate_channel_secret(registry: CallerRegistry, identity: Number, body: RotationBody) -> ChannelAnswer:
    """Give a channel a new secret; for some days, requests are signed with the previous one too."""
    return registry.notices.rotate_secret(identity, secret=body.secret, days=body.days)


@routes.delete("/channels/{identity}/previous-secret", Action.NOTIFY, (404, 409))
def finish_channel_rotation(registry: CallerRegistry, identity: Number) -> ChannelAnswer:
    """End the previous secret of a channel now."""
    return registry.notices.finish_rotation(identity)


@routes.get("/notices", Action.READ)
def list_notices(
    registry: CallerRegistry, contract: Word = None, party: Word = None, cursor: Cursor = None, limit: Limit = PAGE
) -> Page[NoticeAnswer]:
    """List notices and the state of their deliveries."""
    return registry.notices.notices(contract=contract, party=party, cursor=cursor, limit=limit)


@routes.post("/notices/retry", Action.NOTIFY, (404,))
def retry_notices(registry: CallerRegistry, request: Request, body: RetryBody) -> RetriedDeliveries:
    """Retry deliveries that failed permanently."""
    deliveries = registry.notices.retry(channel=body.channel)
    request.app.state.wake_delivery()
    return RetriedDeliveries(deliveries=deliveries)


@routes.post("/contracts/{contract:path}/breaches", Action.NOTIFY, (404,), status_code=201)
def report_breach(registry: CallerRegistry, contract: str, body: BreachBody) -> NoticeAnswer:
    """Report an SLA breach or exception to owners and consumers."""
    return registry.notices.report_breach(contract, kind=body.kind, message=body.message, details=body.details)
