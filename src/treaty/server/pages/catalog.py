"""The read-only pages of the catalog: contracts, graph, changes, teams, health, and their assets."""

from __future__ import annotations

import mimetypes
from typing import Annotated, Literal

from fastapi import Path, Query, Request
from fastapi.responses import RedirectResponse, Response
from starlette.concurrency import run_in_threadpool

from treaty.catalog import links
from treaty.catalog.links import LiveUrls, decode_name
from treaty.catalog.pages.changes import ACTIVITY_KINDS, ActivityFilter, changes_page
from treaty.catalog.pages.contract import (
    compare_page,
    consumers_page,
    contract_page,
    document_page,
    lineage_page,
    publishers_page,
    versions_page,
)
from treaty.catalog.pages.contract_list import ContractListFilter, contract_list_page
from treaty.catalog.pages.graph import DEFAULT_HOPS, GraphOptions, around_page, domain_page, graph_page
from treaty.catalog.pages.health import HealthFilter, health_page
from treaty.catalog.pages.migrations import migration_page
from treaty.catalog.pages.teams import find_team, team_page, teams_page
from treaty.catalog.rendering import asset_names, read_asset
from treaty.errors import NotFound
from treaty.registry.access.permissions import Action
from treaty.server.pages.responses import BASE, compressed_response, page_response
from treaty.server.pages.visits import AuthorizedVisit, Visit
from treaty.server.rate_limits import Cost
from treaty.server.routing import Routes

routes = Routes("catalog", BASE)
ShortText = Annotated[str | None, Query(max_length=200)]
Text = Annotated[str | None, Query(max_length=256)]
Cursor = Annotated[str | None, Query(max_length=2_000)]
Colors = Literal["lifecycle", "health"]
VersionNumber = Annotated[str, Query(max_length=64)]
_IMMUTABLE = "public, max-age=31536000, immutable"


@routes.get("", Action.READ, include_in_schema=False)
def contracts(
    request: Request,
    visit: AuthorizedVisit,
    q: ShortText = None,
    domain: ShortText = None,
    tier: ShortText = None,
    status: ShortText = None,
    owner: ShortText = None,
    health: ShortText = None,
    sort: ShortText = None,
    cursor: Cursor = None,
    earlier: Cursor = None,
) -> Response:
    """Show the list of contracts."""
    criteria = ContractListFilter(q, domain, tier, status, owner, health, sort, cursor, earlier)
    return page_response(request, visit, contract_list_page(visit.registry, criteria))


async def front_page(request: Request, visit: Visit) -> Response:
    """Show the list of contracts to a browser at the root."""
    criteria = {
        name: request.query_params.get(name, "")[:2_000] or None for name in ContractListFilter.__dataclass_fields__
    }
    return await run_in_threadpool(
        lambda: page_response(request, visit, contract_list_page(visit.registry, ContractListFilter(**criteria)))
    )


@routes.get("/contracts/{key}", Action.READ, include_in_schema=False)
def contract_overview(request: Request, visit: AuthorizedVisit, key: str) -> Response:
    """Show the highest version of a contract."""
    now = visit.registry.context.database.clock()
    return page_response(request, visit, contract_page(visit.registry, decode_name(key), now=now))


@routes.get("/contracts/{key}/at/{number}", Action.READ, include_in_schema=False)
def contract_at_version(request: Request, visit: AuthorizedVisit, key: str, number: str) -> Response:
    """Show one version of a contract."""
    return page_response(request, visit, contract_page(visit.registry, decode_name(key), decode_name(number)))


@routes.get("/contracts/{key}/versions", Action.READ, include_in_schema=False)
def contract_versions(request: Request, visit: AuthorizedVisit, key: str) -> Response:
    """Show the lines and versions of a contract."""
    return page_response(request, visit, versions_page(visit.registry, decode_name(key)))


@routes.get("/contracts/{key}/consumers", Action.READ, include_in_schema=False)
def contract_consumers(request: Request, visit: AuthorizedVisit, key: str) -> Response:
    """Show the consumers of a contract."""
    return page_response(request, visit, consumers_page(visit.registry, decode_name(key)))


@routes.get("/contracts/{key}/lineage", Action.READ, cost=Cost.EXPENSIVE, include_in_schema=False)
def contract_lineage(request: Request, visit: AuthorizedVisit, key: str) -> Response:
    """Show the lineage of a contract by column."""
    return page_response(request, visit, lineage_page(visit.registry, decode_name(key)))


@routes.get("/contracts/{key}/publishers", Action.READ, cost=Cost.EXPENSIVE, include_in_schema=False)
def contract_publishers(request: Request, visit: AuthorizedVisit, key: str) -> Response:
    """Show the life cycle of an event contract and its certified publishers."""
    return page_response(request, visit, publishers_page(visit.registry, decode_name(key)))


@routes.get("/contracts/{key}/compare", Action.READ, include_in_schema=False)
def redirect_to_comparison(key: str, before: VersionNumber, after: VersionNumber) -> Response:
    """Redirect to the comparison of the selected versions."""
    return RedirectResponse(LiveUrls().url(links.compare(decode_name(key), before, after)), status_code=303)


