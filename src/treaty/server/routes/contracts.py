"""Routes for searching and comparing contracts, and for their lifecycle."""

from __future__ import annotations

import asyncio
from typing import Annotated, Literal

from fastapi import Query, Request
from fastapi.responses import Response

from treaty.compatibility import Mode
from treaty.registry.access.permissions import Action
from treaty.registry.model import (
    ContractAnswer,
    DiffAnswer,
    DocumentAnswer,
    EffectiveAnswer,
    LineAnswer,
    OverviewAnswer,
    Page,
    Registration,
    StepAnswer,
    VersionAnswer,
)
from treaty.registry.model.contract_answers import Query as Wanted
from treaty.registry.model.page import PAGE
from treaty.server.content_negotiation import JSON
from treaty.server.errors import API
from treaty.server.lifecycle_headers import lifecycle_headers
from treaty.server.openapi import CONTRACT_BODY, ORIGINAL_DOCUMENT_RESPONSE, REPEATABLE_REGISTRATION_RESPONSES
from treaty.server.rate_limits import Cost
from treaty.server.request_documents import read_candidate
from treaty.server.request_models import DeprecationBody, OverrideBody
from treaty.server.routing import CallerRegistry, Cursor, Limit, Routes, ShownRegistry, writer_registry

routes = Routes("contracts", API)
Word = Annotated[str | None, Query(max_length=200)]
Health = Annotated[
    Literal["healthy", "warning", "blocked", "failing", "none"] | None,
    Query(description="The health of the contract; `none` if nothing was judged lately."),
]
CompatibilityMode = Annotated[
    Mode | None,
    Query(description="The compatibility mode to judge under. A mode pinned by the contract is the minimum."),
]

Sort = Annotated[
    Literal[
        "name",
        "meaning",
        "owner",
        "status",
        "consumers",
        "changed",
        "-name",
        "-meaning",
        "-owner",
        "-status",
        "-consumers",
        "-changed",
    ]
    | None,
    Query(description="Sort by this, with `-` descending; by id if not given."),
]


@routes.get("/contracts", Action.READ)
def search_contracts(
    registry: CallerRegistry,
    q: Annotated[str | None, Query(max_length=200, description="Words in names, fields or descriptions.")] = None,
    name: Word = None,
    field: Word = None,
    owner: Word = None,
    domain: Word = None,
    tag: Word = None,
    tier: Word = None,
    status: Word = None,
    health: Health = None,
    sort: Sort = None,
    cursor: Cursor = None,
    limit: Limit = PAGE,
) -> Page[ContractAnswer]:
    """Search contracts. All given criteria must match; words with a typo and plurals match, too."""
    wanted = Wanted(q, name, field, owner, domain, tag, tier, status, health, sort)
    return registry.search(wanted, cursor=cursor, limit=limit)


@routes.post(
    "/contracts",
    Action.REGISTER,
    (409,),
    Cost.EXPENSIVE,
    status_code=201,
    response_model=Registration,
    responses=REPEATABLE_REGISTRATION_RESPONSES,
    openapi_extra=CONTRACT_BODY,
)
async def register_version(request: Request) -> Response:
    """Register a version of a contract. The same document again gives the same answer with status 200.

    The current version with another status or deprecation is a step of its life cycle, also with status 200.
    """
    registry = await writer_registry(request)
    candidate = await read_candidate(request)
    registration = await asyncio.wrap_future(registry.submit(candidate.document, compatibility=candidate.compatibility))
    is_new = registration.status == "registered" and not registration.unchanged
    status = 201 if is_new else 202 if registration.status == "proposed" else 200
    return Response(registration.model_dump_json(), status, media_type=JSON)


@routes.get("/overview", Action.READ)
def overview(registry: CallerRegistry) -> OverviewAnswer:
    """Count contracts by domain, tier, status, owning team and health."""
    return registry.overview()


@routes.get("/contracts/{contract:path}/lines", Action.READ, (404,))
def list_lines(registry: ShownRegistry, contract: str) -> list[LineAnswer]:
    """List the lines of a contract, highest first."""
    return registry.lines(contract)


