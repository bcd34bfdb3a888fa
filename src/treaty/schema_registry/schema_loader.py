"""Schemas as clients send them and as they are stored, parsed together with what they refer to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from treaty.registry.store import Connection, subjects
from treaty.registry.store.subjects import Kept, StoredSubjectVersion
from treaty.registry.store.visibility import Sight
from treaty.schema_registry.errors import SchemaRegistryError, invalid_schema, schema_not_found
from treaty.schema_registry.model import InvalidSchema, ParsedSchema, Reference, ReferencedSchema, SchemaType
from treaty.schema_registry.schema_cache import SchemaCache
from treaty.schema_registry.schemas import normalized, parse_schema
from treaty.schema_registry.subject_access import sees_subject
from treaty.schema_registry.subjects import Subject, parse_subject

MAX_REFERENCES = 200
MAX_REFERENCE_DEPTH = 30
LATEST = -1


@dataclass(frozen=True)
class SchemaRequest:
    """A schema as a client sends it; `id` and `version` are given when another registry is taken over."""

    type: SchemaType
    text: str
    references: tuple[Reference, ...] = ()
    metadata: Mapping[str, Any] | None = None
    rule_set: Mapping[str, Any] | None = None
    id: int | None = None
    version: int | None = None


@dataclass(frozen=True)
class SchemaLoader:
    """Parses schemas; those that are stored are parsed once."""

    cache: SchemaCache

    def parse(
        self, connection: Connection, sight: Sight, context: str, request: SchemaRequest, normalize: bool
    ) -> ParsedSchema:
        """Parse a schema with what it refers to; a subject that the actor may not see has no schema to refer to."""
        if len(request.references) > MAX_REFERENCES:
            raise invalid_schema(f"it has more than {MAX_REFERENCES} references")
        for one in request.references:
            target = parse_subject(one.subject, context)
            binding = subjects.find_subject(connection, target.context, target.name)
            if not sees_subject(connection, sight, target, binding):
                raise _without_schema(one, target)
        references = tuple(self._resolve(connection, context, one, 0) for one in request.references)
        try:
            parsed = parse_schema(request.type, request.text, references)
            return replace(parsed, text=normalized(parsed)) if normalize else parsed
        except InvalidSchema as error:
            raise invalid_schema(str(error)) from None

    def load(self, connection: Connection, version: StoredSubjectVersion) -> ParsedSchema:
        """Return the schema of a version, parsed."""
        return self.load_schema(connection, version.context, version.schema)

    def load_schema(self, connection: Connection, context: str, identity: int, depth: int = 0) -> ParsedSchema:
        """Return a schema by its id, parsed, from the cache if it is there."""
        cached = self.cache.parsed(context, identity)
        if cached is not None:
            return cached
        stored = subjects.find_schema(connection, context, identity)
        if stored is None:
            raise schema_not_found(identity)
        references = tuple(
            self._resolve(connection, context, Reference(one["name"], one["subject"], one["version"]), depth)
            for one in stored.references
        )
        parsed = parse_schema(SchemaType(stored.type), stored.text, references)
        self.cache.add_parsed(context, identity, parsed)
        return parsed

    def _resolve(self, connection: Connection, context: str, reference: Reference, depth: int) -> ReferencedSchema:
        """Return what a reference points to."""
        if depth > MAX_REFERENCE_DEPTH:
            raise invalid_schema(f"references are nested more than {MAX_REFERENCE_DEPTH} deep")
        target = parse_subject(reference.subject, context)
        found = subjects.list_versions(connection, target.context, target.name, Kept.BOTH)
        if not found:
            raise _without_schema(reference, target)
        if reference.version == LATEST:
            version = next((one for one in reversed(found) if not one.is_deleted), found[-1])
        else:
            version = next((one for one in found if one.version == reference.version), None)  # type: ignore[assignment]
        if version is None:
            raise invalid_schema(
                f"the reference {reference.name!r} is to version {reference.version} of the subject {str(target)!r}, "
                "which has no such version"
            )
        schema = self.load_schema(connection, version.context, version.schema, depth + 1)
        return ReferencedSchema(replace(reference, version=version.version), schema)


def _without_schema(reference: Reference, target: Subject) -> SchemaRegistryError:
    return invalid_schema(f"the reference {reference.name!r} is to the subject {str(target)!r}, which has no schema")
