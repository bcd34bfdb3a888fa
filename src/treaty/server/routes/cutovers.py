"""Routes for legacy feeds and the cut-over of their consumers."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Query

from treaty.registry.access.permissions import Action
from treaty.registry.model import CutoverAnswer, DecisionAnswer, LegacyFeedAnswer, Page
from treaty.registry.model.page import PAGE
from treaty.server.cutover_bodies import CutoverBody, CutoverNoteBody, LegacyFeedBody, RollbackBody
from treaty.server.errors import API
from treaty.server.rate_limits import Cost
from treaty.server.routing import CallerRegistry, Cursor, Limit, Routes

routes = Routes("legacy feeds", API)
Feed = Annotated[str, Path(min_length=1, max_length=200)]


@routes.get("/legacy-feeds", Action.READ)
def list_legacy_feeds(registry: CallerRegistry, cursor: Cursor = None, limit: Limit = PAGE) -> Page[LegacyFeedAnswer]:
    """List legacy feeds by name, with the state of their consumers."""
    return registry.cutovers.list(cursor=cursor, limit=limit)


@routes.put("/legacy-feeds", Action.NOTIFY, (404,))
def declare_legacy_feed(registry: CallerRegistry, body: LegacyFeedBody) -> LegacyFeedAnswer:
    """Store what a project declares of a legacy feed. Steps that consumers took stay."""
    return registry.cutovers.declare(
        body.feed,
        body.line,
        body.owner,
        names=body.names,
        consumers=body.consumers,
        gate=body.gate.as_gate(),
        produced=body.produced,
    )


@routes.get("/legacy-feeds/{feed}", Action.READ, (404,))
def get_legacy_feed(registry: CallerRegistry, feed: Feed) -> LegacyFeedAnswer:
    """Return a legacy feed with the state of its consumers, and why it cannot be retired yet."""
    return registry.cutovers.get(feed)


@routes.post("/legacy-feeds/{feed}/acknowledge", Action.SUBSCRIBE, (404, 409))
def acknowledge_cutover(registry: CallerRegistry, feed: Feed, body: CutoverNoteBody) -> CutoverAnswer:
    """Acknowledge the cut-over on behalf of a consumer."""
    return registry.cutovers.acknowledge(feed, body.consumer, note=body.note)


@routes.post("/legacy-feeds/{feed}/approve", Action.ADVANCE, (404, 409))
def approve_cutover(registry: CallerRegistry, feed: Feed, body: CutoverNoteBody) -> CutoverAnswer:
    """Approve the cut-over as an owner of the consumer's team, which a critical consumer needs."""
    return registry.cutovers.approve(feed, body.consumer, note=body.note)


@routes.post("/legacy-feeds/{feed}/cut-over", Action.SUBSCRIBE, (404, 409))
def cut_over(registry: CallerRegistry, feed: Feed, body: CutoverBody) -> CutoverAnswer:
    """Move a consumer from the feed to the publication, if the gate is open."""
    return registry.cutovers.cut_over(feed, body.consumer)


@routes.post("/legacy-feeds/{feed}/roll-back", Action.SUBSCRIBE, (404, 409))
def roll_back(registry: CallerRegistry, feed: Feed, body: RollbackBody) -> CutoverAnswer:
    """Move a consumer back to the feed. Earlier runs and acknowledgements no longer count."""
    return registry.cutovers.roll_back(feed, body.consumer, reason=body.reason)


@routes.post("/legacy-feeds/{feed}/retire", Action.ADVANCE, (404, 409))
def retire_legacy_feed(registry: CallerRegistry, feed: Feed) -> LegacyFeedAnswer:
    """Retire a feed that its last consumer has left. Reads of it are incidents from then on."""
    return registry.cutovers.retire(feed)


@routes.get("/can-i-cut-over", Action.CHECK, (404,), Cost.EXPENSIVE)
def can_i_cut_over(
    registry: CallerRegistry,
    consumer: Annotated[str, Query(min_length=1, max_length=200, examples=["finance_close"])],
    feed: Annotated[str | None, Query(max_length=200)] = None,
) -> DecisionAnswer:
    """Decide whether a consumer may leave a feed, or every feed that it reads, with all reasons."""
    return registry.cutovers.can_i_cut_over(consumer, feed=feed)
