"""The pages of legacy feeds, and the reports of their parallel runs as files. Forms are actions."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import Query, Request
from fastapi.responses import Response

from treaty.catalog.links import decode_name
from treaty.catalog.pages.legacy_feeds import legacy_feed_page, legacy_feeds_page
from treaty.registry.access.permissions import Action
from treaty.registry.variance_report import write_csv, write_markdown
from treaty.server.pages.responses import BASE, SECURITY_HEADERS, compressed_response, page_response
from treaty.server.pages.visits import AuthorizedVisit
from treaty.server.request_models import IsoDate
from treaty.server.routing import Routes

routes = Routes("catalog", BASE)
AsOf = Annotated[IsoDate | None, Query()]


@routes.get("/legacy", Action.READ, include_in_schema=False)
def legacy_feeds(
    request: Request, visit: AuthorizedVisit, cursor: Annotated[str | None, Query(max_length=2_000)] = None
) -> Response:
    """Show the legacy feeds with the state of their consumers."""
    return page_response(request, visit, legacy_feeds_page(visit.registry, cursor or None))


@routes.get("/legacy/{key}", Action.READ, include_in_schema=False)
def legacy_feed(request: Request, visit: AuthorizedVisit, key: str, as_of: AsOf = None) -> Response:
    """Show a legacy feed with the newest report of its parallel runs, or that of a day."""
    return page_response(request, visit, legacy_feed_page(visit.registry, decode_name(key), as_of))


@routes.get("/legacy/{key}/report.{form}", Action.READ, include_in_schema=False)
def variance_report(
    request: Request, visit: AuthorizedVisit, key: str, form: Literal["md", "csv"], as_of: AsOf = None
) -> Response:
    """Return the report of a parallel run as Markdown or CSV."""
    run = visit.registry.parallel_runs.get(decode_name(key), as_of=as_of)
    text, media = (write_markdown(run), "text/markdown") if form == "md" else (write_csv(run), "text/csv")
    name = f"variance-{key}-{run.as_of}.{form}".replace('"', "")
    headers = {**SECURITY_HEADERS, "Content-Disposition": f'attachment; filename="{name}"'}
    return compressed_response(request, text.encode(), media, headers)
