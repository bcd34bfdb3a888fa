"""Routes for the dependency map: who reads what, scans, and what people say of consumers."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query

from treaty.registry.access.permissions import Action
from treaty.registry.model import (
    ConsumerProfileAnswer,
    HiddenDependencyAnswer,
    MapEntryAnswer,
    NearDuplicateAnswer,
    Page,
    ScanReceiptAnswer,
)
from treaty.registry.model.page import PAGE
from treaty.server.errors import API
from treaty.server.rate_limits import Cost
from treaty.server.request_models import ConsumerProfileBody, ScanBody
from treaty.server.routing import CallerRegistry, Cursor, Limit, Routes, ShownRegistry

routes = Routes("map", API)
Word = Annotated[str | None, Query(max_length=256)]


@routes.get("/map", Action.READ, cost=Cost.EXPENSIVE)
def dependency_map(
    registry: ShownRegistry,
    consumer: Word = None,
    team: Word = None,
    source: Annotated[str | None, Query(max_length=300, description="A line, or the name of a table.")] = None,
    direct: Annotated[
        bool | None, Query(description="Only those that do, or do not, read raw data or products directly.")
    ] = None,
    cursor: Cursor = None,
    limit: Limit = PAGE,
) -> Page[MapEntryAnswer]:
    """List consumers with their sources: declared, scanned and observed; critical ones that read directly first."""
    return registry.dependency_map.entries(
        consumer=consumer, team=team, source=source, direct=direct, cursor=cursor, limit=limit
    )


@routes.get("/map/near-duplicates", Action.READ, cost=Cost.EXPENSIVE)
def near_duplicates(registry: ShownRegistry, cursor: Cursor = None, limit: Limit = PAGE) -> Page[NearDuplicateAnswer]:
    """List pairs of publications and edge contracts that are nearly the same, by schema and lineage."""
    return registry.dependency_map.near_duplicates(cursor=cursor, limit=limit)


@routes.get("/map/hidden", Action.READ, cost=Cost.EXPENSIVE)
def hidden_dependencies(
    registry: ShownRegistry, consumer: Word = None, contract: Word = None, cursor: Cursor = None, limit: Limit = PAGE
) -> Page[HiddenDependencyAnswer]:
    """List what consumers read from publishers without a contract that promises it, the most serious first."""
    return registry.dependency_map.hidden_dependencies(consumer=consumer, contract=contract, cursor=cursor, limit=limit)


@routes.put("/map/scans", Action.NOTIFY)
def record_scan(registry: CallerRegistry, body: ScanBody) -> ScanReceiptAnswer:
    """Store what a scan found, in place of what the last scan of that name did."""
    return registry.dependency_map.record_scan(body.scan, [read.as_read() for read in body.reads])


@routes.put("/map/consumers", Action.SUBSCRIBE, (404,))
def describe_consumer(registry: CallerRegistry, body: ConsumerProfileBody) -> ConsumerProfileAnswer:
    """Describe a consumer of the map. This takes precedence over what scans guess."""
    return registry.dependency_map.describe_consumer(
        body.consumer,
        consumer_class=body.consumer_class.value if body.consumer_class else None,
        latency=body.latency,
        decision=body.decision,
        team=body.team,
    )
