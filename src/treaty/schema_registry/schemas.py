"""Parse a schema of any type, and write the form by which equal schemas are recognised."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from treaty.schema_registry import avro_schemas, json_schemas, protobuf_schemas
from treaty.schema_registry.model import InvalidSchema, ParsedSchema, ReferencedSchema, SchemaType

MAX_SCHEMA_LENGTH = 2_000_000


class SchemaFormat(Protocol):
    """What a module of a schema type offers."""

    def parse(self, text: str, references: tuple[ReferencedSchema, ...]) -> ParsedSchema:
        """Parse a schema."""

    def canonical(self, schema: ParsedSchema) -> str:
        """Return the canonical text."""

    def normalized(self, schema: ParsedSchema) -> str:
        """Return the normalised text."""


_FORMATS: Mapping[SchemaType, SchemaFormat] = {
    SchemaType.AVRO: avro_schemas,
    SchemaType.JSON: json_schemas,
    SchemaType.PROTOBUF: protobuf_schemas,
}


def parse_schema(type: SchemaType, text: str, references: Sequence[ReferencedSchema] = ()) -> ParsedSchema:  # noqa: A002
    """Parse a schema with the schemas that it refers to; raise InvalidSchema if it is not valid."""
    if not text.strip():
        raise InvalidSchema("the schema is empty; send its text as 'schema'")
    if len(text) > MAX_SCHEMA_LENGTH:
        raise InvalidSchema(f"the schema has {len(text)} characters, the limit is {MAX_SCHEMA_LENGTH}; split it")
    return _FORMATS[type].parse(text, tuple(references))


def canonical(schema: ParsedSchema) -> str:
    """Return the canonical text: schemas that differ only in layout have the same."""
    return _FORMATS[schema.type].canonical(schema)


def normalized(schema: ParsedSchema) -> str:
    """Return the normalised text: schemas that mean the same, written in another order, have the same."""
    return _FORMATS[schema.type].normalized(schema)


def digest_of_schema(
    parsed: ParsedSchema, metadata: Mapping[str, Any] | None, rule_set: Mapping[str, Any] | None
) -> str:
    """Return the digest of what makes two schemas the same: type, text, references, metadata and rules."""
    references = [one.reference.as_data() for one in parsed.references]
    parts = [parsed.type, parsed.text, references, metadata or None, rule_set or None]
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
