"""Bodies of API documents: schemas that are objects of a contract, and objects that are written as schemas."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from treaty.contracts.foreign import ForeignConstruct
from treaty.contracts.model import Contract, Field, SchemaObject
from treaty.contracts.operations import BODY_FIELD
from treaty.contracts.paths import FieldPath
from treaty.contracts.values import Json
from treaty.formats.json_schema.composition import MAX_FOLLOWED_REFERENCES
from treaty.formats.json_schema.constructs import FORMAT as JSON_SCHEMA
from treaty.formats.json_schema.documents import Vocabulary
from treaty.formats.json_schema.reader import Reader, Root, is_object_schema
from treaty.formats.json_schema.writer import Writer
from treaty.formats.naming import make_identifier, make_type_name, unique_name
from treaty.formats.results import FileReader

MAX_TOTAL_REFERENCES = 10_000
"""References that are followed in one document; further ones are kept by name."""
MAX_TOTAL_FIELDS = 50_000
"""Fields of all bodies of a document, counting nested ones; references of further bodies are kept by name."""


@dataclass(frozen=True)
class Body:
    """An object that a body describes; `wrapped`: the body is no object, and the field `body` contains it.

    `size` is the number of its fields, at any depth.
    """

    item: SchemaObject
    wrapped: bool = False
    size: int = 0


def _count_fields(field: Field) -> int:
    inside = (*(field.properties or ()), *(child for _, child in field.children))
    return 1 + sum(map(_count_fields, inside))


class BodyReader:
    """Reads the bodies of one document."""

    def __init__(self, source: str, data: Mapping[str, Any], files: FileReader, vocabulary: Vocabulary) -> None:
        self.schemas = Reader(source, data, files, vocabulary)
        self.fields = self.schemas.fields
        self.fields.shared_types = {}
        self._followed = 0
        self._size = 0
        self._names: set[str] = set()
        self._known: dict[tuple[str, str | None], Body] = {}

    def read(self, name: str, schema: Json, hidden: str | None = None) -> Iterator[Body]:
        """Yield the object that a body is, or each of its alternatives; `hidden` properties are left out.

        A body that is only a reference is read once, and its losses are reported where it is used first.
        """
        reference = schema["$ref"] if isinstance(schema, Mapping) and schema.keys() == {"$ref"} else None
        known = self._known.get((str(reference), hidden))
        if known is not None and self._size <= MAX_TOTAL_FIELDS:
            self._size += known.size
            yield replace(known, item=replace(known.item, name=self.free_name(name)))
            return
        bodies = list(self._read(name, schema, hidden))
        self._size += sum(body.size for body in bodies)
        if reference is not None and len(bodies) == 1:
            self._known[str(reference), hidden] = bodies[0]
        yield from bodies

    def _read(self, name: str, schema: Json, hidden: str | None) -> Iterator[Body]:
        self.fields.hidden = hidden
        self._followed += self.fields.composition.followed
        is_large = self._followed >= MAX_TOTAL_REFERENCES or self._size > MAX_TOTAL_FIELDS
        self.fields.composition.followed = MAX_FOLLOWED_REFERENCES if is_large else 0
        roots = self.schemas.alternatives(schema, ())
        for number, root in enumerate(roots, 1):
            own_name = self.free_name(f"{name} {root.name or number}" if len(roots) > 1 else name)
            if is_object_schema(root.node):
                item, wrapped = self._object(root, own_name), False
            else:
                item, wrapped = self._wrapped(schema, own_name), True
            yield Body(item, wrapped, sum(map(_count_fields, item.fields)))

    def free_name(self, name: str) -> str:
        """Return the name for an object, with a number if another object has it."""
        free = unique_name(name, self._names)
        self._names.add(free)
        return free

    def kept_definitions(self) -> list[ForeignConstruct]:
        """Return the definitions that bodies refer to by name only, because there are too many to follow."""
        kept = self.fields.kept_definitions()
        return [ForeignConstruct.of(JSON_SCHEMA, f"definition {name}", node) for name, node in kept.items()]

    def _object(self, root: Root, name: str) -> SchemaObject:
        title = root.node.get("title")
        words = title if isinstance(title, str) and title.strip() else None
        return self.schemas.object(root, name, FieldPath(object=name), words)

    def _wrapped(self, schema: Json, name: str) -> SchemaObject:
        path = FieldPath(object=name).field(BODY_FIELD)
        return SchemaObject(name, properties=(self.fields.field(BODY_FIELD, schema, path, required=True),))


class BodyWriter:
    """Writes the objects of one contract as components of a document."""

    def __init__(self, contract: Contract) -> None:
        self.schemas = Writer(contract)
        self.components: dict[str, Json] = {}

    def write(self, name: str, items: Sequence[SchemaObject]) -> tuple[Json, list[str]]:
        """Return the schema of a body whose alternatives are objects, and the names under which they are read."""
        references = [self._component(item) for item in items]
        if len(items) == 1:
            return references[0], [name]
        is_exclusive = any((one.format, one.name) == (JSON_SCHEMA, "alternatives") for one in items[0].foreign)
        names = [f"{name} {reference['$ref'].rpartition('/')[2]}" for reference in references]
        return {"oneOf" if is_exclusive else "anyOf": references}, names

    def write_value(self, item: SchemaObject) -> Json:
        """Return the schema of a body that is no object."""
        return self.schemas.field(item.fields[0])

    def is_value(self, item: SchemaObject) -> bool:
        """Whether an object can be written as a body that is no object."""
        is_single = len(item.fields) == 1 and item.fields[0].name == BODY_FIELD
        return is_single and not is_object_schema(self.schemas.field(item.fields[0]))

    def _component(self, item: SchemaObject) -> dict[str, str]:
        name = make_identifier(make_type_name(item.name), self.components)
        self.components[name] = self.schemas.body(item)
        return {"$ref": f"#/components/schemas/{name}"}
