"""Answers to Kafka clients: schemas and versions as JSON with their media type, and what headers say of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, TypeVar

from fastapi.responses import Response
from starlette.concurrency import run_in_threadpool

from treaty.registry.store.subjects import StoredSchema
from treaty.schema_registry.model import SchemaType
from treaty.schema_registry.protobuf_schemas import serialize
from treaty.schema_registry.service import SchemaRegistry
from treaty.schema_registry.subject_versions import FoundVersion
from treaty.server.lifecycle_headers import lifecycle_headers

T = TypeVar("T")
MEDIA_TYPE = "application/vnd.schemaregistry.v1+json"
MAX_WARNING_LENGTH = 1_000


def answer(data: Any, headers: dict[str, str] | None = None) -> Response:
    """Return JSON with the media type of schema registries."""
    content = json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    return Response(content, media_type=MEDIA_TYPE, headers=headers)


def schema_data(schema: StoredSchema, text: str) -> dict[str, Any]:
    """Return the parts of a schema; Avro is the type that clients assume."""
    data: dict[str, Any] = {"schema": text}
    if schema.type != SchemaType.AVRO:
        data["schemaType"] = schema.type
    if schema.references:
        data["references"] = list(schema.references)
    if schema.metadata:
        data["metadata"] = schema.metadata
    if schema.rule_set:
        data["ruleSet"] = schema.rule_set
    return data


def schema_text(registry: SchemaRegistry, schema: StoredSchema, form: str) -> str:
    """Return the text of a schema; Protobuf also as a serialized descriptor."""
    if form != "serialized" or schema.type != SchemaType.PROTOBUF:
        return schema.text
    return serialize(registry.parsed(schema))


def version_data(registry: SchemaRegistry, found: FoundVersion, form: str = "") -> dict[str, Any]:
    """Return the parts of a version of a subject, with its schema."""
    head = {"subject": str(found.subject), "version": found.version.version, "id": found.schema.id}
    return {**head, **schema_data(found.schema, schema_text(registry, found.schema, form))}


def life_headers(found: FoundVersion) -> dict[str, str]:
    """Return the headers about the life cycle of the contract version that describes a schema."""
    return lifecycle_headers(found.contract) if found.contract is not None else {}


def warning_headers(warnings: tuple[str, ...]) -> dict[str, str]:
    """Return what Treaty has to say about a registration as a header."""
    text = "; ".join(warnings).replace('"', "'").replace("\n", " ")[:MAX_WARNING_LENGTH]
    return {"Warning": f'299 treaty "{text.encode("ascii", "replace").decode()}"'} if text else {}


async def run(call: Callable[[], T]) -> T:
    """Run a call that may block in a thread."""
    return await run_in_threadpool(call)


def page(items: list[T], offset: int, limit: int) -> list[T]:
    """Return some items of a list; a negative limit means all."""
    return items[offset:] if limit < 0 else items[offset : offset + limit]
