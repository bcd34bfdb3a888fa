"""Schemas by their ids, with all that they refer to, from any schema registry; the schema of an id never changes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from treaty.schema_registry.model import ParsedSchema, Reference, ReferencedSchema, SchemaType
from treaty.schema_registry.schemas import parse_schema
from treaty.schema_registry.transfer import VersionRecord


class SchemaSource(Protocol):
    """A schema registry, here or at an address."""

    def schema(self, identity: int) -> VersionRecord | None:
        """Return the schema with an id; None if there is none."""

    def version(self, subject: str, number: int, is_deleted: bool) -> VersionRecord:
        """Return a version of a subject."""


def load_schema(source: SchemaSource, identity: int) -> ParsedSchema | None:
    """Return the schema with an id, parsed with its references; None if the registry does not have it."""
    record = source.schema(identity)
    return None if record is None else _parse(source, record)


def _parse(source: SchemaSource, record: VersionRecord) -> ParsedSchema:
    references = tuple(_referenced(source, one) for one in record.references)
    return parse_schema(SchemaType(record.type), record.schema, references)


def _referenced(source: SchemaSource, entry: Mapping[str, Any]) -> ReferencedSchema:
    reference = Reference(str(entry["name"]), str(entry["subject"]), int(entry["version"]))
    return ReferencedSchema(reference, _parse(source, source.version(reference.subject, reference.version, False)))
