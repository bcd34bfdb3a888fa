"""The first contract registry API, with its exact paths, bodies and status codes."""

from __future__ import annotations

import asyncio
import json
from typing import Annotated, Any

from fastapi import HTTPException, Query, Request
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, ConfigDict, Field
from starlette.concurrency import run_in_threadpool

import treaty
from treaty.registry.access.permissions import Action
from treaty.registry.model import OwnerAnswer, Registration
from treaty.registry.model.page import PAGE
from treaty.registry.report import CompatibilityReport
from treaty.server.content_negotiation import JSON, Format, document_response, documents_response, wants_plain_json
from treaty.server.lifecycle_headers import lifecycle_headers
from treaty.server.openapi import (
    CONTRACT_BODY,
    CONTRACT_LIST_RESPONSE,
    DECISION_CARD_BODY,
    REGISTRATION_RESPONSES,
    contract_response,
    front_page_responses,
)
from treaty.server.pages.catalog import front_page
from treaty.server.pages.responses import prefers_html
from treaty.server.pages.visits import authorized_visit
from treaty.server.rate_limits import Cost
from treaty.server.request_documents import judge, owners_from_decision_card, read_candidate
from treaty.server.request_models import JsonObject, RequestBody, Uri
from treaty.server.routing import (
    CallerRegistry,
    Cursor,
    Limit,
    Routes,
    caller_registry,
    next_page_link,
    writer_registry,
)

routes = Routes("contracts")
MAX_DATASET_IDS = 10_000

_ENDPOINTS = {
    "GET /": "this page",
    "GET /healthz": "liveness probe",
    "GET /datasets": "list registered dataset ids",
    "POST /contracts": "register a contract",
    "POST /contracts/check": "check a contract without registering it",
    "GET /contracts/{ds}/latest": "the highest active version",
    "GET /contracts/{ds}/versions": "every version",
    "GET /contracts/{ds}/versions/{v}": "one version",
    "POST /contracts/{ds}/versions/{v}/deprecate": "mark a version deprecated",
    "POST /contracts/{ds}/versions/{v}/archive": "archive a version",
    "POST /contracts/owners/from-decision-card": "owners from a Decision Card",
    "/api/v1": "search, lines, diff, consumers, impact, lifecycle, policies, notices, audit, tokens: see /docs",
}

_INFO: dict[str, Any] = {
    "name": "treaty",
    "version": treaty.__version__,
    "description": "A registry of data contracts: versions, compatibility, consumers and migrations.",
    "docs": "/docs",
    "endpoints": _ENDPOINTS,
}
_PLAN = "https://wiki.example.org/move-to-v2"


class Deprecation(RequestBody):
    """The address of the migration plan."""

    model_config = ConfigDict(extra="forbid", strict=True)

    deprecation_uri: Uri = Field(examples=["https://wiki.example.org/move-to-v2"])


class Datasets(BaseModel):
    """The ids of all registered contracts."""

    datasets: list[str] = Field(examples=[["sales.orders", "users.daily_active"]])


@routes.post(
    "/contracts",
    Action.REGISTER,
    (400,),
    Cost.EXPENSIVE,
    status_code=201,
    response_model=Registration,
    responses=REGISTRATION_RESPONSES,
    openapi_extra=CONTRACT_BODY,
)
async def register_contract(request: Request) -> Response:
    """Register a version of a contract."""
    registry = await writer_registry(request)
    candidate = await read_candidate(request)
    registration = await asyncio.wrap_future(
        registry.submit_new(candidate.document, compatibility=candidate.compatibility)
    )
    status = 201 if registration.status == "registered" else 202
    return Response(registration.model_dump_json(), status, media_type=JSON)


@routes.get("/contracts/{dataset_id:path}/latest", Action.READ, (404,), responses=contract_response())
async def latest_contract(request: Request, dataset_id: str, form: Format = None) -> Response:
    """Return the highest active version."""
    registry = await caller_registry(request)  # called rather than injected, which costs a tenth of this request
    document = registry.cached_latest_json(dataset_id)
    if document is None:
        document = await run_in_threadpool(registry.latest_json, dataset_id)
    if wants_plain_json(request, form):
        return Response(document, media_type=JSON)
    return await run_in_threadpool(document_response, request, json.loads(document), form)


