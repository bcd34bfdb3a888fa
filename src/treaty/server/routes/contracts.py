"""Contracts: found, compared, and led through their lives."""

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
from treaty.server.examples.declared import AS_HANDED_IN
from treaty.server.pagination import Cursor, Limit
from treaty.server.request_models import DeprecationBody, OverrideBody
from treaty.server.routing import CallerRegistry, Routes

routes = Routes("contracts", API)
Word = Annotated[str | None, Query(max_length=200)]
Health = Annotated[
    Literal["healthy", "warning", "failing", "none"] | None, Query(description="How its promises are kept.")
]
ModeAsked = Annotated[Mode | None, Query(description="The mode to judge under; a pin holds at least.")]


@routes.get("/contracts", Action.READ)
def search_contracts(
    registry: CallerRegistry,
    q: Annotated[str | None, Query(max_length=200, description="Words anywhere: names, fields, meanings.")] = None,
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
    """Find contracts; every part that is given must fit."""
    wanted = Wanted(q, name, field, owner, domain, tag, tier, status, health)
    return registry.search(wanted, cursor=cursor, limit=limit)


@routes.get("/overview", Action.READ)
def overview(registry: CallerRegistry) -> OverviewAnswer:
    """Count the contracts by domain, tier, status, owning team and health."""
    return registry.overview()


@routes.get("/contracts/{contract:path}/lines", Action.READ, (404,))
def list_lines(registry: CallerRegistry, contract: str) -> list[LineAnswer]:
    """List the lines of a contract, the highest first."""
    return registry.lines(contract)


@routes.get("/contracts/{contract:path}/diff", Action.READ, (404,))
def diff_versions(
    registry: CallerRegistry,
    contract: str,
    before: Annotated[str, Query(max_length=64, examples=["1.0.0"])],
    after: Annotated[str, Query(max_length=64, examples=["1.1.0"])],
    mode: ModeAsked = None,
) -> DiffAnswer:
    """Say what differs between two versions, whom it breaks, and which version it needs."""
    return registry.diff(contract, before, after, compatibility=mode.value if mode else None)


@routes.get("/contracts/{contract:path}/versions", Action.READ, (404,))
def list_versions(
    registry: CallerRegistry, contract: str, cursor: Cursor = None, limit: Limit = PAGE
) -> Page[DocumentAnswer]:
    """List versions with their documents, in the order they were registered."""
    return registry.history(contract, cursor=cursor, limit=limit)


@routes.get("/contracts/{contract:path}/versions/{version}", Action.READ, (404,))
def show_version(registry: CallerRegistry, contract: str, version: str) -> DocumentAnswer:
    """Return one version: its document and where it stands in its life; `latest` is the highest active one."""
    return registry.latest(contract) if version == "latest" else registry.get(contract, version)


@routes.get(
    "/contracts/{contract:path}/versions/{version}/document",
    Action.READ,
    (404,),
    response_class=Response,
    responses=AS_HANDED_IN,
)
def document_as_given(registry: CallerRegistry, contract: str, version: str) -> Response:
    """Return the document exactly as it was handed in."""
    content, media = registry.given(contract, version)
    return Response(content, media_type=media)


@routes.post("/contracts/{contract:path}/versions/{version}/activate", Action.ADVANCE, (404, 409))
def activate_version(registry: CallerRegistry, contract: str, version: str) -> VersionAnswer:
    """Let a draft be read, or take a deprecation back."""
    return registry.activate(contract, version)


@routes.post("/contracts/{contract:path}/versions/{version}/deprecate", Action.ADVANCE, (404, 409))
def deprecate(registry: CallerRegistry, contract: str, version: str, body: DeprecationBody) -> VersionAnswer:
    """Announce that a version goes away."""
    return registry.deprecate(contract, version, deprecation_uri=body.deprecation_uri, sunset_on=body.sunset_on)


@routes.post("/contracts/{contract:path}/versions/{version}/retire", Action.ADVANCE, (404, 409))
def retire_version(registry: CallerRegistry, contract: str, version: str, body: OverrideBody) -> VersionAnswer:
    """End a version once its day has come and nobody reads it."""
    return registry.retire(contract, version, override=body.override)


@routes.post("/contracts/{contract:path}/versions/{version}/archive", Action.ADVANCE, (404, 409))
def archive(registry: CallerRegistry, contract: str, version: str, body: OverrideBody) -> VersionAnswer:
    """Take a version out of use for good; history stays."""
    return registry.archive(contract, version, override=body.override)


@routes.post("/lines/{line:path}/deprecate", Action.ADVANCE, (404, 409))
def deprecate_line(registry: CallerRegistry, line: str, body: DeprecationBody) -> list[VersionAnswer]:
    """Announce that a line goes away."""
    return registry.deprecate_line(line, deprecation_uri=body.deprecation_uri, sunset_on=body.sunset_on)


@routes.post("/lines/{line:path}/retire", Action.ADVANCE, (404, 409))
def retire_line(registry: CallerRegistry, line: str, body: OverrideBody) -> list[VersionAnswer]:
    """End a line: all of its versions, or none."""
    return registry.retire_line(line, override=body.override)


@routes.post("/tick", Action.TICK)
def tick(registry: CallerRegistry) -> list[StepAnswer]:
    """Advance every version whose day has come."""
    return registry.tick()
