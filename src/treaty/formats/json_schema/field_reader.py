"""Read the nodes of a JSON Schema as fields, at any depth."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from treaty.contracts.findings import Place
from treaty.contracts.foreign import ForeignConstruct, add_constructs
from treaty.contracts.model import MISSING_AS_KEY, Field, MissingAs
from treaty.contracts.paths import ITEMS, MAP_KEYS, MAP_VALUES, FieldPath
from treaty.contracts.patterns import PatternCheck
from treaty.contracts.text.limits import invalid_document
from treaty.contracts.values import EMPTY, FrozenMap, Json, abbreviate, freeze, json_equal
from treaty.formats.flat_terms import as_mapping
from treaty.formats.json_schema.composition import (
    MAX_FOLLOWED_REFERENCES,
    MAX_REFERENCE_DEPTH,
    Composition,
    Trail,
)
from treaty.formats.json_schema.constructs import FORMAT, Normalizer, find_constructs
from treaty.formats.json_schema.documents import Node, SchemaDocuments
from treaty.formats.json_schema.keywords import add_limits, precision_of, type_limits, write_keywords
from treaty.formats.json_schema.types import (
    ANNOTATIONS,
    ANY,
    BINARY,
    KNOWN_KEYWORDS,
    OPTION_KEYWORDS,
    TYPES,
    UNMODELLED_KEYWORDS,
)
from treaty.formats.notes import NOTE_KEY, apply_note
from treaty.formats.results import Loss

_TYPE_BY_VALUE: dict[type, str] = {bool: "boolean", int: "integer", float: "number", str: "string"}
_TYPE_BY_KEYWORD = (
    ("object", ("properties", "additionalProperties", "patternProperties", *OPTION_KEYWORDS["object"])),
    ("array", ("items", "prefixItems", *OPTION_KEYWORDS["array"])),
    ("string", ("format", *OPTION_KEYWORDS["string"])),
    ("number", OPTION_KEYWORDS["number"]),
)
_DEFAULT_FORMATS = {("integer", "int32"), ("number", "double")}
_DECIMAL_TEXT = r"^(?!^[-+.]*$)[+-]?0*"
_ANY_DECIMAL_TEXT = _DECIMAL_TEXT + r"\d*\.?\d*$"
"""How Pydantic describes the text of a decimal number; with a limit of digits, the pattern goes on differently."""
_ANNOTATED_REFERENCE = frozenset({"$ref", *ANNOTATIONS})
_MAP_MODELLED = ("additionalProperties", "propertyNames")


@dataclass(frozen=True)
class _SharedType:
    """A definition as a field, the keywords that it models, and how many references inside it are how deep."""

    field: Field
    modelled: tuple[str, ...]
    depth: int
    followed: int

    def fits(self, depth: int, followed: int) -> bool:
        """Whether it stays within the limits of a schema at a depth, after other references."""
        return depth + self.depth <= MAX_REFERENCE_DEPTH and followed + self.followed <= MAX_FOLLOWED_REFERENCES


class FieldReader:
    """Reads the fields of one schema and collects the losses.

    `closed`: the contract is closed, so nested objects are expected to be closed as well. `has_full_rules`: the schema
    was written by Treaty and states the limits of types as keywords. `reads_models`: it is the schema of a Pydantic
    model, in which a number or a text is a decimal. `hidden`: properties with this keyword are not part of the data, as
    `readOnly` properties of a request. `shared_types`: what definitions are read as, if they are used many times; their
    losses are reported where they are used first.
    """

    def __init__(self, source: str, documents: SchemaDocuments) -> None:
        self.source = source
        self.composition = Composition(documents)
        self.normalizer = Normalizer(self.composition)
        self.losses: list[Loss] = []
        self.closed = False
        self.has_full_rules = False
        self.reads_models = False
        self.hidden: str | None = None
        self.shared_types: dict[tuple[str, str | None], _SharedType] | None = None
        self._patterns = PatternCheck()

    def inside(self, node: Node, path: FieldPath, trail: Trail) -> tuple[Field, ...]:
        """Read the properties of an object."""
        required = node.get("required")
        names = required if isinstance(required, list) else []
        properties = as_mapping(node.get("properties")).items()
        fields = (
            self.field(name, schema, path.field(name), trail, required=name in names) for name, schema in properties
        )
        return tuple(field for field in fields if self.hidden is None or not _is_marked(field, self.hidden))

    def field(
        self, name: str | None, node: Json, path: FieldPath, trail: Trail = (), *, required: bool = False
    ) -> Field:
        """Read one schema as a field.

        Without a name it is an array element, a map key or a map value, which is required unless it may be null.
        """
        if not isinstance(node, Mapping | bool):
            raise invalid_document(
                f"{abbreviate(node)!r} at {path} is not a schema", Place(self.source), "write a mapping"
            )
        resolved, inside = self.composition.resolve(node, trail)
        resolved, inside, nullable = self.composition.split_null(resolved, inside)
        resolved = self._as_decimal(_as_map(_without_default_format(resolved)))
        typed, modelled = self._shared_type(node, resolved, path, inside)
        typed = replace(typed, enum=_enum(resolved), options=self._options(typed, resolved))
        constructs = list(self._constructs(typed, resolved, inside, modelled))
        self.add_keyword_losses(resolved, constructs, path)
        native = self._annotate(typed, resolved, name)
        native = replace(native, custom_properties=add_constructs(native.custom_properties, constructs))
        native = _with_presence(native, required=required or name is None, nullable=nullable)
        return apply_note(native, resolved.get(NOTE_KEY), self.source, str(path))

    def _shared_type(
        self, node: Json, resolved: Mapping[str, Any], path: FieldPath, trail: Trail
    ) -> tuple[Field, tuple[str, ...]]:
        """Return what `_typed` returns; a definition without recursion is read once if types are shared."""
        reference = node.get("$ref") if isinstance(node, Mapping) else None
        is_shared = self.shared_types is not None and isinstance(reference, str) and "$ref" not in resolved
        if self.shared_types is None or not is_shared or node.keys() - _ANNOTATED_REFERENCE:
            return self._typed(resolved, path, trail)
        key = (str(reference), self.hidden)
        composition = self.composition
        known = self.shared_types.get(key)
        if known is not None and known.fits(len(trail), composition.followed):
            composition.followed += known.followed
            return known.field, known.modelled
        cut, deepest, followed = composition.cut, composition.deepest, composition.followed
        composition.deepest = len(trail)
        typed, modelled = self._typed(resolved, path, trail)
        if composition.cut == cut:  # otherwise it depends on the references that led here
            depth, inside = composition.deepest - len(trail), composition.followed - followed
            self.shared_types[key] = _SharedType(typed, modelled, depth, inside)
        composition.deepest = max(composition.deepest, deepest)
        return typed, modelled

    def _as_decimal(self, node: dict[str, Any]) -> dict[str, Any]:
        """Return a number that may also be a text, in the form in which Pydantic describes it, as a decimal."""
        choices = node.get("anyOf")
        if self.reads_models and node.get("type") == ["number", "string"]:
            return {**node, "type": "number", "format": "decimal"}
        if not isinstance(choices, list) or len(choices) != 2 or node.keys() & {"type", "enum"}:
            return node
        number, text = sorted(choices, key=lambda choice: str(as_mapping(choice).get("type")))
        if as_mapping(number).get("type") != "number" or as_mapping(text).get("type") != "string":
            return node
        pattern = text.get("pattern", _ANY_DECIMAL_TEXT if self.reads_models else None)
        if text.keys() - {"type", "pattern"} or not str(pattern).startswith(_DECIMAL_TEXT):
            return node
        rest = {key: value for key, value in node.items() if key != "anyOf"}
        limited = {} if pattern == _ANY_DECIMAL_TEXT else {"pattern": pattern}
        return {**rest, **number, **limited, "format": "decimal"}

    def _annotate(self, field: Field, node: Node, name: str | None) -> Field:
        title, default = node.get("title"), node.get("default")
        entries = [FrozenMap({"property": "default", "value": freeze(default)})] if default is not None else []
        return replace(
            field,
            name=name,
            description=node.get("description") or None,
            business_name=None if _is_generated_title(title, name) else title,
            deprecated=node.get("deprecated") is True or None,
            custom_properties=(*entries, *read_custom_keywords(node)) or None,
            more=FrozenMap({"examples": node["examples"]}) if isinstance(node.get("examples"), list) else EMPTY,
        )

    def _typed(self, node: Mapping[str, Any], path: FieldPath, trail: Trail) -> tuple[Field, tuple[str, ...]]:
        """Return a field with the type of a node and its nested fields, and the keywords that these model."""
        kind = _type_of(node)
        if not isinstance(kind, str | list | None) or (isinstance(kind, list) and not all(map(_is_text, kind))):
            raise invalid_document(
                f"{abbreviate(kind)!r} at {path} is not a type", Place(self.source), "use a type of JSON Schema"
            )
        if isinstance(kind, list):
            return Field(physical_type=f"union<{','.join(sorted(kind))}>"), ()
        if kind == "object" and isinstance(node.get("properties"), Mapping):
            return Field(logical_type="object", properties=self.inside(node, path, trail)), ("properties",)
        values = node.get("additionalProperties")
        if kind == "object" and isinstance(values, Mapping) and isinstance(node.get("propertyNames", {}), Mapping):
            value = self.field(None, values, path.into(MAP_VALUES), trail)
            names = {"type": "string", **as_mapping(node.get("propertyNames"))}
            key = replace(self.field(None, names, path.into(MAP_KEYS), trail), required=None)
            return Field(logical_type="map", map_key=key, map_value=value), _MAP_MODELLED
        if kind == "array":
            items = node.get("items")
            if not isinstance(items, Mapping):
                return Field(logical_type="array"), ()
            return Field(logical_type="array", items=self.field(None, items, path.into(ITEMS), trail)), ("items",)
        if kind is None and "$ref" in node:
            return Field(physical_type=f"$ref {node['$ref']}"), ("$ref",)
        return self._scalar(kind, node), ()

    def _scalar(self, kind: str | None, node: Mapping[str, Any]) -> Field:
        if kind == "string" and node.get("contentEncoding") == "base64":
            return BINARY
        named_format = node.get("format") if isinstance(node.get("format"), str) else None
        known = TYPES.get((kind or "", named_format)) or TYPES.get((kind or "", None)) or ANY
        if kind == "string" and named_format is not None and ("string", named_format) not in TYPES:
            return replace(known, options=FrozenMap({"format": named_format}))
        if known.physical_type == "decimal" and self.has_full_rules and (digits := precision_of(node)):
            return replace(known, physical_type=f"decimal({digits[0]},{digits[1]})")
        return known

    def _options(self, field: Field, node: Mapping[str, Any]) -> FrozenMap | None:
        options = dict(field.options or {})
        limits = type_limits(field) if self.has_full_rules else {}
        for key in OPTION_KEYWORDS.get(field.logical_type or "", ()):
            if key not in node or field.physical_type == "json" or json_equal(node[key], limits.get(key)):
                continue
            if key == "pattern" and self._patterns.problem(str(node[key])):
                continue
            options[key] = node[key]
        return FrozenMap(options) if options else None

    def _constructs(
        self, field: Field, node: Mapping[str, Any], trail: Trail, modelled: tuple[str, ...]
    ) -> Iterator[ForeignConstruct]:
        """Yield what the node states beyond the terms of its field."""
        expected = write_keywords(field)
        if self.has_full_rules:
            expected = add_limits(expected, type_limits(field))
        if self.closed and field.properties is not None:
            expected["additionalProperties"] = False
        if field.enum and "type" not in node:
            expected.pop("type", None)
        found = {key: value for key, value in node.items() if key != "const"}
        if "const" in node:
            found["enum"] = [node["const"]]
        yield from find_constructs(found, expected, self.normalizer, trail, (*modelled, "required"))
        yield from self.undeclared(node)

    def undeclared(self, node: Mapping[str, Any]) -> list[ForeignConstruct]:
        """Return the required names that are no properties, as a construct."""
        required, properties = node.get("required"), as_mapping(node.get("properties"))
        listed = {str(name) for name in required} if isinstance(required, list) else set()
        names = sorted(name for name in listed if name not in properties)
        return [ForeignConstruct.of(FORMAT, "required", names)] if names else []

    def add_keyword_losses(
        self, node: Mapping[str, Any], constructs: Sequence[ForeignConstruct], path: FieldPath
    ) -> None:
        """Report the constructs that a contract cannot check."""
        for construct in constructs:
            key = construct.name
            if key == "pattern" and isinstance(node.get(key), str) and (why := self._patterns.problem(node[key])):
                self._add_loss(path, f"pattern {abbreviate(node[key])}", f"patterns are RE2: {why}")
            elif key in UNMODELLED_KEYWORDS and key in node:
                self._add_loss(path, f"{key} {abbreviate(construct.text)}", UNMODELLED_KEYWORDS[key])
        if node.get("$ref") in self.composition.unresolved:
            self._add_loss(path, f"the schema {node['$ref']}", _UNRESOLVED)

    def unresolved_losses(self) -> Iterator[Loss]:
        """Yield the references inside constructs that cannot be resolved."""
        reported = {loss.what for loss in self.losses}
        for name in self.composition.unresolved:
            if f"the schema {name}" not in reported:
                yield Loss("", f"the schema {name}", _UNRESOLVED)

    def kept_definitions(self) -> dict[str, Json]:
        """Return the definitions that are referred to by name only, with those that they refer to."""
        definitions: dict[str, Json] = {}
        while missing := [name for name in self.composition.kept if name not in definitions]:
            for name in missing:
                node = self.composition.documents.resolve(self.composition.kept[name])
                definitions[name] = self.normalizer.schema(node, ())
        return definitions

    def _add_loss(self, path: FieldPath, what: str, why: str) -> None:
        loss = Loss(str(path) if path.steps else path.object or "", what, why)
        if loss not in self.losses:
            self.losses.append(loss)


_UNRESOLVED = "it is in no file that can be read"


def _is_marked(field: Field, keyword: str) -> bool:
    entries = field.custom_properties or ()
    return any(entry.get("property") == keyword and entry.get("value") is True for entry in entries)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def read_custom_keywords(node: Mapping[str, Any], known: Iterable[str] = ()) -> tuple[FrozenMap, ...]:
    """Return keywords that JSON Schema does not define as custom properties."""
    own = (key for key in node if key not in KNOWN_KEYWORDS and key not in known)
    return tuple(FrozenMap({"property": key, "value": freeze(node[key])}) for key in own)


def _with_presence(field: Field, *, required: bool, nullable: bool) -> Field:
    """Return the field as required or optional, and how a missing value is written if only one way is allowed."""
    if required and not nullable:
        return replace(field, required=True)
    if nullable and (not required or field.name is None):
        return field
    value = MissingAs.NULL if nullable else MissingAs.ABSENT
    entry = FrozenMap({"property": MISSING_AS_KEY, "value": value.value})
    return replace(field, custom_properties=(*(field.custom_properties or ()), entry))


def _type_of(node: Mapping[str, Any]) -> Any:
    """Return the type of a node, or the type that its other keywords imply."""
    if "type" in node:
        return node["type"]
    values = [node["const"]] if "const" in node else node.get("enum")
    if isinstance(values, list) and values:
        kinds = {_TYPE_BY_VALUE.get(type(value)) for value in values}
        if None not in kinds:
            names = {str(kind) for kind in kinds}
            return names.pop() if len(names) == 1 else sorted(names)
    return next((kind for kind, keys in _TYPE_BY_KEYWORD if any(key in node for key in keys)), None)


def _without_default_format(node: dict[str, Any]) -> dict[str, Any]:
    is_default = any(node.get("type") == kind and node.get("format") == name for kind, name in _DEFAULT_FORMATS)
    return {key: value for key, value in node.items() if key != "format"} if is_default else node


def _as_map(node: dict[str, Any]) -> dict[str, Any]:
    """Return an object whose property names all match one pattern as a map of such names."""
    patterns = node.get("patternProperties")
    is_map = isinstance(patterns, Mapping) and len(patterns) == 1 and node.get("additionalProperties") is False
    if not is_map or node.keys() & {"properties", "propertyNames"} or not isinstance(patterns, Mapping):
        return node
    ((pattern, value),) = patterns.items()
    if not isinstance(value, Mapping) or not value:
        return node
    rest = {key: value for key, value in node.items() if key != "patternProperties"}
    return rest | {"propertyNames": {"pattern": pattern}, "additionalProperties": value}


def _enum(node: Mapping[str, Any]) -> tuple[FrozenMap, ...] | None:
    values = [node["const"]] if "const" in node else node.get("enum")
    if not isinstance(values, list) or not values or any(isinstance(value, dict | list | None) for value in values):
        return None
    return tuple(FrozenMap({"value": value}) for value in values)


def _is_generated_title(title: Any, name: str | None) -> bool:
    """Whether a title is missing, or only repeats the name as code generators do."""
    return name is None or not isinstance(title, str) or not title or _normalize_title(title) == _normalize_title(name)


def _normalize_title(name: str) -> str:
    return name.lower().replace(" ", "_")
