"""Read contracts from .proto files."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from treaty.contracts.findings import Place
from treaty.contracts.model import Field, SchemaObject
from treaty.contracts.paths import MAP_VALUES, FieldPath
from treaty.contracts.patterns import PatternCheck
from treaty.contracts.text.limits import invalid_document
from treaty.contracts.values import EMPTY, FrozenMap, freeze
from treaty.errors import InvalidDocument
from treaty.formats.naming import make_type_name
from treaty.formats.nearby_files import NO_FILES, NearbyFiles
from treaty.formats.notes import make_contract, validate_contracts
from treaty.formats.protobuf.parser import (
    RESERVED,
    Definition,
    collect_definitions,
    flatten_options,
    parse,
    resolve_type,
    with_comments,
)
from treaty.formats.protobuf.types import SCALARS, WELL_KNOWN_TYPES, WRAPPERS
from treaty.formats.results import Loss, ReadResult, no_contract

UNSPECIFIED_SUFFIX = "_UNSPECIFIED"


def read(text: str, name: str, files: NearbyFiles = NO_FILES) -> ReadResult:
    """Read every message that is not part of another message in the file."""
    file = parse(text, name)
    reader = _Reader(file.file_elements, name)
    contracts = [make_contract(root.name, reader.object(root)) for root in reader.roots]
    return ReadResult(validate_contracts(contracts, name), tuple(reader.losses))


class _Reader:
    """Reads one file and resolves its types."""

    def __init__(self, elements: list[Any], source: str) -> None:
        self.source = source
        self.losses: list[Loss] = []
        self.package = next((one.name for one in elements if type(one).__name__ == "Package"), "")
        self.known = {one.name: one for one in collect_definitions(elements, self.package)}
        self._inside: list[str] = []
        self.roots = self._roots(elements)
        for one in elements:
            if type(one).__name__ in ("Service", "Extension"):
                name = getattr(one, "name", None) or one.typeName
                why = (
                    "a contract describes data, not service calls"
                    if hasattr(one, "name")
                    else "a contract lists all of its fields"
                )
                self.losses.append(Loss("", f"{type(one).__name__.lower()} {name}", why))

    def object(self, root: Definition) -> SchemaObject:
        self._inside = [root.name]
        path = FieldPath(object=root.short if len(self.roots) > 1 else None)
        options = flatten_options(one for one in root.node.elements if type(one).__name__ == "Option")
        return SchemaObject(
            root.short,
            description=root.comment,
            properties=self._fields(root, path),
            custom_properties=_custom(options | _reserved(root.node), leaving=("deprecated",)),
            more=FrozenMap({"deprecated": True}) if options.get("deprecated") is True else EMPTY,
        )

    def _roots(self, elements: list[Any]) -> list[Definition]:
        tops = [one for one in elements if type(one).__name__ == "Message"]
        used = {found.name for one in self.known.values() for found in self._uses(one) if found.name != one.name}
        roots = [one for one in self.known.values() if any(one.node is top for top in tops) and one.name not in used]
        if not tops:
            raise no_contract("the file defines no message", self.source, "a contract describes rows or events")
        if not roots:
            names = ", ".join(top.name for top in tops)
            raise self._refuse(
                f"every message is part of another: {names}", "contracts cannot describe recursive types"
            )
        return roots

    def _uses(self, definition: Definition) -> Iterable[Definition]:
        pending = list(getattr(definition.node, "elements", ()))
        while pending:
            one = pending.pop()
            if type(one).__name__ == "OneOf":
                pending += one.elements
            for name in (getattr(one, "type", None), getattr(one, "value_type", None)):
                found = resolve_type(self.known, name, definition.name) if isinstance(name, str) else None
                if found is not None:
                    yield found

    def _fields(self, message: Definition, path: FieldPath) -> tuple[Field, ...]:
        found: list[Field] = []
        for element, comment in with_comments(message.node.elements):
            match type(element).__name__:
                case "Field" | "MapField" | "Group":
                    found.append(self._field(element, comment, message, path))
                case "OneOf":
                    inner = [pair for pair in with_comments(element.elements) if hasattr(pair[0], "number")]
                    names = ", ".join(one.name for one, _ in inner)
                    self._add_loss(
                        path,
                        f"oneof {element.name}: at most one of {names}",
                        "contracts have no mutually exclusive fields",
                    )
                    found += [self._field(one, text, message, path) for one, text in inner]
                case "ExtensionRange":
                    self._add_loss(path, "extensions", "a contract lists all of its fields")
        return tuple(found)

    def _field(self, node: Any, comment: str | None, message: Definition, parent: FieldPath) -> Field:
        path = parent.field(node.name)
        kind, cardinality = type(node).__name__, getattr(node, "cardinality", None)
        label = cardinality.value if cardinality is not None else None
        default = make_type_name(node.name)
        if kind == "MapField":
            value = self._type(node.value_type, message, path.into(MAP_VALUES), default)
            field = Field(logical_type="map", map_key=SCALARS.get(node.key_type, SCALARS["string"]), map_value=value)
        elif kind == "Group":
            field = self._message(self.known[f"{message.name}.{node.name}"], message, path, default)
        else:
            field = self._type(node.type, message, path, default)
        if label == "REPEATED":
            field = Field(logical_type="array", items=field)
        field, options = apply_validation_rules(field, flatten_options(getattr(node, "options", ())))
        entries = {"default": options["default"]} if "default" in options else {}
        entries |= {key: value for key, value in options.items() if key not in ("default", "deprecated")}
        inner = {one["property"]: one["value"] for one in field.custom_properties or ()}
        return replace(
            field,
            name=node.name,
            id=str(node.number),
            required=True if label == "REQUIRED" else field.required,
            description=comment,
            deprecated=options.get("deprecated") is True or None,
            custom_properties=_custom(inner | entries),
        )

    def _type(self, name: str, message: Definition, path: FieldPath, default: str) -> Field:
        bare = name.removeprefix(".")
        if bare in SCALARS:
            return SCALARS[bare]
        found = resolve_type(self.known, name, message.name)
        if found is None and bare in WRAPPERS:
            return SCALARS[WRAPPERS[bare]]
        if found is None and bare in WELL_KNOWN_TYPES:
            return WELL_KNOWN_TYPES[bare]
        if found is None:
            self._add_loss(path, f"the fields of {bare}", "its definition is in another file")
            return Field(logical_type="object", physical_type=f"message {bare}")
        if type(found.node).__name__ == "Enum":
            return self._enum(found, message, default)
        return self._message(found, message, path, default)

    def _message(self, found: Definition, message: Definition, path: FieldPath, default: str) -> Field:
        if found.name in self._inside:
            hint = "contracts cannot describe recursive types; refer to the other object by its key"
            raise self._refuse(f"message {found.name!r} contains itself at {path}", hint)
        self._inside.append(found.name)
        properties = self._fields(found, path)
        self._inside.pop()
        stored = None if found.short == default else f"message {found.short}"
        custom = _custom(_reserved(found.node))
        return Field(logical_type="object", physical_type=stored, properties=properties, custom_properties=custom)

    def _enum(self, found: Definition, message: Definition, default: str) -> Field:
        values = [(one, text) for one, text in with_comments(found.node.elements) if type(one).__name__ == "EnumValue"]
        values = [
            (one, text) for one, text in values if not (one.number == 0 and one.name.endswith(UNSPECIFIED_SUFFIX))
        ]
        first = 1 if len(values) < sum(type(one).__name__ == "EnumValue" for one in found.node.elements) else 0
        items: list[FrozenMap] = []
        for place, (one, text) in enumerate(values, start=first):
            numbered = {} if one.number == place else {"id": str(one.number)}
            items.append(FrozenMap({"value": one.name} | numbered | ({"description": text} if text else {})))
        stored = None if found.short == default else f"enum {found.short}"
        return Field(logical_type="string", physical_type=stored, enum=tuple(items) or None)

    def _add_loss(self, path: FieldPath, what: str, why: str) -> None:
        self.losses.append(Loss(str(path), what, why))

    def _refuse(self, message: str, hint: str) -> InvalidDocument:
        return invalid_document(message, Place(self.source), hint)


def _reserved(node: Any) -> dict[str, Any]:
    """Return the reserved numbers and names of a message."""
    marks = [one for one in node.elements if type(one).__name__ == "Reserved"]
    reserved = [text for one in marks for text in (*one.ranges, *(name.strip("\"'") for name in one.names))]
    return {RESERVED: reserved} if reserved else {}


def _custom(entries: dict[str, Any], leaving: tuple[str, ...] = ()) -> tuple[FrozenMap, ...] | None:
    custom = (item for item in entries.items() if item[0] not in leaving)
    return tuple(FrozenMap({"property": key, "value": freeze(value)}) for key, value in custom) or None


_RULE = re.compile(r"\((?:buf\.validate\.field|validate\.rules)\)\.(?:(?P<kind>[a-z0-9_]+)\.)?(?P<rule>[a-z_0-9]+)")
_OPTIONS = {
    "min_len": "minLength",
    "max_len": "maxLength",
    "pattern": "pattern",
    "gte": "minimum",
    "gt": "exclusiveMinimum",
    "lte": "maximum",
    "lt": "exclusiveMaximum",
    "min_items": "minItems",
    "max_items": "maxItems",
    "unique": "uniqueItems",
}
_FORMATS = frozenset({"email", "uuid", "uri", "hostname", "ipv4", "ipv6"})
_TYPES = {"string": ("string",), "repeated": ("array",)}


def apply_validation_rules(field: Field, options: dict[str, Any]) -> tuple[Field, dict[str, Any]]:
    """Apply protovalidate and protoc-gen-validate rules; also return the options that are not such rules."""
    rest: dict[str, Any] = {}
    terms = dict(field.options or EMPTY)
    required, enum = field.required, field.enum
    for name, value in options.items():
        found = _RULE.fullmatch(name)
        fits = found is not None and _applies_to(found["kind"], field)
        rule = found["rule"] if found and fits else ""
        if found and found["kind"] is None and found["rule"] == "required" and value is True:
            required = True
        elif rule in _OPTIONS and not (rule == "pattern" and PatternCheck().problem(str(value))):
            terms[_OPTIONS[rule]] = value
        elif rule in _FORMATS and value is True:
            terms["format"] = rule
        elif rule == "in" and isinstance(value, list) and value:
            enum = tuple(FrozenMap({"value": one}) for one in value)
        else:
            rest[name] = value
    return replace(field, required=required, enum=enum, options=FrozenMap(terms) if terms else None), rest


def _applies_to(kind: str | None, field: Field) -> bool:
    """Whether a rule applies to the type of the field."""
    return kind is not None and field.logical_type in _TYPES.get(kind, ("integer", "number"))