@routes.get("/contracts/{key}/compare/{pair}", Action.READ, cost=Cost.EXPENSIVE, include_in_schema=False)
def contract_comparison(request: Request, visit: AuthorizedVisit, key: str, pair: str) -> Response:
    """Show two versions side by side."""
    before, dots, after = pair.partition("..")
    if not dots:
        raise NotFound(f"no such page: {pair[:80]}; write the two versions like 1.0.0..1.1.0")
    return page_response(
        request, visit, compare_page(visit.registry, decode_name(key), decode_name(before), decode_name(after))
    )


@routes.get("/contracts/{key}/document/{form}", Action.READ, include_in_schema=False)
def contract_document(request: Request, visit: AuthorizedVisit, key: str, form: str) -> Response:
    """Show the document of a contract in one form."""
    return page_response(request, visit, document_page(visit.registry, decode_name(key), form))


@routes.get("/graph", Action.READ, cost=Cost.EXPENSIVE, include_in_schema=False)
def full_graph(request: Request, visit: AuthorizedVisit, colors: Colors = "lifecycle") -> Response:
    """Show the full dependency graph."""
    return page_response(request, visit, graph_page(visit.registry, colors))


@routes.get("/graph/{key}", Action.READ, cost=Cost.EXPENSIVE, include_in_schema=False)
def graph_around(
    request: Request,
    visit: AuthorizedVisit,
    key: str,
    hops: Annotated[int, Query(ge=1, le=10)] = DEFAULT_HOPS,
    direction: Literal["both", "upstream", "downstream"] = "both",
    columns: Annotated[str | None, Query(max_length=300)] = None,
    colors: Colors = "lifecycle",
) -> Response:
    """Show the dependency graph around a line, contract or consumer."""
    options = GraphOptions(hops, direction, columns or None, colors)
    return page_response(request, visit, around_page(visit.registry, decode_name(key), options))


@routes.get("/domains", Action.READ, cost=Cost.EXPENSIVE, include_in_schema=False)
def graph_without_domain(request: Request, visit: AuthorizedVisit) -> Response:
    """Show the graph of the contracts without a domain."""
    return page_response(request, visit, domain_page(visit.registry, None))


@routes.get("/domains/{key}", Action.READ, cost=Cost.EXPENSIVE, include_in_schema=False)
def graph_of_domain(request: Request, visit: AuthorizedVisit, key: str) -> Response:
    """Show the graph of a domain."""
    return page_response(request, visit, domain_page(visit.registry, decode_name(key)))


@routes.get("/changes", Action.READ, include_in_schema=False)
def changes(
    request: Request,
    visit: AuthorizedVisit,
    kind: Text = None,
    contract: Text = None,
    team: Text = None,
    cursor: Cursor = None,
) -> Response:
    """Show open migrations, upcoming dates and recent activity; an unknown kind is ignored."""
    criteria = ActivityFilter(
        kind if kind in ACTIVITY_KINDS else None,
        (contract or "").strip() or None,
        (team or "").strip() or None,
        cursor or None,
    )
    return page_response(request, visit, changes_page(visit.registry, visit.registry.context.today, criteria))


@routes.get("/migrations/{number}", Action.READ, include_in_schema=False)
def migration(request: Request, visit: AuthorizedVisit, number: Annotated[int, Path(ge=1, lt=2**63)]) -> Response:
    """Show the state of each consumer in a migration."""
    return page_response(request, visit, migration_page(visit.registry, number, visit.registry.context.today))


@routes.get("/teams", Action.READ, include_in_schema=False)
def teams(request: Request, visit: AuthorizedVisit, cursor: Cursor = None) -> Response:
    """Show the teams that own or consume contracts."""
    return page_response(request, visit, teams_page(visit.registry, cursor or None))


@routes.get("/teams/{key}", Action.READ, include_in_schema=False)
def team(request: Request, visit: AuthorizedVisit, key: str) -> Response:
    """Show what a team owns, what it depends on, and upcoming changes that affect it."""
    name = find_team(visit.registry, key)
    return page_response(request, visit, team_page(visit.registry, name, visit.registry.context.today))


@routes.get("/health", Action.READ, include_in_schema=False)
def health(
    request: Request,
    visit: AuthorizedVisit,
    domain: Annotated[str | None, Query(max_length=200)] = None,
    cursor: Cursor = None,
) -> Response:
    """Show whether contracts meet their service levels."""
    now = visit.registry.context.database.clock()
    return page_response(request, visit, health_page(visit.registry, HealthFilter(domain or None, cursor), now))


@routes.get("/assets/{name}", Action.READ, include_in_schema=False)
async def page_asset(request: Request, name: str) -> Response:
    """Return a static file of the pages; its name changes with its content."""
    if name not in asset_names():
        raise NotFound(f"no such file: {name[:80]}")
    media = mimetypes.guess_type(name)[0] or "application/octet-stream"
    return compressed_response(request, read_asset(name), media, {"Cache-Control": _IMMUTABLE})