@routes.post(
    "/contracts/check",
    Action.CHECK,
    cost=Cost.EXPENSIVE,
    response_model=CompatibilityReport,
    openapi_extra=CONTRACT_BODY,
)
async def check_contract(registry: CallerRegistry, request: Request) -> Response:
    """Check a version without registering it."""
    candidate = await read_candidate(request)
    return await judge(
        request,
        candidate.document,
        lambda: registry.check(candidate.document, compatibility=candidate.compatibility),
    )


@routes.post(
    "/contracts/owners/from-decision-card",
    Action.CHECK,
    (400,),
    response_model=list[OwnerAnswer],
    openapi_extra=DECISION_CARD_BODY,
)
async def owners_from_card(registry: CallerRegistry, card: JsonObject) -> list[OwnerAnswer]:
    """Derive owners from a Decision Card."""
    return [OwnerAnswer(team=owner.team, contact=owner.contact) for owner in owners_from_decision_card(card)]


@routes.get("/contracts/{dataset_id:path}/versions", Action.READ, (404,), responses=CONTRACT_LIST_RESPONSE)
def contract_history(
    registry: CallerRegistry,
    request: Request,
    dataset_id: str,
    cursor: Cursor = None,
    limit: Limit = PAGE,
    form: Format = None,
) -> Response:
    """List versions in order of registration; the Link header has the next page."""
    page = registry.history(dataset_id, cursor=cursor, limit=limit)
    documents = [version.document for version in page.items]
    return documents_response(request, documents, form, next_page_link(request, page.next))


@routes.get("/contracts/{dataset_id:path}/versions/{version}", Action.READ, (404,), responses=contract_response())
def get_version(
    registry: CallerRegistry, request: Request, dataset_id: str, version: str, form: Format = None
) -> Response:
    """Return one version."""
    answer = registry.get(dataset_id, version)
    response = document_response(request, answer.document, form)
    response.headers.update(lifecycle_headers(answer))
    return response


@routes.post(
    "/contracts/{dataset_id:path}/versions/{version}/deprecate",
    Action.ADVANCE,
    (400, 404),
    responses=contract_response(status="deprecated", deprecation_uri=_PLAN),
)
def deprecate_version(
    registry: CallerRegistry, request: Request, dataset_id: str, version: str, body: Deprecation, form: Format = None
) -> Response:
    """Deprecate a version."""
    if not body.deprecation_uri.strip():
        raise HTTPException(400, "deprecation_uri must not be blank; link the migration plan")
    registry.deprecate(dataset_id, version, deprecation_uri=body.deprecation_uri)
    return document_response(request, registry.get(dataset_id, version).document, form)


@routes.post(
    "/contracts/{dataset_id:path}/versions/{version}/archive",
    Action.ADVANCE,
    (400, 404),
    responses=contract_response(status="archived", deprecation_uri=_PLAN),
)
def archive_version(
    registry: CallerRegistry, request: Request, dataset_id: str, version: str, form: Format = None
) -> Response:
    """Archive a version. It stays in the history."""
    registry.archive(dataset_id, version)
    return document_response(request, registry.get(dataset_id, version).document, form)


@routes.get("/", Action.READ, tags=["service"], response_model=dict[str, Any], responses=front_page_responses(_INFO))
async def service_info(request: Request) -> Response:
    """Return the name, version and endpoints of the service; browsers get the catalog."""
    if prefers_html(request.headers.get("accept", "")):
        return await front_page(request, await authorized_visit(request))
    await caller_registry(request)
    return JSONResponse(_INFO)


@routes.get("/datasets", Action.READ, response_model=Datasets)
def list_datasets(
    registry: CallerRegistry,
    request: Request,
    cursor: Cursor = None,
    limit: Annotated[int, Query(ge=1, le=MAX_DATASET_IDS)] = MAX_DATASET_IDS,
) -> Response:
    """List dataset ids, up to 10,000; the Link header has the next page."""
    ids: list[str] = []
    following = cursor
    while len(ids) < limit:
        page = registry.datasets(cursor=following, limit=min(1_000, limit - len(ids)))
        ids += page.items
        following = page.next
        if following is None:
            break
    return JSONResponse({"datasets": ids}, headers=next_page_link(request, following))
