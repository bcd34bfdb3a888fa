"""Read contracts from JSON Schemas."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from treaty.contracts.findings import Place
from treaty.contracts.model import Contract, Field, SchemaObject
from treaty.contracts.paths import ITEMS, MAP_KEYS, MAP_VALUES, FieldPath
from treaty.contracts.patterns import PatternCheck
from treaty.contracts.text import read_document
from treaty.contracts.text.limits import invalid_document
from treaty.contracts.values import EMPTY, FrozenMap, Json, abbreviate, freeze
from treaty.contracts.versions import try_parse_version
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
from treaty.formats.results import UNVERSIONED, FileReader, Loss, ReadResult, read_no_files

ENDINGS = (".schema.json", ".schema.yaml", ".schema.yml", ".json", ".yaml", ".yml")


def read(text: str, name: str, files: FileReader = read_no_files) -> ReadResult:
    """Read the object that a JSON Schema describes, or each alternative of its `anyOf` or `oneOf`."""
    data = read_document(text, name).data
    reader = Reader(name, data)
    parts = [reader.part(root) for root in reader.roots()]
    return ReadResult(assemble_contracts(parts, name), tuple(reader.fields.losses))


class Reader:
    """Reads the top-level objects of one schema."""

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
        """Read an object as a contract."""
        try:
            node, followed = resolve_node(self.data, root, keeps_title=True)
        except (UnresolvedReference, CircularReference) as error:
            message = f"the schema is only a reference to {error.reference!r}"
            raise self.refuse(message, "name the file that defines it") from None
        if not isinstance(node.get("properties"), Mapping):
            raise self.refuse(
                "the schema does not describe an object with properties", "a contract describes rows or events"
            )
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
        """Return the error for a schema that cannot be a contract."""
        return invalid_document(message, Place(self.source), hint)

    def _contract(self, identity: str, item: SchemaObject, node: Mapping[str, Any]) -> Contract:
        version = node.get("version")
        known = isinstance(version, str) and try_parse_version(version) is not None
        contract = make_contract(identity, item, str(version) if known else UNVERSIONED)
        if not self.fields.closed:
            return contract
        return replace(contract, custom_properties=(freeze({"property": "content", "value": "closed"}),))

    def _identity(self, node: Mapping[str, Any]) -> tuple[str, str | None]:
        """Return the name of the schema (from its $id, a title of one word, or the file name) and its title."""
        title = node.get("title") if isinstance(node.get("title"), str) and node["title"].strip() else None
        if isinstance(node.get("$id"), str) and node["$id"].strip("#/"):
            last = name_from_path(node["$id"].rstrip("#/"), ENDINGS)
            return last, None if title == last else title
        if title is not None and not any(sign.isspace() for sign in title):
            return title, None
        return name_from_path(self.source, ENDINGS), title


_TYPE_BY_VALUE = {bool: "boolean", int: "integer", float: "number", str: "string"}


class FieldReader:
    """Reads the fields of one schema at any depth and collects the losses."""

    def __init__(self, source: str, root: Json) -> None:
        self.source = source
        self.root = root
        self.losses: list[Loss] = []
        self.closed = False
        self._patterns = PatternCheck()

    def inside(self, node: Node, path: FieldPath, seen: tuple[str, ...]) -> tuple[Field, ...]:
        """Read the properties of an object."""
        self._add_keyword_losses(node, path)
        needed = node.get("required")
        needed = needed if isinstance(needed, list) else []
        properties = node["properties"].items()
        return tuple(
            self.field(name, schema, path.field(name), seen, required=name in needed) for name, schema in properties
        )

    def field(
        self, name: str | None, node: Json, path: FieldPath, seen: tuple[str, ...] = (), *, required: bool = False
    ) -> Field:
        """Read one schema as a field; without a name it is an array element, a map key or a map value."""
        if isinstance(node, bool):
            node = {}
        if not isinstance(node, Mapping):
            raise invalid_document(
                f"{abbreviate(node)!r} at {path} is not a schema", Place(self.source), "write a mapping"
            )
        try:
            merged, followed = resolve_node(self.root, node, seen)
            merged, followed, nullable = split_null(self.root, merged, followed)
        except UnresolvedReference as error:
            self._add_loss(path, f"the schema {error.reference}", "it is not defined in this file")
            return Field(name, physical_type=f"$ref {error.reference}", required=required or None)
        except CircularReference as error:
            message = f"the schema {error.reference!r} contains itself at {path}"
            raise invalid_document(
                message,
                Place(self.source),
                "contracts cannot describe recursive types; refer to the other object by its key",
            ) from None
        kind = self._kind(merged, path, followed)
        title, default = merged.get("title"), merged.get("default")
        entries = [FrozenMap({"property": "default", "value": default})] if default is not None else []
        native = replace(
            kind,
            name=name,
            required=(required and not nullable) or None,
            description=merged.get("description") or None,
            business_name=None if _is_generated_title(title, name) else title,
            deprecated=merged.get("deprecated") is True or None,
            enum=self._enum(merged, path),
            custom_properties=(*entries, *read_custom_keywords(merged)) or None,
            more=FrozenMap({"examples": merged["examples"]}) if isinstance(merged.get("examples"), list) else EMPTY,
        )
        return apply_note(native, merged.get(NOTE_KEY), self.source, str(path))

    def _kind(self, node: Mapping[str, Any], path: FieldPath, seen: tuple[str, ...]) -> Field:
        kind = _type_of(node)
        if not isinstance(kind, str | list | None):
            raise invalid_document(
                f"{abbreviate(kind)!r} at {path} is not a type", Place(self.source), "use a type of JSON Schema"
            )
        if kind == "object" and isinstance(node.get("properties"), Mapping):
            if node.get("additionalProperties") is False and not self.closed:
                self._add_loss(path, "additionalProperties false", "a contract is open or closed as a whole")
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
                self._add_loss(path, "a type for each position", LOST_KEYWORDS["prefixItems"])
                items = None
            element = None if items in (None, True) else self.field(None, items, path.into(ITEMS), seen)
            field = Field(logical_type="array", items=element)
        elif isinstance(kind, list):
            self._add_loss(path, f"the alternatives {', '.join(map(str, kind))}", "a field in a contract has one type")
            return Field(physical_type=f"union<{','.join(map(str, kind))}>")
        else:
            field = self._scalar(kind, node)
        self._add_keyword_losses(node, path)
        return replace(field, options=self._options(field, node, path))

    def _scalar(self, kind: str | None, node: Mapping[str, Any]) -> Field:
        if kind == "string" and node.get("contentEncoding") == "base64":
            return BINARY
        named_format = node.get("format") if isinstance(node.get("format"), str) else None
        if kind == "number" and _choices(node) == {"number", "string"}:
            named_format = "decimal"
        known = TYPES.get((kind or "", named_format)) or TYPES.get((kind or "", None)) or ANY
        is_custom = kind == "string" and named_format is not None and ("string", named_format) not in TYPES
        return replace(known, options=FrozenMap({"format": named_format})) if is_custom else known

    def _options(self, field: Field, node: Mapping[str, Any], path: FieldPath) -> FrozenMap | None:
        options = dict(field.options or {})
        for key in OPTION_KEYWORDS.get(field.logical_type or "", ()):
            if key not in node or (field.physical_type == "json"):
                continue
            if key == "pattern" and (problem := self._patterns.problem(str(node[key]))):
                self._add_loss(path, f"pattern {abbreviate(node[key])}", f"patterns are RE2: {problem}")
                continue
            options[key] = node[key]
        for closed, opened in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
            flag = isinstance(options.get(opened), bool) and options.pop(opened)  # draft-04 uses a boolean
            if flag and closed in options:
                options[opened] = options.pop(closed)
        return FrozenMap(options) if options else None

    def _enum(self, node: Mapping[str, Any], path: FieldPath) -> tuple[FrozenMap, ...] | None:
        values = [node["const"]] if "const" in node else node.get("enum")
        if not isinstance(values, list) or not values:
            return None
        if any(isinstance(value, (dict, list)) for value in values):
            self._add_loss(path, "enum", "enum values in a contract are scalars")
            return None
        return tuple(FrozenMap({"value": value}) for value in values)

    def _add_keyword_losses(self, node: Node, path: FieldPath) -> None:
        for key in node:
            if key in LOST_KEYWORDS:
                self._add_loss(path, f"{key} {abbreviate(node[key])}", LOST_KEYWORDS[key])
        for key in ("anyOf", "oneOf"):
            if key in node and _choices(node) != {"number", "string"} and not isinstance(_type_of(node), list):
                self._add_loss(path, f"{key} {abbreviate(node[key])}", "contracts have no alternative structures")

    def _add_loss(self, path: FieldPath, what: str, why: str) -> None:
        loss = Loss(str(path), what, why)
        if loss not in self.losses:
            self.losses.append(loss)


def read_custom_keywords(node: Mapping[str, Any], known: Iterable[str] = ()) -> tuple[FrozenMap, ...]:
    """Return keywords that JSON Schema does not define as custom properties."""
    own = (key for key in node if key not in KNOWN_KEYWORDS and key not in known and key != "nullable")
    return tuple(FrozenMap({"property": key, "value": freeze(node[key])}) for key in own)


def _type_of(node: Mapping[str, Any]) -> Any:
    """Return the type of a node, or the type that its other keywords imply."""
    if "type" in node:
        return node["type"]
    choices = _choices(node)
    if choices:
        return "number" if choices == {"number", "string"} else choices.pop() if len(choices) == 1 else sorted(choices)
    values = [node["const"]] if "const" in node else node.get("enum")
    if isinstance(values, list) and values:
        kinds = {_TYPE_BY_VALUE.get(type(value)) for value in values}
        return kinds.pop() if len(kinds) == 1 else "string"
    if "properties" in node or "additionalProperties" in node:
        return "object"
    if "items" in node:
        return "array"
    return "string" if any(key in node for key in (*OPTION_KEYWORDS["string"], "format")) else None


def _choices(node: Mapping[str, Any]) -> set[str]:
    """Return the types in `anyOf` or `oneOf` of a node."""
    offered: list[Any] = next((node[key] for key in ("anyOf", "oneOf") if isinstance(node.get(key), list)), [])
    return {str(one.get("type", one.get("$ref", "any"))) for one in offered if isinstance(one, Mapping)}


def _is_generated_title(title: Any, name: str | None) -> bool:
    """Whether a title is missing, or only repeats the name as code generators do."""
    return name is None or not isinstance(title, str) or not title or _normalize_title(title) == _normalize_title(name)


def _normalize_title(name: str) -> str:
    return name.lower().replace(" ", "_")