@routes.get("/contracts/{contract:path}/diff", Action.READ, (404,), Cost.EXPENSIVE)
def diff_versions(
    registry: CallerRegistry,
    contract: str,
    before: Annotated[str, Query(max_length=64, examples=["1.0.0"])],
    after: Annotated[str, Query(max_length=64, examples=["1.1.0"])],
    mode: CompatibilityMode = None,
) -> DiffAnswer:
    """Compare two versions: changes, whom they break, and the version they require."""
    return registry.diff(contract, before, after, compatibility=mode.value if mode else None)


@routes.get("/contracts/{contract:path}/versions", Action.READ, (404,))
def list_versions(
    registry: ShownRegistry, contract: str, cursor: Cursor = None, limit: Limit = PAGE
) -> Page[DocumentAnswer]:
    """List versions with their documents, in order of registration."""
    return registry.history(contract, cursor=cursor, limit=limit)


@routes.get("/contracts/{contract:path}/versions/{version}", Action.READ, (404,))
def show_version(
    registry: ShownRegistry,
    response: Response,
    contract: str,
    version: str,
    effective: Annotated[
        bool, Query(description="Whether to add what the contract inherits from its policies, with origins.")
    ] = False,
) -> EffectiveAnswer | DocumentAnswer:
    """Return one version with its document and lifecycle dates. `latest` is the highest active version."""
    answer = registry.latest(contract) if version == "latest" else registry.get(contract, version)
    response.headers.update(lifecycle_headers(answer))
    return registry.effective(contract, answer.version) if effective else answer


@routes.get(
    "/contracts/{contract:path}/versions/{version}/document",
    Action.READ,
    (404,),
    response_class=Response,
    responses=ORIGINAL_DOCUMENT_RESPONSE,
)
def document_as_given(registry: CallerRegistry, contract: str, version: str) -> Response:
    """Return the document exactly as it was submitted."""
    content, media = registry.given(contract, version)
    return Response(content, media_type=media)


@routes.post("/contracts/{contract:path}/versions/{version}/activate", Action.ADVANCE, (404, 409))
def activate_version(registry: CallerRegistry, contract: str, version: str) -> VersionAnswer:
    """Activate a draft, or withdraw a deprecation."""
    return registry.activate(contract, version)


@routes.post("/contracts/{contract:path}/versions/{version}/deprecate", Action.ADVANCE, (404, 409))
def deprecate(registry: CallerRegistry, contract: str, version: str, body: DeprecationBody) -> VersionAnswer:
    """Deprecate a version, now or from the day on which it is announced."""
    return registry.deprecate(contract, version, **body.as_notice())


@routes.post("/contracts/{contract:path}/versions/{version}/retire", Action.ADVANCE, (404, 409))
def retire_version(registry: CallerRegistry, contract: str, version: str, body: OverrideBody) -> VersionAnswer:
    """Retire a version that is due and has no consumers."""
    return registry.retire(contract, version, override=body.override)


@routes.post("/contracts/{contract:path}/versions/{version}/archive", Action.ADVANCE, (404, 409))
def archive(registry: CallerRegistry, contract: str, version: str, body: OverrideBody) -> VersionAnswer:
    """Archive a version. Its history stays."""
    return registry.archive(contract, version, override=body.override)


@routes.post("/lines/{line:path}/deprecate", Action.ADVANCE, (404, 409))
def deprecate_line(registry: CallerRegistry, line: str, body: DeprecationBody) -> list[VersionAnswer]:
    """Deprecate a line. Its consumers get one notice."""
    return registry.deprecate_line(line, **body.as_notice())


@routes.post("/lines/{line:path}/retire", Action.ADVANCE, (404, 409))
def retire_line(registry: CallerRegistry, line: str, body: OverrideBody) -> list[VersionAnswer]:
    """Retire a line: all of its versions or none."""
    return registry.retire_line(line, override=body.override)


@routes.post("/tick", Action.TICK)
def tick(registry: CallerRegistry) -> list[StepAnswer]:
    """Send the notices that are due. The status of a version follows from its dates, without a tick."""
    return registry.tick()


@routes.get("/tick", Action.TICK)
def show_tick(registry: ShownRegistry) -> list[StepAnswer]:
    """List what a tick would announce, without sending or changing anything."""
    return registry.due()
