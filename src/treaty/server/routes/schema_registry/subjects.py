"""Subjects and their versions: lists, registration, lookups and deletion."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Request
from fastapi.responses import Response

from treaty.registry.access.permissions import Action
from treaty.schema_registry.subjects import parse_subject
from treaty.server.rate_limits import Cost
from treaty.server.routes.schema_registry.schema_answers import (
    MEDIA_TYPE,
    answer,
    life_headers,
    page,
    run,
    version_data,
    warning_headers,
)
from treaty.server.routes.schema_registry.schema_requests import (
    Flag,
    LimitOrAll,
    Offset,
    Reader,
    Writer,
    context_of,
    is_set,
    kept_versions,
    parse_version,
    read_schema,
    subject_of,
    work_on_schema,
)
from treaty.server.routing import Routes
from treaty.server.schema_registry_paths import CONTEXT_STATE

_ALL = ":*:"

routes = Routes("schema-registry")


@routes.get("/subjects", Action.READ)
async def list_subjects(
    request: Request,
    registry: Reader,
    prefix: Annotated[str, Query(alias="subjectPrefix")] = "",
    deleted: Flag = "",
    deleted_only: Annotated[str, Query(alias="deletedOnly")] = "",
    offset: Offset = 0,
    limit: LimitOrAll = -1,
) -> Response:
    """List the subjects, by default of all contexts."""
    context = getattr(request.state, CONTEXT_STATE, None)
    default = _ALL if context is None else ""
    wanted = parse_subject(prefix or default, context_of(request))
    found = await run(lambda: registry.subjects(wanted, kept_versions(deleted, deleted_only)))
    return answer([str(one) for one in page(found, offset, limit)])


@routes.get("/subjects/{subject}/versions", Action.READ)
async def list_subject_versions(
    request: Request,
    registry: Reader,
    subject: str,
    deleted: Flag = "",
    deleted_only: Annotated[str, Query(alias="deletedOnly")] = "",
    offset: Offset = 0,
    limit: LimitOrAll = -1,
) -> Response:
    """List the versions of a subject."""
    target = subject_of(request, subject)
    found = await run(lambda: registry.versions(target, kept_versions(deleted, deleted_only)))
    return answer(page(found, offset, limit))


@routes.post("/subjects/{subject}/versions", Action.REGISTER, (409,), Cost.EXPENSIVE)
async def register_schema(request: Request, registry: Writer, subject: str, normalize: Flag = "") -> Response:
    """Register a schema under a subject."""
    schema, target = await read_schema(request), subject_of(request, subject)
    registered = await work_on_schema(request, lambda: registry.register(target, schema, is_set(normalize)))
    # without the text: clients would take it for the serialized descriptor that they sent
    data = {"id": registered.schema.id, "version": registered.version}
    return answer(data, warning_headers(registered.warnings))


@routes.post("/subjects/{subject}", Action.READ, (404,))
async def look_up_schema(
    request: Request,
    registry: Reader,
    subject: str,
    normalize: Flag = "",
    deleted: Flag = "",
    form: Annotated[str, Query(alias="format")] = "",
) -> Response:
    """Return the version of a subject that has a schema."""
    schema, target = await read_schema(request), subject_of(request, subject)

    def find() -> Response:
        found = registry.lookup(target, schema, kept_versions(deleted), is_set(normalize))
        return answer(version_data(registry, found, form), life_headers(found))

    return await work_on_schema(request, find)


@routes.get("/subjects/{subject}/metadata", Action.READ)
async def get_latest_with_metadata(
    request: Request,
    registry: Reader,
    subject: str,
    key: Annotated[list[str], Query()] = [],  # noqa: B006 - never changed
    value: Annotated[list[str], Query()] = [],  # noqa: B006
    deleted: Flag = "",
    form: Annotated[str, Query(alias="format")] = "",
) -> Response:
    """Return the latest version whose metadata have some properties."""
    target, wanted = subject_of(request, subject), dict(zip(key, value, strict=False))

    def find() -> Response:
        found = registry.latest_with_metadata(target, wanted, kept_versions(deleted))
        return answer(version_data(registry, found, form), life_headers(found))

    return await run(find)


@routes.get("/subjects/{subject}/versions/{version}", Action.READ)
async def get_subject_version(
    request: Request,
    registry: Reader,
    subject: str,
    version: str,
    deleted: Flag = "",
    form: Annotated[str, Query(alias="format")] = "",
) -> Response:
    """Return a version of a subject."""
    target, number = subject_of(request, subject), parse_version(version)

    def find() -> Response:
        found = registry.version(target, number, kept_versions(deleted))
        return answer(version_data(registry, found, form), life_headers(found))

    return await run(find)


@routes.get("/subjects/{subject}/versions/{version}/schema", Action.READ)
async def get_subject_version_text(
    request: Request, registry: Reader, subject: str, version: str, deleted: Flag = ""
) -> Response:
    """Return the text of the schema of a version."""
    target, number = subject_of(request, subject), parse_version(version)
    found = await run(lambda: registry.version(target, number, kept_versions(deleted)))
    return Response(found.schema.text, media_type=MEDIA_TYPE, headers=life_headers(found))


@routes.get("/subjects/{subject}/versions/{version}/referencedby", Action.READ)
async def list_referencing_schemas(request: Request, registry: Reader, subject: str, version: str) -> Response:
    """List the ids of the schemas that refer to a version."""
    target, number = subject_of(request, subject), parse_version(version)
    return answer(await run(lambda: registry.referenced_by(target, number)))


@routes.delete("/subjects/{subject}", Action.ADVANCE)
async def delete_subject(request: Request, registry: Writer, subject: str, permanent: Flag = "") -> Response:
    """Delete a subject."""
    target = subject_of(request, subject)
    return answer(await run(lambda: registry.delete_subject(target, is_set(permanent))))


@routes.delete("/subjects/{subject}/versions/{version}", Action.ADVANCE)
async def delete_subject_version(
    request: Request, registry: Writer, subject: str, version: str, permanent: Flag = ""
) -> Response:
    """Delete a version of a subject."""
    target, number = subject_of(request, subject), parse_version(version)
    return answer(await run(lambda: registry.delete_version(target, number, is_set(permanent))))
