"""JSON Schema text to contracts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from treaty.contracts.findings import Place
from treaty.contracts.model import Contract, Field, SchemaObject
from treaty.contracts.paths import ITEMS, MAP_KEYS, MAP_VALUES, FieldPath
from treaty.contracts.patterns import PatternCheck
from treaty.contracts.text import read_document
from treaty.contracts.text.limits import refuse
from treaty.contracts.values import EMPTY, FrozenMap, Json, brief, freeze
from treaty.contracts.versions import version_or_none
from treaty.errors import InvalidDocument
from treaty.formats.flat_terms import as_mapping
from treaty.formats.json_schema.references import (
    CircularReference,
    Node,
    UnresolvedReference,
    resolve_node,
    split_null,
)
from treaty.formats.json_schema.types import ANY, BINARY, KNOWN_KEYWORDS, LOST_KEYWORDS, OPTION_KEYWORDS, TYPES
from treaty.formats.naming import name_from_path
from treaty.formats.notes import NOTE_KEY, SchemaPart, apply_note, assemble_contracts, make_contract
from treaty.formats.results import UNVERSIONED, Loss, ReadResult

ENDINGS = (".schema.json", ".schema.yaml", ".schema.yml", ".json", ".yaml", ".yml")


def read(text: str, name: str) -> ReadResult:
    """Read the object that a JSON Schema describes, or each of the objects it offers."""
    data = read_document(text, name).data
    reader = Reader(name, data)
    parts = [reader.part(root) for root in reader.roots()]
    return ReadResult(assemble_contracts(parts, name), tuple(reader.fields.losses))


class Reader:
    """Reads the objects at the top of one schema."""

    def __init__(self, source: str, data: dict[str, Json]) -> None:
        self.source = source
        self.data = data
        self.fields = FieldReader(source, data)

    def roots(self) -> list[Node]:
        """Return the objects that the schema describes."""
        choices = next((self.data[key] for key in ("anyOf", "oneOf") if isinstance(self.data.get(key), list)), None)
        if choices and "properties" not in self.data:
            return [one for one in choices if isinstance(one, Mapping)]
        return [self.data]

    def part(self, root: Node) -> SchemaPart:
        """Read an object as a contract of its own."""
        try:
            node, followed = resolve_node(self.data, root, keeps_title=True)
        except (UnresolvedReference, CircularReference) as error:
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
            custom_properties=read_custom_keywords(node, ("version", "contract")) or None,
            more=FrozenMap({"businessName": title} if title else {}),
        )
        return SchemaPart(self._contract(identity, item, node), node.get(NOTE_KEY))

    def refuse(self, message: str, hint: str) -> InvalidDocument:
        """Return the error for a schema that is no contract."""
        return refuse(message, Place(self.source), hint)

    def _contract(self, identity: str, item: SchemaObject, node: Mapping[str, Any]) -> Contract:
        version = node.get("version")
        known = isinstance(version, str) and version_or_none(version) is not None
        contract = make_contract(identity, item, str(version) if known else UNVERSIONED)
        if not self.fields.closed:
            return contract
        return replace(contract, custom_properties=(freeze({"property": "content", "value": "closed"}),))

    def _identity(self, node: Mapping[str, Any]) -> tuple[str, str | None]:
        """Return what the schema is called: by its $id, its title if that is one word, or its file; and its title."""
        title = node.get("title") if isinstance(node.get("title"), str) and node["title"].strip() else None
        if isinstance(node.get("$id"), str) and node["$id"].strip("#/"):
            last = name_from_path(node["$id"].rstrip("#/"), ENDINGS)
            return last, None if title == last else title
        if title is not None and not any(sign.isspace() for sign in title):
            return title, None
        return name_from_path(self.source, ENDINGS), title


_BY_VALUE = {bool: "boolean", int: "integer", float: "number", str: "string"}


class FieldReader:
    """Reads fields at any depth of one schema, and names what they lose."""

    def __init__(self, source: str, root: Json) -> None:
        self.source = source
        self.root = root
        self.losses: list[Loss] = []
        self.closed = False
        self._patterns = PatternCheck()

    def inside(self, node: Node, path: FieldPath, seen: tuple[str, ...]) -> tuple[Field, ...]:
        """Read the properties of an object."""
        self._name_losses(node, path)
        needed = node.get("required")
        needed = needed if isinstance(needed, list) else []
        found: list[Field] = []
        for name, one in node["properties"].items():
            found.append(self.field(name, one, path.field(name), seen, required=name in needed))
        return tuple(found)

    def field(
        self, name: str | None, node: Json, path: FieldPath, seen: tuple[str, ...] = (), *, required: bool = False
    ) -> Field:
        """Read one schema as a field; without a name it is an element, a map's key or value."""
        if isinstance(node, bool):
            node = {}
        if not isinstance(node, Mapping):
            raise refuse(f"{brief(node)!r} is no schema, at {path}", Place(self.source), "write a mapping")
        try:
            merged, followed = resolve_node(self.root, node, seen)
            merged, followed, nullable = split_null(self.root, merged, followed)
        except UnresolvedReference as error:
            self._lose(path, f"what {error.reference} says", "it is not in this file")
            return Field(name, physical_type=f"$ref {error.reference}", required=required or None)
        except CircularReference as error:
            message = f"the schema {error.reference!r} contains itself at {path}"
            raise refuse(
                message, Place(self.source), "a contract's fields end somewhere: refer by a key instead"
            ) from None
        kind = self._kind(merged, path, followed)
        title, default = merged.get("title"), merged.get("default")
        entries = [FrozenMap({"property": "default", "value": default})] if default is not None else []
        native = replace(
            kind,
            name=name,
            required=(required and not nullable) or None,
            description=merged.get("description") or None,
            business_name=None if _is_made_up(title, name) else title,
            deprecated=merged.get("deprecated") is True or None,
            enum=self._enum(merged, path),
            custom_properties=(*entries, *read_custom_keywords(merged)) or None,
            more=FrozenMap({"examples": merged["examples"]}) if isinstance(merged.get("examples"), list) else EMPTY,
        )
        return apply_note(native, merged.get(NOTE_KEY), self.source, str(path))

    def _kind(self, node: Mapping[str, Any], path: FieldPath, seen: tuple[str, ...]) -> Field:
        kind = _type_of(node)
        if not isinstance(kind, str | list | None):
            raise refuse(f"{brief(kind)!r} is no type, at {path}", Place(self.source), "name a type of JSON Schema")
        if kind == "object" and isinstance(node.get("properties"), Mapping):
            if node.get("additionalProperties") is False and not self.closed:
                self._lose(path, "additionalProperties false", "content is closed for a contract as a whole")
            field = Field(logical_type="object", properties=self.inside(node, path, seen))
        elif (
            kind == "object" and isinstance(node.get("additionalProperties"), Mapping) and node["additionalProperties"]
        ):
            value = self.field(None, node["additionalProperties"], path.into(MAP_VALUES), seen)
            key = self.field(
                None, {"type": "string", **as_mapping(node.get("propertyNames"))}, path.into(MAP_KEYS), seen
            )
            field = Field(logical_type="map", map_key=key, map_value=value)
        elif kind == "array":
            items = node.get("items")
            if isinstance(items, list):
                self._lose(path, "a type for each place", LOST_KEYWORDS["prefixItems"])
                items = None
            element = None if items in (None, True) else self.field(None, items, path.into(ITEMS), seen)
            field = Field(logical_type="array", items=element)
        elif isinstance(kind, list):
            self._lose(path, f"the choice of {', '.join(map(str, kind))}", "a contract's field has one type")
            return Field(physical_type=f"union<{','.join(map(str, kind))}>")
        else:
            field = self._scalar(kind, node)
        self._name_losses(node, path)
        return replace(field, options=self._options(field, node, path))

    def _scalar(self, kind: str | None, node: Mapping[str, Any]) -> Field:
        if kind == "string" and node.get("contentEncoding") == "base64":
            return BINARY
        told = node.get("format") if isinstance(node.get("format"), str) else None
        if kind == "number" and _choices(node) == {"number", "string"}:
            told = "decimal"
        known = TYPES.get((kind or "", told)) or TYPES.get((kind or "", None)) or ANY
        keeps = kind == "string" and told is not None and ("string", told) not in TYPES
        return replace(known, options=FrozenMap({"format": told})) if keeps else known

    def _options(self, field: Field, node: Mapping[str, Any], path: FieldPath) -> FrozenMap | None:
        options = dict(field.options or {})
        for key in OPTION_KEYWORDS.get(field.logical_type or "", ()):
            if key not in node or (field.physical_type == "json"):
                continue
            if key == "pattern" and (trouble := self._patterns.problem(str(node[key]))):
                self._lose(path, f"pattern {brief(node[key])}", f"patterns are RE2: {trouble}")
                continue
            options[key] = node[key]
        for closed, opened in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
            flag = isinstance(options.get(opened), bool) and options.pop(opened)  # as draft-04 has it
            if flag and closed in options:
                options[opened] = options.pop(closed)
        return FrozenMap(options) if options else None

    def _enum(self, node: Mapping[str, Any], path: FieldPath) -> tuple[FrozenMap, ...] | None:
        values = [node["const"]] if "const" in node else node.get("enum")
        if not isinstance(values, list) or not values:
            return None
        if any(isinstance(value, (dict, list)) for value in values):
            self._lose(path, "enum", "a contract lists values without parts")
            return None
        return tuple(FrozenMap({"value": value}) for value in values)

    def _name_losses(self, node: Node, path: FieldPath) -> None:
        for key in node:
            if key in LOST_KEYWORDS:
                self._lose(path, f"{key} {brief(node[key])}", LOST_KEYWORDS[key])
        for key in ("anyOf", "oneOf"):
            if key in node and _choices(node) != {"number", "string"} and not isinstance(_type_of(node), list):
                self._lose(path, f"{key} {brief(node[key])}", "a contract has no choice between shapes")

    def _lose(self, path: FieldPath, what: str, why: str) -> None:
        loss = Loss(str(path), what, why)
        if loss not in self.losses:
            self.losses.append(loss)


