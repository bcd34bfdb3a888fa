"""Routes for searching and comparing contracts, and for their lifecycle."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import Query
from fastapi.responses import Response

from treaty.compatibility import Mode
from treaty.registry.access.permissions import Action
from treaty.registry.model import (
    ContractAnswer,
    DiffAnswer,
    DocumentAnswer,
    LineAnswer,
    OverviewAnswer,
    Page,
    StepAnswer,
    VersionAnswer,
)
from treaty.registry.model.contract_answers import Query as Wanted
from treaty.registry.model.page import PAGE
from treaty.server.errors import API
from treaty.server.openapi import ORIGINAL_DOCUMENT_RESPONSE
from treaty.server.request_models import DeprecationBody, OverrideBody
from treaty.server.routing import CallerRegistry, Cursor, Limit, Routes

routes = Routes("contracts", API)
Word = Annotated[str | None, Query(max_length=200)]
Health = Annotated[
    Literal["healthy", "warning", "failing", "none"] | None,
    Query(description="Whether the contract meets its service levels."),
]
CompatibilityMode = Annotated[
    Mode | None,
    Query(description="The compatibility mode to judge under. A mode pinned by the contract is the minimum."),
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
    cursor: Cursor = None,
    limit: Limit = PAGE,
) -> Page[ContractAnswer]:
    """Search contracts. All given criteria must match."""
    wanted = Wanted(q, name, field, owner, domain, tag, tier, status, health)
    return registry.search(wanted, cursor=cursor, limit=limit)


@routes.get("/overview", Action.READ)
def overview(registry: CallerRegistry) -> OverviewAnswer:
    """Count contracts by domain, tier, status, owning team and health."""
    return registry.overview()


@routes.get("/contracts/{contract:path}/lines", Action.READ, (404,))
def list_lines(registry: CallerRegistry, contract: str) -> list[LineAnswer]:
    """List the lines of a contract, highest first."""
    return registry.lines(contract)


@routes.get("/contracts/{contract:path}/diff", Action.READ, (404,))
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
    registry: CallerRegistry, contract: str, cursor: Cursor = None, limit: Limit = PAGE
) -> Page[DocumentAnswer]:
    """List versions with their documents, in order of registration."""
    return registry.history(contract, cursor=cursor, limit=limit)


@routes.get("/contracts/{contract:path}/versions/{version}", Action.READ, (404,))
def show_version(registry: CallerRegistry, contract: str, version: str) -> DocumentAnswer:
    """Return one version with its document and lifecycle dates. `latest` is the highest active version."""
    return registry.latest(contract) if version == "latest" else registry.get(contract, version)


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
    """Deprecate a version."""
    return registry.deprecate(contract, version, deprecation_uri=body.deprecation_uri, sunset_on=body.sunset_on)


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
    """Deprecate a line."""
    return registry.deprecate_line(line, deprecation_uri=body.deprecation_uri, sunset_on=body.sunset_on)


@routes.post("/lines/{line:path}/retire", Action.ADVANCE, (404, 409))
def retire_line(registry: CallerRegistry, line: str, body: OverrideBody) -> list[VersionAnswer]:
    """Retire a line: all of its versions or none."""
    return registry.retire_line(line, override=body.override)


@routes.post("/tick", Action.TICK)
def tick(registry: CallerRegistry) -> list[StepAnswer]:
    """Advance all versions whose lifecycle dates are due."""
    return registry.tick()
