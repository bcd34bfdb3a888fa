"""Routes for subscriptions, the dependency graph and the impact of changes."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import Query, Request
from fastapi.responses import Response

from treaty.contracts.versions import parse_line
from treaty.registry.access.permissions import Action
from treaty.registry.model import (
    DecisionAnswer,
    DomainsAnswer,
    GraphAnswer,
    ImpactAnswer,
    LayoutAnswer,
    LineageAnswer,
    Page,
    SubscriptionAnswer,
)
from treaty.registry.model.page import PAGE
from treaty.server.errors import API
from treaty.server.openapi import CONTRACT_BODY
from treaty.server.rate_limits import Cost
from treaty.server.request_documents import judge, read_candidate
from treaty.server.request_models import LineageBody, SubscriptionBody, SubscriptionNameBody
from treaty.server.routing import CallerRegistry, Cursor, Limit, Routes, ShownRegistry

routes = Routes("consumers", API)
Word = Annotated[str | None, Query(max_length=256)]


@routes.get("/subscriptions", Action.READ)
def list_subscriptions(
    registry: ShownRegistry,
    contract: Word = None,
    consumer: Word = None,
    team: Word = None,
    cursor: Cursor = None,
    limit: Limit = PAGE,
) -> Page[SubscriptionAnswer]:
    """List subscriptions."""
    return registry.consumers.subscriptions(contract=contract, consumer=consumer, team=team, cursor=cursor, limit=limit)


@routes.put("/subscriptions", Action.SUBSCRIBE, (404, 409))
def subscribe(registry: CallerRegistry, body: SubscriptionBody) -> SubscriptionAnswer:
    """Create or replace a consumer's subscription to a line."""
    return registry.consumers.subscribe(
        body.consumer,
        body.line,
        consumer_class=body.consumer_class.value,
        fields=body.fields,
        purpose=body.purpose,
        latency=body.latency,
        contact=body.contact,
        team=body.team,
    )


@routes.delete("/subscriptions", Action.SUBSCRIBE, (404,))
def unsubscribe(
    registry: CallerRegistry,
    consumer: Annotated[str, Query(min_length=1, max_length=200)],
    line: Annotated[str, Query(min_length=1, max_length=300)],
) -> SubscriptionAnswer:
    """Delete a subscription."""
    return registry.consumers.unsubscribe(consumer, line)


@routes.post("/subscriptions/confirm", Action.SUBSCRIBE, (404, 409))
def confirm_subscription(registry: CallerRegistry, body: SubscriptionNameBody) -> SubscriptionAnswer:
    """Confirm a subscription that another team declared. Only the consumer's own team and stewards can."""
    return registry.consumers.confirm(body.consumer, body.line)


@routes.post("/subscriptions/challenge", Action.CHALLENGE, (404, 409))
def challenge_subscription(registry: CallerRegistry, body: SubscriptionNameBody) -> SubscriptionAnswer:
    """Ask the team of an unconfirmed consumer to confirm it in time. Otherwise it no longer counts."""
    return registry.consumers.challenge(body.consumer, body.line)


@routes.get("/graph", Action.READ, (404,), Cost.EXPENSIVE)
def dependency_graph(
    registry: CallerRegistry,
    node: Annotated[str, Query(min_length=1, max_length=300, description="A line, a contract or a consumer.")],
    direction: Literal["upstream", "downstream"] = "downstream",
    depth: Annotated[int | None, Query(ge=1, le=1_000)] = None,
) -> GraphAnswer:
    """List everything downstream or upstream of a line, contract or consumer."""
    return registry.consumers.graph(node, direction=direction, depth=depth)


@routes.get("/graph/layout", Action.READ, (404,), Cost.EXPENSIVE)
def graph_layout(
    registry: CallerRegistry,
    node: Annotated[
        str | None, Query(min_length=1, max_length=300, description="A line, contract or consumer.")
    ] = None,
    hops: Annotated[int | None, Query(ge=1, le=1_000)] = None,
    direction: Literal["both", "upstream", "downstream"] = "both",
    domain: Word = None,
    limit: Limit = PAGE,
) -> LayoutAnswer:
    """Return the nodes and edges of the dependency graph: around a node, of a domain, or all, up to the limit."""
    return registry.consumers.layout(node, hops=hops, direction=direction, domain=domain, limit=limit)


@routes.get("/domains", Action.READ, cost=Cost.EXPENSIVE)
def domain_map(registry: CallerRegistry) -> DomainsAnswer:
    """Return all domains and the number of dependencies between them."""
    return registry.consumers.domains()


@routes.get("/lines/{line:path}/lineage", Action.READ, (404,))
def get_lineage(registry: CallerRegistry, line: str) -> LineageAnswer:
    """Return what a line is derived from, by field where that is known."""
    return registry.consumers.lineage(line)


@routes.put("/lines/{line:path}/lineage", Action.NOTIFY, (404,))
def record_lineage(registry: CallerRegistry, line: str, body: LineageBody) -> LineageAnswer:
    """Record the lineage that a run observed. It replaces that of earlier runs and completes what is declared."""
    return registry.consumers.record_lineage(line, body.made_from(parse_line(line)), layer=body.layer)


@routes.post("/impact", Action.CHECK, cost=Cost.EXPENSIVE, response_model=ImpactAnswer, openapi_extra=CONTRACT_BODY)
async def impact(registry: CallerRegistry, request: Request) -> Response:
    """List the consumers that a new version would affect, by field."""
    candidate = await read_candidate(request)
    return await judge(
        request,
        candidate.document,
        lambda: registry.consumers.impact(candidate.document, compatibility=candidate.compatibility),
    )


@routes.post(
    "/can-i-publish", Action.CHECK, cost=Cost.EXPENSIVE, response_model=DecisionAnswer, openapi_extra=CONTRACT_BODY
)
async def can_i_publish(registry: CallerRegistry, request: Request) -> Response:
    """Decide whether a new version can be published, with all reasons."""
    candidate = await read_candidate(request)
    return await judge(
        request,
        candidate.document,
        lambda: registry.consumers.can_i_publish(candidate.document, compatibility=candidate.compatibility),
    )


@routes.get("/can-i-retire", Action.CHECK, (404,), Cost.EXPENSIVE)
def can_i_retire(
    registry: ShownRegistry,
    line: Annotated[str, Query(min_length=1, max_length=300, examples=["users.daily_active@1"])],
    version: Annotated[str | None, Query(max_length=64)] = None,
) -> DecisionAnswer:
    """Decide whether a line, or one of its versions, can be retired, with all reasons."""
    return registry.consumers.can_i_retire(line, version=version)
