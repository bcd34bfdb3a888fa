"""What clients ask of the registry itself: its cluster, version, types of schemas, contexts and observed usage."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated
from urllib.parse import unquote

from fastapi import Query
from fastapi.responses import Response

import treaty
from treaty.registry.access.permissions import Action
from treaty.schema_registry.model import SchemaType
from treaty.server.routes.schema_registry.schema_answers import answer, page, run
from treaty.server.routes.schema_registry.schema_requests import LimitOrAll, Offset, Reader
from treaty.server.routing import Routes

routes = Routes("schema-registry")


@routes.get("/", Action.READ)
async def describe_schema_registry(registry: Reader) -> Response:
    """Answer clients that look whether the registry is there."""
    return answer({})


@routes.get("/v1/metadata/id", Action.READ)
async def schema_registry_cluster(registry: Reader) -> Response:
    """Return the name of the cluster."""
    return answer({"scope": {"path": [], "clusters": {"schema-registry-cluster": "treaty"}}, "id": ""})


@routes.get("/v1/metadata/version", Action.READ)
async def schema_registry_version(registry: Reader) -> Response:
    """Return the version of the server."""
    return answer({"version": treaty.__version__, "commitId": ""})


@routes.get("/schemas/types", Action.READ)
async def list_schema_types(registry: Reader) -> Response:
    """List the types of schemas."""
    return answer([SchemaType.JSON, SchemaType.PROTOBUF, SchemaType.AVRO])


@routes.get("/contexts", Action.READ)
async def list_contexts(registry: Reader, offset: Offset = 0, limit: LimitOrAll = -1) -> Response:
    """List the contexts."""
    return answer(page(await run(registry.contexts), offset, limit))


@routes.get("/usage/{contract}", Action.READ)
async def list_schema_usage(
    registry: Reader, contract: str, days: Annotated[int, Query(ge=1, le=3_660)] = 30
) -> Response:
    """List which clients used the schemas of a contract, by day: an addition of Treaty."""
    since = registry.context.today - timedelta(days=days - 1)
    used = await run(lambda: registry.observed_usage(unquote(contract), since))
    return answer([one.as_data() for one in used])
