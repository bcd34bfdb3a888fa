"""Schemas as Kafka clients register them: type, text, references to other subjects, compatibility levels and modes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from treaty.errors import InvalidDocument


class SchemaType(StrEnum):
    """The language of a schema."""

    AVRO = "AVRO"
    JSON = "JSON"
    PROTOBUF = "PROTOBUF"


class CompatibilityLevel(StrEnum):
    """Which versions of a subject a new schema is compared with, and in which direction."""

    NONE = "NONE"
    BACKWARD = "BACKWARD"
    BACKWARD_TRANSITIVE = "BACKWARD_TRANSITIVE"
    FORWARD = "FORWARD"
    FORWARD_TRANSITIVE = "FORWARD_TRANSITIVE"
    FULL = "FULL"
    FULL_TRANSITIVE = "FULL_TRANSITIVE"

    @property
    def is_transitive(self) -> bool:
        """Whether all earlier versions count, not only the latest."""
        return self.value.endswith("_TRANSITIVE")

    @property
    def checks_new_readers(self) -> bool:
        """Whether readers of the new schema must read data of the old ones."""
        return self.value.startswith(("BACKWARD", "FULL"))

    @property
    def checks_old_readers(self) -> bool:
        """Whether readers of the old schemas must read data of the new one."""
        return self.value.startswith(("FORWARD", "FULL"))


class SubjectMode(StrEnum):
    """What may be done with a subject."""

    READWRITE = "READWRITE"
    READONLY = "READONLY"
    READONLY_OVERRIDE = "READONLY_OVERRIDE"
    IMPORT = "IMPORT"


class InvalidSchema(InvalidDocument):
    """A text is not a schema of its type, or refers to something that is not among its references."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A reference to a version of another subject: its name in the schema, the subject and the version."""

    name: str
    subject: str
    version: int

    def as_data(self) -> dict[str, Any]:
        """Return the reference as JSON data."""
        return {"name": self.name, "subject": self.subject, "version": self.version}


@dataclass(frozen=True)
class ParsedSchema:
    """A valid schema with the schemas that it refers to.

    `text` is the schema as it is stored and returned. `model` is the parsed form: an `avro.schema.Schema`, a
    `JsonSchemaModel`, or a `FileDescriptorProto`.
    """

    type: SchemaType
    text: str
    references: tuple[ReferencedSchema, ...] = ()
    model: Any = field(default=None, repr=False, compare=False)


@dataclass(frozen=True)
class ReferencedSchema:
    """A reference together with the schema that it points to."""

    reference: Reference
    schema: ParsedSchema


def all_references(references: Sequence[ReferencedSchema]) -> Iterator[ReferencedSchema]:
    """Yield references with those of the referenced schemas, dependencies first, each name once."""
    seen: set[str] = set()

    def visit(current: Sequence[ReferencedSchema]) -> Iterator[ReferencedSchema]:
        for one in current:
            if one.reference.name not in seen:
                seen.add(one.reference.name)
                yield from visit(one.schema.references)
                yield one

    return visit(references)
