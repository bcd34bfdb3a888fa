"""Checks of a schema against the versions of a subject."""

from __future__ import annotations

from typing import Any

from fastapi import Request
from fastapi.responses import Response

from treaty.registry.access.permissions import Action
from treaty.schema_registry.service import SchemaRegistry
from treaty.server.rate_limits import Cost
from treaty.server.routes.schema_registry.schema_answers import answer
from treaty.server.routes.schema_registry.schema_requests import (
    Flag,
    Reader,
    is_set,
    parse_version,
    read_schema,
    subject_of,
    work_on_schema,
)
from treaty.server.routing import Routes

routes = Routes("schema-registry")


@routes.post("/compatibility/subjects/{subject}/versions", Action.CHECK, (404,), Cost.EXPENSIVE)
async def check_against_subject(
    request: Request, registry: Reader, subject: str, verbose: Flag = "", normalize: Flag = ""
) -> Response:
    """Check a schema against the versions that the level of its subject names."""
    return await _check(request, registry, subject, None, verbose, normalize)


@routes.post("/compatibility/subjects/{subject}/versions/{version}", Action.CHECK, (404,), Cost.EXPENSIVE)
async def check_against_version(
    request: Request, registry: Reader, subject: str, version: str, verbose: Flag = "", normalize: Flag = ""
) -> Response:
    """Check a schema against one version."""
    return await _check(request, registry, subject, parse_version(version), verbose, normalize)


async def _check(
    request: Request, registry: SchemaRegistry, subject: str, version: int | None, verbose: str, normalize: str
) -> Response:
    schema, target = await read_schema(request), subject_of(request, subject)
    messages = await work_on_schema(request, lambda: registry.compatibility(target, version, schema, is_set(normalize)))
    data: dict[str, Any] = {"is_compatible": not messages}
    if is_set(verbose):
        data["messages"] = messages
    return answer(data)
