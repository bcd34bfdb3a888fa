"""Routes for parallel runs of legacy feeds and the dispositions of their findings."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Query

from treaty.registry.access.permissions import Action
from treaty.registry.model import FindingAnswer, Page, ParallelRunAnswer
from treaty.registry.model.page import PAGE
from treaty.server.errors import API
from treaty.server.parallel_bodies import DispositionBody, ParallelRunBody
from treaty.server.request_models import IsoDate
from treaty.server.routing import CallerRegistry, Cursor, Limit, Routes

routes = Routes("parallel runs", API)
Feed = Annotated[str, Path(min_length=1, max_length=200)]
AsOf = Annotated[IsoDate | None, Query(description="The day of the run; by default the newest.")]


@routes.get("/parallel-runs", Action.READ)
def list_parallel_runs(
    registry: CallerRegistry,
    feed: Annotated[str | None, Query(max_length=200)] = None,
    cursor: Cursor = None,
    limit: Limit = PAGE,
) -> Page[ParallelRunAnswer]:
    """List parallel runs without their findings, by feed, the newest day first."""
    return registry.parallel_runs.list(feed=feed, cursor=cursor, limit=limit)


@routes.put("/parallel-runs", Action.NOTIFY, (404,))
def record_parallel_run(registry: CallerRegistry, body: ParallelRunBody) -> ParallelRunAnswer:
    """Store what a parallel run found, in place of an earlier run of the same feed and day."""
    return registry.parallel_runs.record(body.line, body.owner, body.as_result())


@routes.get("/parallel-runs/{feed}", Action.READ, (404,))
def get_parallel_run(registry: CallerRegistry, feed: Feed, as_of: AsOf = None) -> ParallelRunAnswer:
    """Return the findings of a parallel run, new ones first, with what was decided about them."""
    return registry.parallel_runs.get(feed, as_of=as_of)


@routes.put("/parallel-runs/{feed}/dispositions", Action.NOTIFY, (404,))
def dispose_of_finding(registry: CallerRegistry, feed: Feed, body: DispositionBody) -> FindingAnswer:
    """Decide about a finding of the newest run. The decision holds as long as later runs find the same pattern."""
    return registry.parallel_runs.dispose(
        feed,
        body.fingerprint,
        disposition=body.disposition.value,
        owner=body.owner,
        reason=body.reason,
        term=body.term,
    )
