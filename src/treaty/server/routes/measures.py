"""Routes for measurements of contracts."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query

from treaty.registry.access.permissions import Action
from treaty.registry.model import GridRowAnswer, MeasureAnswer, Page, RecordedAnswer
from treaty.registry.model.page import PAGE
from treaty.registry.service.measures import parse_measure
from treaty.server.errors import API
from treaty.server.request_models import IsoDate, MeasuresBody
from treaty.server.routing import CallerRegistry, Cursor, Limit, Routes

routes = Routes("measures", API)
Word = Annotated[str | None, Query(max_length=256)]
Name = Annotated[str, Query(min_length=1, max_length=256)]
Since = Annotated[IsoDate | None, Query(description="The first day to include; by default, 29 days ago.")]


@routes.post("/measures", Action.NOTIFY)
def record_measures(registry: CallerRegistry, body: MeasuresBody) -> RecordedAnswer:
    """Record measurements and compare them with the service levels. Unregistered contracts are skipped and listed."""
    return registry.measures.record([parse_measure(measure.model_dump()) for measure in body.measures])


@routes.get("/measures", Action.READ)
def list_measures(
    registry: CallerRegistry, contract: Word = None, name: Word = None, cursor: Cursor = None, limit: Limit = PAGE
) -> Page[MeasureAnswer]:
    """List the newest measurement of each name, by contract."""
    return registry.measures.current(contract=contract, name=name, cursor=cursor, limit=limit)


@routes.get("/measures/history", Action.READ)
def measure_history(
    registry: CallerRegistry,
    contract: Name,
    name: Name,
    since: Since = None,
    cursor: Cursor = None,
    limit: Limit = PAGE,
) -> Page[MeasureAnswer]:
    """List the measurements of one name, newest first."""
    return registry.measures.history(contract, name, since=since, cursor=cursor, limit=limit)


@routes.get("/measures/grid", Action.READ)
def measure_grid(
    registry: CallerRegistry, since: Since = None, domain: Word = None, cursor: Cursor = None, limit: Limit = PAGE
) -> Page[GridRowAnswer]:
    """List the daily health of each measured contract, worst first."""
    return registry.measures.grid(since=since, domain=domain, cursor=cursor, limit=limit)
