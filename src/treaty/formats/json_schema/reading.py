"""JSON Schema text to contracts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from treaty.contracts.findings import Place
from treaty.contracts.model import Contract, SchemaObject
from treaty.contracts.paths import FieldPath
from treaty.contracts.reading import read_document
from treaty.contracts.reading.limits import refuse
from treaty.contracts.values import FrozenMap, Json, freeze
from treaty.contracts.versions import version_or_none
from treaty.errors import InvalidDocument
from treaty.formats.assembling import Part, assembled, contract_of
from treaty.formats.carrying import NOTE
from treaty.formats.json_schema.fields import Fields, attributes
from treaty.formats.json_schema.nodes import Elsewhere, Endless, Node, whole
from treaty.formats.naming import stem
from treaty.formats.results import UNVERSIONED, Read

ENDINGS = (".schema.json", ".schema.yaml", ".schema.yml", ".json", ".yaml", ".yml")


def read(text: str, name: str) -> Read:
    """Read the object that a JSON Schema describes, or each of the objects it offers."""
    data = read_document(text, name).data
    reader = Reader(name, data)
    parts = [reader.part(root) for root in reader.roots()]
    return Read(assembled(parts, name), tuple(reader.fields.losses))


class Reader:
    """Reads the objects at the top of one schema."""

    def __init__(self, source: str, data: dict[str, Json]) -> None:
        self.source = source
        self.data = data
        self.fields = Fields(source, data)

    def roots(self) -> list[Node]:
        """Return the objects that the schema describes."""
        choices = next((self.data[key] for key in ("anyOf", "oneOf") if isinstance(self.data.get(key), list)), None)
        if choices and "properties" not in self.data:
            return [one for one in choices if isinstance(one, Mapping)]
        return [self.data]

    def part(self, root: Node) -> Part:
        """Read an object as a contract of its own."""
        try:
            node, followed = whole(self.data, root, keeps_title=True)
        except (Elsewhere, Endless) as error:
            message = f"the schema is only a reference, to {error.reference!r}"
            raise self.refuse(message, "name the file that defines it") from None
        if not isinstance(node.get("properties"), Mapping):
            raise self.refuse("the schema describes no object with properties", "a contract describes rows or events")
        identity, title = self._identity(node)
        several = len(self.roots()) > 1
        self.fields.closed = node.get("additionalProperties") is False
        inside = self.fields.inside(node, FieldPath(object=identity if several else None), followed)
        item = SchemaObject(
            identity,
            description=node.get("description") or None,
            properties=inside,
            custom_properties=attributes(node, ("version", "contract")) or None,
            more=FrozenMap({"businessName": title} if title else {}),
        )
        return Part(self._contract(identity, item, node), node.get(NOTE))

    def refuse(self, message: str, hint: str) -> InvalidDocument:
        """Return the error for a schema that is no contract."""
        return refuse(message, Place(self.source), hint)

    def _contract(self, identity: str, item: SchemaObject, node: Mapping[str, Any]) -> Contract:
        version = node.get("version")
        known = isinstance(version, str) and version_or_none(version) is not None
        contract = contract_of(identity, item, str(version) if known else UNVERSIONED)
        if not self.fields.closed:
            return contract
        return replace(contract, custom_properties=(freeze({"property": "content", "value": "closed"}),))

    def _identity(self, node: Mapping[str, Any]) -> tuple[str, str | None]:
        """Return what the schema is called: by its $id, its title if that is one word, or its file; and its title."""
        title = node.get("title") if isinstance(node.get("title"), str) and node["title"].strip() else None
        if isinstance(node.get("$id"), str) and node["$id"].strip("#/"):
            last = stem(node["$id"].rstrip("#/"), ENDINGS)
            return last, None if title == last else title
        if title is not None and not any(sign.isspace() for sign in title):
            return title, None
        return stem(self.source, ENDINGS), title