def read_custom_keywords(node: Mapping[str, Any], known: Iterable[str] = ()) -> tuple[FrozenMap, ...]:
    """Keep keywords that JSON Schema does not define."""
    own = (key for key in node if key not in KNOWN_KEYWORDS and key not in known and key != "nullable")
    return tuple(FrozenMap({"property": key, "value": freeze(node[key])}) for key in own)


def _type_of(node: Mapping[str, Any]) -> Any:
    """Return the type a node names, or else the one that its other keywords speak of."""
    if "type" in node:
        return node["type"]
    choices = _choices(node)
    if choices:
        return "number" if choices == {"number", "string"} else choices.pop() if len(choices) == 1 else sorted(choices)
    values = [node["const"]] if "const" in node else node.get("enum")
    if isinstance(values, list) and values:
        kinds = {_BY_VALUE.get(type(value)) for value in values}
        return kinds.pop() if len(kinds) == 1 else "string"
    if "properties" in node or "additionalProperties" in node:
        return "object"
    if "items" in node:
        return "array"
    return "string" if any(key in node for key in (*OPTION_KEYWORDS["string"], "format")) else None


def _choices(node: Mapping[str, Any]) -> set[str]:
    """Name the types that a node offers, if it offers any."""
    offered: list[Any] = next((node[key] for key in ("anyOf", "oneOf") if isinstance(node.get(key), list)), [])
    return {str(one.get("type", one.get("$ref", "any"))) for one in offered if isinstance(one, Mapping)}


def _is_made_up(title: Any, name: str | None) -> bool:
    """Tell whether a title is no title, or only the name in other letters, as generators write it."""
    return name is None or not isinstance(title, str) or not title or _bare(title) == _bare(name)


def _bare(name: str) -> str:
    return name.lower().replace(" ", "_")
