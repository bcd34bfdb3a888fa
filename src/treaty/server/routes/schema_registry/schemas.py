"""Schemas by id, and the list of all schemas."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query, Request
from fastapi.responses import Response

from treaty.registry.access.permissions import Action
from treaty.schema_registry.subjects import Subject, parse_subject
from treaty.server.routes.schema_registry.schema_answers import (
    MEDIA_TYPE,
    answer,
    page,
    run,
    schema_data,
    schema_text,
    version_data,
)
from treaty.server.routes.schema_registry.schema_requests import (
    Flag,
    LimitOrAll,
    Offset,
    Reader,
    context_of,
    is_set,
    kept_versions,
    parse_id,
    reader,
)
from treaty.server.routing import Routes

routes = Routes("schema-registry")


@routes.get("/schemas/ids/{identity}", Action.READ)
async def get_schema_by_id(request: Request, identity: str) -> Response:
    """Return a schema by its id. The query is read here, because this route is called most."""
    registry = await reader(request)
    query = request.query_params if request.scope["query_string"] else {}
    subject, form = query.get("subject"), query.get("format", "")
    target = parse_subject(subject, context_of(request)) if subject else None
    context, number = target.context if target else context_of(request), parse_id(identity)
    stored = registry.cached_schema(context, number, target)
    if stored is None:
        stored = await run(lambda: registry.schema(context, number, target))
    text = stored.text if form != "serialized" else await run(lambda: schema_text(registry, stored, form))
    data = schema_data(stored, text)
    if is_set(query.get("fetchMaxId", "")):
        data["maxId"] = await run(lambda: registry.highest_id(context))
    return answer(data)


@routes.get("/schemas/ids/{identity}/schema", Action.READ)
async def get_schema_text_by_id(
    request: Request, registry: Reader, identity: str, form: Annotated[str, Query(alias="format")] = ""
) -> Response:
    """Return the text of a schema by its id."""
    stored = await run(lambda: registry.schema(context_of(request), parse_id(identity)))
    return Response(await run(lambda: schema_text(registry, stored, form)), media_type=MEDIA_TYPE)


@routes.get("/schemas/ids/{identity}/subjects", Action.READ)
async def list_subjects_of_schema(request: Request, registry: Reader, identity: str, deleted: Flag = "") -> Response:
    """List the subjects that have a schema."""
    used = await run(lambda: registry.schema_versions(context_of(request), parse_id(identity), kept_versions(deleted)))
    return answer(sorted({str(Subject(one.context, one.subject)) for one in used}))


@routes.get("/schemas/ids/{identity}/versions", Action.READ)
async def list_versions_of_schema(request: Request, registry: Reader, identity: str, deleted: Flag = "") -> Response:
    """List the versions of subjects that have a schema."""
    used = await run(lambda: registry.schema_versions(context_of(request), parse_id(identity), kept_versions(deleted)))
    return answer([{"subject": str(Subject(one.context, one.subject)), "version": one.version} for one in used])


@routes.get("/schemas", Action.READ)
async def list_schemas(
    request: Request,
    registry: Reader,
    prefix: Annotated[str, Query(alias="subjectPrefix")] = "",
    deleted: Flag = "",
    latest_only: Annotated[str, Query(alias="latestOnly")] = "",
    offset: Offset = 0,
    limit: LimitOrAll = -1,
) -> Response:
    """List the versions of all subjects with their schemas."""

    def find() -> list[dict[str, Any]]:
        listed = registry.versions_below(parse_subject(prefix, context_of(request)), kept_versions(deleted))
        if is_set(latest_only):
            listed = list({(one.context, one.subject): one for one in listed}.values())
        return [version_data(registry, found) for found in registry.schemas_of(page(listed, offset, limit))]

    return answer(await run(find))
