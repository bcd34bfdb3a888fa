"""One contract, as pages: what it says, its versions, two of them side by side, its consumers, its document."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Request
from fastapi.responses import RedirectResponse, Response

from treaty.catalog import places
from treaty.catalog.pages.contract import (
    compare_page,
    consumers_page,
    contract_page,
    document_page,
    versions_page,
)
from treaty.catalog.places import Live, name_of
from treaty.errors import NotFound
from treaty.registry.access.rules import Action
from treaty.server.pages.answering import BASE, answer
from treaty.server.pages.visiting import Visiting
from treaty.server.routing import Routes

routes = Routes("catalog", BASE)
Number = Annotated[str, Query(max_length=64)]


@routes.get("/contracts/{key}", Action.READ, include_in_schema=False)
def contract_overview(request: Request, visit: Visiting, key: str) -> Response:
    """Say what a contract says, at its highest version."""
    now = visit.registry.desk.database.clock()
    return answer(request, visit, contract_page(visit.registry, name_of(key), now=now))


@routes.get("/contracts/{key}/at/{number}", Action.READ, include_in_schema=False)
def contract_at_version(request: Request, visit: Visiting, key: str, number: str) -> Response:
    """Say what one version of a contract says."""
    return answer(request, visit, contract_page(visit.registry, name_of(key), name_of(number)))


@routes.get("/contracts/{key}/versions", Action.READ, include_in_schema=False)
def contract_versions(request: Request, visit: Visiting, key: str) -> Response:
    """List the lines and versions of a contract."""
    return answer(request, visit, versions_page(visit.registry, name_of(key)))


@routes.get("/contracts/{key}/consumers", Action.READ, include_in_schema=False)
def contract_consumers(request: Request, visit: Visiting, key: str) -> Response:
    """List who reads a contract."""
    return answer(request, visit, consumers_page(visit.registry, name_of(key)))


@routes.get("/contracts/{key}/compare", Action.READ, include_in_schema=False)
def contract_chosen_versions(key: str, before: Number, after: Number) -> Response:
    """Lead to the two versions that were chosen."""
    return RedirectResponse(Live().to(places.compare(name_of(key), before, after)), status_code=303)


@routes.get("/contracts/{key}/compare/{pair}", Action.READ, include_in_schema=False)
def contract_comparison(request: Request, visit: Visiting, key: str, pair: str) -> Response:
    """Show two versions side by side."""
    before, dots, after = pair.partition("..")
    if not dots:
        raise NotFound(f"no such page: {pair[:80]}; two versions are written like 1.0.0..1.1.0")
    return answer(request, visit, compare_page(visit.registry, name_of(key), name_of(before), name_of(after)))


@routes.get("/contracts/{key}/document/{form}", Action.READ, include_in_schema=False)
def contract_document(request: Request, visit: Visiting, key: str, form: str) -> Response:
    """Show the document of a contract in one form."""
    return answer(request, visit, document_page(visit.registry, name_of(key), form))
