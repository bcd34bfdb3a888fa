"""Read contracts from JSON Schemas."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from treaty.contracts.foreign import ForeignConstruct, add_constructs
from treaty.contracts.model import Contract, SchemaObject
from treaty.contracts.paths import FieldPath
from treaty.contracts.text import read_document
from treaty.contracts.values import FrozenMap, Json, freeze
from treaty.contracts.versions import try_parse_version
from treaty.errors import InvalidDocument
from treaty.formats.flat_terms import as_mapping
from treaty.formats.json_schema.composition import conjoin
from treaty.formats.json_schema.constructs import FORMAT, find_constructs
from treaty.formats.json_schema.documents import JSON_SCHEMA, SchemaDocuments, Vocabulary
from treaty.formats.json_schema.field_reader import FieldReader, read_custom_keywords
from treaty.formats.json_schema.types import ASSERTIONS
from treaty.formats.naming import name_from_path
from treaty.formats.notes import FULL_RULES_KEY, NOTE_KEY, SchemaPart, assemble_contracts, make_contract
from treaty.formats.results import UNVERSIONED, FileReader, Loss, ReadResult, no_contract, read_no_files

ENDINGS = (".schema.json", ".schema.yaml", ".schema.yml", ".json", ".yaml", ".yml")
_OBJECT_KEYWORDS = frozenset({"properties", "patternProperties", "additionalProperties"})
_HINT = "a contract describes rows or events"


def read(text: str, name: str, files: FileReader = read_no_files) -> ReadResult:
    """Read the object that a JSON Schema describes, or each alternative of its `anyOf` or `oneOf`."""
    reader = Reader(name, read_document(text, name).data, files)
    parts = reader.parts()
    return ReadResult(assemble_contracts(parts, name), reader.losses())


@dataclass(frozen=True)
class Root:
    """A top-level object: its node, the references that led to it, and the name of its definition."""

    node: dict[str, Any]
    trail: tuple[str, ...]
    name: str | None = None
    constructs: tuple[ForeignConstruct, ...] = ()


def is_object_schema(node: Mapping[str, Any]) -> bool:
    """Whether a schema, with its references resolved, describes an object with fields."""
    kind = node.get("type")
    is_object = kind == "object" or (isinstance(kind, list) and "object" in kind)
    return is_object or (kind is None and bool(node.keys() & _OBJECT_KEYWORDS))


class Reader:
    """Reads the top-level objects of one schema."""

    def __init__(
        self, source: str, data: Json, files: FileReader = read_no_files, vocabulary: Vocabulary = JSON_SCHEMA
    ) -> None:
        self.source = source
        self.documents = SchemaDocuments(source, data, files, vocabulary)
        self.fields = FieldReader(source, self.documents)
        self._identities: set[str] = set()

    def parts(self) -> list[SchemaPart]:
        """Read all objects that the schema describes."""
        roots = self.roots()
        parts = [self.part(root, several=len(roots) > 1) for root in roots]
        return [*parts[:-1], self._with_definitions(parts[-1])]

    def losses(self) -> tuple[Loss, ...]:
        """Return what the contracts lost of the schema."""
        return (*self.fields.losses, *self.fields.unresolved_losses())

    def roots(self) -> list[Root]:
        """Return the objects that the schema describes: the schema itself, or its alternatives if all are objects."""
        return self.alternatives(self.documents.root, (self.documents.identifier,))

    def alternatives(self, schema: Json, trail: tuple[str, ...]) -> list[Root]:
        """Return the objects that a schema describes; a schema that is no object is returned as it is."""
        composition = self.fields.composition
        node, trail = composition.resolve(schema, trail, keeps_title=True)
        for key in ("anyOf", "oneOf"):
            choices = node.get(key)
            if not isinstance(choices, list) or not choices or "properties" in node:
                continue
            shared = {name: value for name, value in node.items() if name in ASSERTIONS and name != key}
            construct = (ForeignConstruct(FORMAT, "alternatives", key),) if key == "oneOf" else ()
            roots = []
            for choice in choices:
                resolved, inside = composition.resolve(choice, trail, keeps_title=True)
                reference = as_mapping(choice).get("$ref")
                name = reference.rpartition("/")[2] if isinstance(reference, str) else None
                roots.append(Root(conjoin(shared, resolved), inside, name, construct))
            if all(isinstance(root.node.get("properties"), Mapping) for root in roots):
                return roots
        return [Root(node, trail)]

    def part(self, root: Root, *, several: bool = False) -> SchemaPart:
        """Read an object as a contract."""
        node = root.node
        self._require_object(node)
        identity, title = self._identity(root, several=several)
        note = node.get(NOTE_KEY)
        self.fields.closed = node.get("additionalProperties") is False
        self.fields.has_full_rules = isinstance(note, Mapping) and note.get(FULL_RULES_KEY) is True
        item = self.object(root, identity, FieldPath(object=identity if several else None), title)
        return SchemaPart(self._contract(identity, item, node), note)

    def object(self, root: Root, name: str, path: FieldPath, title: str | None = None) -> SchemaObject:
        """Read an object of a contract; `path` is its path in losses."""
        node = root.node
        inside = self.fields.inside(node, path, root.trail)
        expected = {"type": "object"} | ({"additionalProperties": False} if self.fields.closed else {})
        constructs = [*root.constructs, *self.fields.undeclared(node)]
        constructs += find_constructs(node, expected, self.fields.normalizer, root.trail, ("properties", "required"))
        self.fields.add_keyword_losses(node, constructs, path)
        custom = read_custom_keywords(node, ("version", "contract")) or None
        return SchemaObject(
            name,
            description=node.get("description") or None,
            properties=inside,
            custom_properties=add_constructs(custom, constructs),
            more=FrozenMap({"businessName": title} if title else {}),
        )

    def _require_object(self, node: Mapping[str, Any]) -> None:
        if "$ref" in node and not node.keys() & ASSERTIONS:
            message = f"the schema is only a reference to {node['$ref']!r}"
            raise self.refuse(message, "name the file that defines it")
        if is_object_schema(node):
            return
        definitions = [name for key in ("$defs", "definitions") for name in as_mapping(node.get(key))]
        if definitions and not node.keys() & ASSERTIONS:
            listed = ", ".join(definitions[:5]) + (" …" if len(definitions) > 5 else "")
            raise self.refuse(f"the schema does not describe an object; it only defines: {listed}", _HINT)
        raise self.refuse("the schema does not describe an object with properties", _HINT)

    def refuse(self, message: str, hint: str) -> InvalidDocument:
        """Return the error for a schema that describes no object."""
        return no_contract(message, self.source, hint)

    def _contract(self, identity: str, item: SchemaObject, node: Mapping[str, Any]) -> Contract:
        version = node.get("version")
        known = isinstance(version, str) and try_parse_version(version) is not None
        contract = make_contract(identity, item, str(version) if known else UNVERSIONED)
        if not self.fields.closed:
            return contract
        return replace(contract, custom_properties=(freeze({"property": "content", "value": "closed"}),))

    def _with_definitions(self, part: SchemaPart) -> SchemaPart:
        """Add the definitions that are referred to by name only because there are too many to follow."""
        kept = self.fields.kept_definitions()
        constructs = [ForeignConstruct.of(FORMAT, f"definition {name}", node) for name, node in kept.items()]
        custom = add_constructs(part.contract.custom_properties, constructs)
        return replace(part, contract=replace(part.contract, custom_properties=custom))

    def _identity(self, root: Root, *, several: bool) -> tuple[str, str | None]:
        """Return a free name (from the $id, a title of one word, the definition or the file) and the title."""
        node = root.node
        title = node["title"] if isinstance(node.get("title"), str) and node["title"].strip() else None
        name = name_from_path(self.source, ENDINGS)
        if isinstance(node.get("$id"), str) and node["$id"].strip("#/"):
            name = name_from_path(node["$id"].rstrip("#/"), ENDINGS)
        elif title is not None and not any(sign.isspace() for sign in title):
            name = title
        elif several and root.name:
            name = root.name
        if name in self._identities:
            name = next(one for number in range(2, 10_000) if (one := f"{name}_{number}") not in self._identities)
        self._identities.add(name)
        return name, None if title == name else title
