"""The pages of drift of meaning."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Query, Request
from fastapi.responses import Response

from treaty.catalog.links import decode_name
from treaty.catalog.pages.drift import drift_finding_page, drift_page
from treaty.registry.access.permissions import Action
from treaty.server.pages.responses import BASE, page_response
from treaty.server.pages.visits import AuthorizedVisit
from treaty.server.routing import Routes

routes = Routes("catalog", BASE)


@routes.get("/drift", Action.READ, include_in_schema=False)
def drift(
    request: Request,
    visit: AuthorizedVisit,
    contract: Annotated[str | None, Query(max_length=256)] = None,
    cursor: Annotated[str | None, Query(max_length=2_000)] = None,
) -> Response:
    """Show the findings of drift of meaning."""
    return page_response(request, visit, drift_page(visit.registry, contract or None, cursor or None))


@routes.get("/drift/{key}/{fingerprint}", Action.READ, include_in_schema=False)
def drift_finding(
    request: Request, visit: AuthorizedVisit, key: str, fingerprint: Annotated[str, Path(max_length=64)]
) -> Response:
    """Show one finding with its evidence."""
    return page_response(request, visit, drift_finding_page(visit.registry, decode_name(key), fingerprint))
