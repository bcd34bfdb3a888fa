"""Configuration and modes of subjects, contexts and all subjects."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Request
from fastapi.responses import Response

from treaty.registry.access.permissions import Action
from treaty.schema_registry.configuration import LEVEL
from treaty.schema_registry.service import SchemaRegistry
from treaty.schema_registry.subjects import Subject
from treaty.server.routes.schema_registry.schema_answers import answer, run
from treaty.server.routes.schema_registry.schema_requests import (
    Flag,
    Reader,
    Writer,
    context_of,
    is_set,
    read_object,
    subject_of,
)
from treaty.server.routing import Routes

routes = Routes("schema-registry")


@routes.get("/config", Action.READ)
async def get_global_config(request: Request, registry: Reader) -> Response:
    """Return the configuration of all subjects."""
    return answer(await run(lambda: registry.config(_place(request, None), True)))


@routes.get("/config/{subject}", Action.READ)
async def get_subject_config(
    request: Request, registry: Reader, subject: str, default: Annotated[str, Query(alias="defaultToGlobal")] = ""
) -> Response:
    """Return the configuration of a subject."""
    return answer(await run(lambda: registry.config(_place(request, subject), is_set(default))))


@routes.put("/config", Action.GOVERN)
async def set_global_config(request: Request, registry: Writer) -> Response:
    """Change the configuration of all subjects."""
    return await _set_config(request, registry, None)


@routes.put("/config/{subject}", Action.ADVANCE)
async def set_subject_config(request: Request, registry: Writer, subject: str) -> Response:
    """Change the configuration of a subject."""
    return await _set_config(request, registry, subject)


async def _set_config(request: Request, registry: SchemaRegistry, subject: str | None) -> Response:
    body = await read_object(request)
    after = await run(lambda: registry.set_config(_place(request, subject), body))
    level = {"compatibility": after[LEVEL]} if LEVEL in after else {}
    return answer({**level, **{name: value for name, value in after.items() if name != LEVEL}})


@routes.delete("/config", Action.GOVERN)
async def delete_global_config(request: Request, registry: Writer) -> Response:
    """Remove the configuration of all subjects."""
    return answer(await run(lambda: registry.delete_config(_place(request, None))))


@routes.delete("/config/{subject}", Action.ADVANCE)
async def delete_subject_config(request: Request, registry: Writer, subject: str) -> Response:
    """Remove the configuration of a subject."""
    return answer(await run(lambda: registry.delete_config(_place(request, subject))))


@routes.get("/mode", Action.READ)
async def get_global_mode(request: Request, registry: Reader) -> Response:
    """Return the mode of all subjects."""
    return answer({"mode": await run(lambda: registry.mode(_place(request, None), True))})


@routes.get("/mode/{subject}", Action.READ)
async def get_subject_mode(
    request: Request, registry: Reader, subject: str, default: Annotated[str, Query(alias="defaultToGlobal")] = ""
) -> Response:
    """Return the mode of a subject."""
    return answer({"mode": await run(lambda: registry.mode(_place(request, subject), is_set(default)))})


@routes.put("/mode", Action.GOVERN)
async def set_global_mode(request: Request, registry: Writer, force: Flag = "") -> Response:
    """Change the mode of all subjects."""
    body = await read_object(request)
    place = _place(request, None)
    return answer({"mode": await run(lambda: registry.set_mode(place, body.get("mode"), is_set(force)))})


@routes.put("/mode/{subject}", Action.ADVANCE)
async def set_subject_mode(request: Request, registry: Writer, subject: str, force: Flag = "") -> Response:
    """Change the mode of a subject."""
    body = await read_object(request)
    place = _place(request, subject)
    return answer({"mode": await run(lambda: registry.set_mode(place, body.get("mode"), is_set(force)))})


@routes.delete("/mode", Action.GOVERN)
async def delete_global_mode(request: Request, registry: Writer) -> Response:
    """Remove the mode of all subjects."""
    return answer({"mode": await run(lambda: registry.delete_mode(_place(request, None)))})


@routes.delete("/mode/{subject}", Action.ADVANCE)
async def delete_subject_mode(request: Request, registry: Writer, subject: str) -> Response:
    """Remove the mode of a subject."""
    return answer({"mode": await run(lambda: registry.delete_mode(_place(request, subject)))})


def _place(request: Request, subject: str | None) -> Subject:
    return Subject(context_of(request), "") if subject is None else subject_of(request, subject)
