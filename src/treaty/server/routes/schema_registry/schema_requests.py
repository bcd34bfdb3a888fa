"""Requests of Kafka clients: the registry of the caller, names and numbers in paths, flags, and bodies."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Annotated, Any, TypeVar
from urllib.parse import unquote

from fastapi import Depends, Query, Request
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from treaty.registry.store.subjects import Kept
from treaty.schema_registry.errors import SchemaRegistryError, invalid_version, schema_not_found
from treaty.schema_registry.model import Reference, SchemaType
from treaty.schema_registry.schema_loader import LATEST, SchemaRequest
from treaty.schema_registry.service import SchemaRegistry
from treaty.schema_registry.subjects import DEFAULT_CONTEXT, Subject, parse_context, parse_subject
from treaty.schema_registry.usage import UsageRecorder
from treaty.server.request_documents import work_on_document
from treaty.server.routing import caller_registry, writer_registry
from treaty.server.schema_registry_paths import CONTEXT_STATE

T = TypeVar("T")
MAX_VERSION = 2**31 - 1
_TRUE = frozenset({"true", "1", "yes"})

Flag = Annotated[str, Query(max_length=20)]
Offset = Annotated[int, Query(ge=0)]
LimitOrAll = Annotated[int, Query(ge=-1)]


class ReferenceBody(BaseModel):
    """A reference of a schema."""

    name: str
    subject: str
    version: int


class SchemaBody(BaseModel):
    """A schema in a request; clients may send more than is read."""

    model_config = ConfigDict(populate_by_name=True)

    schema_: str = Field(alias="schema")
    schema_type: str | None = Field(None, alias="schemaType")
    references: list[ReferenceBody] | None = None
    metadata: dict[str, Any] | None = None
    rule_set: dict[str, Any] | None = Field(None, alias="ruleSet")
    id: int | None = None
    version: int | None = None

    def as_request(self) -> SchemaRequest:
        """Return the request; a schema without a type is Avro."""
        try:
            kind = SchemaType((self.schema_type or SchemaType.AVRO).upper())
        except ValueError:
            raise SchemaRegistryError(
                42201, f"Invalid schema type {self.schema_type}; use one of: {', '.join(SchemaType)}"
            ) from None
        references = tuple(Reference(one.name, one.subject, one.version) for one in self.references or ())
        identity = self.id if self.id is not None and self.id > 0 else None
        version = self.version if self.version is not None and self.version > 0 else None
        return SchemaRequest(
            kind, self.schema_, references, self.metadata or None, self.rule_set or None, identity, version
        )


async def reader(request: Request) -> SchemaRegistry:
    """Return the schema registry of the caller."""
    return _for_caller(request, await caller_registry(request))


async def writer(request: Request) -> SchemaRegistry:
    """Return the schema registry of the caller, for a single write."""
    return _for_caller(request, await writer_registry(request))


Reader = Annotated[SchemaRegistry, Depends(reader)]
Writer = Annotated[SchemaRegistry, Depends(writer)]


def _for_caller(request: Request, registry: Any) -> SchemaRegistry:
    parts = request.app.state.schema_registry
    actor = registry.context.actor
    signed_in = actor.via not in ("anonymous", "local")
    usage: UsageRecorder = parts.usage
    agent = request.headers.get("user-agent")
    client = actor.name if signed_in else usage.name_unknown(agent, registry.context.today)
    return SchemaRegistry(registry.context, parts.cache, usage, parts.governance, client)


def context_of(request: Request) -> str:
    """Return the context that the path names, else the default one."""
    text = getattr(request.state, CONTEXT_STATE, None)
    return DEFAULT_CONTEXT if text is None else parse_context(text)


def subject_of(request: Request, text: str) -> Subject:
    """Return the subject that a part of the path names."""
    return parse_subject(unquote(text), context_of(request))


def is_set(text: str) -> bool:
    """Return whether a flag of the query is set."""
    return text.lower() in _TRUE


def kept_versions(deleted: str, deleted_only: str = "") -> Kept:
    """Return which versions the flags of the query ask for."""
    return Kept.DELETED if is_set(deleted_only) else Kept.BOTH if is_set(deleted) else Kept.ACTIVE


def parse_version(text: str) -> int:
    """Parse the number of a version, or `latest`."""
    if text in ("latest", "-1"):
        return LATEST
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= MAX_VERSION:
        raise invalid_version(unquote(text))
    return int(text)


def parse_id(text: str) -> int:
    """Parse the id of a schema; no schema has another kind of id."""
    if not text.isascii() or not text.isdigit() or len(text) > 18:
        raise schema_not_found(unquote(text))
    return int(text)


async def _read_json(request: Request) -> Any:
    try:
        return json.loads(await request.body())
    except (ValueError, RecursionError):
        raise SchemaRegistryError(42201, "the body is not JSON; send a JSON object") from None


async def read_schema(request: Request) -> SchemaRequest:
    """Read the schema in the body of a request."""
    data = await _read_json(request)
    try:
        return SchemaBody.model_validate(data).as_request()
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "the body"
        raise SchemaRegistryError(42201, f"Invalid schema: {place}: {first['msg']}") from None


async def work_on_schema(request: Request, work: Callable[[], T]) -> T:
    """Do work on the schema in the body of a request; large ones one at a time, and they count more than once."""
    return await work_on_document(request, await request.body(), work)


async def read_object(request: Request) -> dict[str, Any]:
    """Read the JSON object in the body of a request."""
    data = await _read_json(request)
    if not isinstance(data, dict):
        raise SchemaRegistryError(422, "the body is not a JSON object")
    return data
