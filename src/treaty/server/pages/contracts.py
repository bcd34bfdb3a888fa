"""The list of contracts, as a page."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Request
from fastapi.responses import Response
from starlette.concurrency import run_in_threadpool

from treaty.catalog.pages.contracts import Wanted, contracts_page
from treaty.registry.access.rules import Action
from treaty.server.pages.answering import BASE, answer
from treaty.server.pages.visiting import Visit, Visiting
from treaty.server.routing import Routes

routes = Routes("catalog", BASE)
Word = Annotated[str | None, Query(max_length=200)]


@routes.get("", Action.READ, include_in_schema=False)
def contracts(
    request: Request,
    visit: Visiting,
    q: Word = None,
    domain: Word = None,
    tier: Word = None,
    status: Word = None,
    owner: Word = None,
    health: Word = None,
    cursor: Annotated[str | None, Query(max_length=2_000)] = None,
) -> Response:
    """List contracts."""
    wanted = Wanted(q, domain, tier, status, owner, health, cursor)
    return answer(request, visit, contracts_page(visit.registry, wanted))


async def front_page(request: Request, visit: Visit) -> Response:
    """Answer a browser at the root: the list of contracts."""
    asked = {name: request.query_params.get(name, "")[:2_000] or None for name in Wanted.__dataclass_fields__}
    return await run_in_threadpool(lambda: answer(request, visit, contracts_page(visit.registry, Wanted(**asked))))
