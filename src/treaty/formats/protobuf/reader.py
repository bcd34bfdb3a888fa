"""Read contracts from .proto files.

What decides how bytes and JSON are read, and has no place in the contract model, is kept as foreign constructs: the
members of a oneof, field presence, encodings, names of types. Other options are custom properties.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from treaty.contracts.foreign import ForeignConstruct, add_constructs
from treaty.contracts.model import Field, SchemaObject
from treaty.contracts.paths import MAP_VALUES, FieldPath
from treaty.contracts.values import EMPTY, FrozenMap, freeze
from treaty.formats.naming import make_type_name, make_upper_snake_case
from treaty.formats.nearby_files import NO_FILES, NearbyFiles
from treaty.formats.notes import make_contract, validate_contracts
from treaty.formats.protobuf.definitions import (
    FEATURES,
    Definition,
    ProtoFile,
    list_types,
    load_definitions,
    parse_file,
    read_options,
    resolve_type,
    stated_features,
)
from treaty.formats.protobuf.parser import flatten_options, with_comments
from treaty.formats.protobuf.types import (
    CLOSED_ENUM,
    ENCODING,
    ENUM_TYPE,
    EXTENSIONS,
    FILE_OPTION_PREFIX,
    FORMAT_NAME,
    JSON_NAME,
    MESSAGE_TYPE,
    ONEOF,
    OTHER_FEATURES,
    PRESENCE,
    RESERVED,
    SCALARS,
    SPECIAL_ENCODINGS,
    SYNTAX_PROPERTY,
    WELL_KNOWN_TYPES,
    WRAPPERS,
    ZERO_VALUE,
    make_construct,
    make_json_name,
)
from treaty.formats.protobuf.validation_rules import apply_validation_rules
from treaty.formats.results import Loss, ReadResult, no_contract

UNSPECIFIED_SUFFIX = "_UNSPECIFIED"
MAX_FIELDS = 50_000
"""How many fields a file may have after types are replaced by what they consist of."""
_MODELED_FEATURES = frozenset({"field_presence", "enum_type", "repeated_field_encoding"})


def read(text: str, name: str, files: NearbyFiles = NO_FILES) -> ReadResult:
    """Read every message that is not part of another message in the file."""
    file = parse_file(text, name)
    reader = _Reader(file, files)
    contracts = [make_contract(root.name, reader.object(root)) for root in reader.roots]
    parts = reader.unused_parts()
    contracts = [replace(one, custom_properties=add_constructs(None, parts[one.id])) for one in contracts]
    return ReadResult(validate_contracts(contracts, name), tuple(reader.losses))


class _Reader:
    """Reads one file and resolves its types."""

    def __init__(self, file: ProtoFile, files: NearbyFiles) -> None:
        self.file = file
        self.losses: list[Loss] = []
        self.known = load_definitions(file, files)
        self.own = [one for one in self.known.values() if one.file is file]
        self._uses = {one.name: set(self._used_by(one)) for one in self.own}
        self._inside: list[str] = []
        self._field_count = 0
        self.roots = self._roots()

    def object(self, root: Definition) -> SchemaObject:
        """Read a message as a schema object."""
        self._inside = [root.name]
        path = FieldPath(object=root.short if len(self.roots) > 1 else None)
        options = read_options(root.node)
        return SchemaObject(
            root.short,
            description=root.comment,
            properties=self._fields(root, path),
            custom_properties=add_constructs(
                _custom(_file_options(self.file) | options | _reserved(root.node)),
                [
                    make_construct(PRESENCE, self.file.features["field_presence"].lower()),
                    *_message_constructs(root, {**self.file.options, **options}),
                ],
            ),
            more=FrozenMap({"deprecated": True}) if options.get("deprecated") is True else EMPTY,
        )

    def unused_parts(self) -> dict[str, list[ForeignConstruct]]:
        """Return what the file defines and no message uses, by the root message that it belongs to.

        A call belongs to its request, an enum to the message around it, and an extension to the extended message. What
        belongs to none of the messages goes to the first one.
        """
        used = {name for names in self._uses.values() for name in names}
        parts: dict[str, list[ForeignConstruct]] = {root.name: [] for root in self.roots}
        for enum in (one for one in self.own if one.is_enum and one.name not in used):
            values = _enum_numbers(enum.node).items()
            home = parts[self._home(enum.name.rpartition(".")[0])]
            home += [make_construct(f"enum {enum.local_name} {name}", str(number)) for name, number in values]
        for element in self.file.elements:
            if type(element).__name__ == "Service":
                self.losses.append(Loss("", f"service {element.name}", "a contract describes data, not service calls"))
                for request, call in _calls(element):
                    parts[self._home(request)].append(call)
            for extended, extension in _extensions(element):
                parts[self._home(extended)].append(extension)
        return parts

    def _home(self, name: str) -> str:
        """Return the root message that is or contains a message; the first one if none does."""
        match = resolve_type(self.known, name, self.file.package)
        names = [root.name for root in self.roots]
        containing = (one for one in names if match and (one == match.name or match.name in self._reachable(one)))
        return next(containing, names[0])

    def _roots(self) -> list[Definition]:
        messages = [one for one in self.own if not one.is_enum and not one.is_group]
        if not messages:
            raise no_contract("the file defines no message", self.file.path, "a contract describes rows or events")
        reached = {one.name: self._reachable(one.name) for one in messages}
        names = [one.name for one in messages]
        roots = [name for name in names if not any(name in reached[other] for other in names if other != name)]
        covered = {name for root in roots for name in (root, *reached[root])}
        for name in names:  # messages that use each other: the first one of a circle
            if name not in covered:
                roots.append(name)
                covered |= {name, *reached[name]}
        return [one for one in messages if one.name in roots]

    def _reachable(self, start: str) -> set[str]:
        reached: set[str] = set()
        pending = [start]
        while pending:
            for name in self._uses.get(pending.pop(), ()):
                if name not in reached:
                    reached.add(name)
                    pending.append(name)
        return reached

    def _used_by(self, definition: Definition) -> Iterable[str]:
        if definition.is_enum:
            return
        for name in list_types(definition):
            match = resolve_type(self.known, name, definition.name)
            if match is not None:
                yield match.name
        yield from (one.name for one in self.own if one.is_group and one.name.rpartition(".")[0] == definition.name)

    def _fields(self, message: Definition, path: FieldPath) -> tuple[Field, ...]:
        fields: list[Field] = []
        for element, comment in with_comments(message.node.elements):
            match type(element).__name__:
                case "Field" | "MapField" | "Group":
                    fields.append(self._field(element, comment, message, path))
                case "OneOf":
                    inner = [pair for pair in with_comments(element.elements) if hasattr(pair[0], "number")]
                    fields += [self._field(one, text, message, path, element.name) for one, text in inner]
        return tuple(fields)

    def _field(
        self, node: Any, comment: str | None, message: Definition, parent: FieldPath, oneof: str | None = None
    ) -> Field:
        self._field_count += 1
        if self._field_count > MAX_FIELDS:
            raise no_contract(f"the file has more than {MAX_FIELDS:,} fields", self.file.path, "split it")
        path = parent.field(node.name)
        cardinality = getattr(node, "cardinality", None)
        label = cardinality.value if cardinality is not None else None
        value = self._value(node, message, path)
        field = Field(logical_type="array", items=value) if label == "REPEATED" else value
        options = flatten_options(getattr(node, "options", ()))
        field, rest = apply_validation_rules(field, options)
        inner = () if label == "REPEATED" else value.custom_properties or ()
        constructs = [*_field_constructs(node, options), *self._presence(node, field, label, message, options, oneof)]
        default = {"default": rest.pop("default")} if "default" in rest else {}
        others = {key: one for key, one in rest.items() if key not in ("deprecated", "json_name")}
        others = {key: one for key, one in others.items() if key.removeprefix(FEATURES) not in _MODELED_FEATURES}
        is_required = label == "REQUIRED" or options.get(f"{FEATURES}field_presence") == "LEGACY_REQUIRED"
        return replace(
            field,
            name=node.name,
            id=str(node.number),
            required=True if is_required else field.required,
            description=comment,
            deprecated=options.get("deprecated") is True or None,
            custom_properties=add_constructs((*(_custom(default | others) or ()), *inner) or None, constructs),
        )

    def _presence(
        self,
        node: Any,
        field: Field,
        label: str | None,
        message: Definition,
        options: Mapping[str, Any],
        oneof: str | None,
    ) -> list[ForeignConstruct]:
        """Return the oneof of a field, or its presence if that is not the usual one of the file."""
        if oneof is not None:
            return [make_construct(ONEOF, oneof)]
        is_message = field.logical_type == "object" or type(node).__name__ in ("MapField", "Group")
        name = getattr(node, "type", "").removeprefix(".")
        if is_message or name in WELL_KNOWN_TYPES or name in WRAPPERS or label in ("REPEATED", "REQUIRED"):
            return []
        usual = self.file.features["field_presence"]
        stated = "EXPLICIT" if label == "OPTIONAL" else message.features["field_presence"]
        presence = str(options.get(f"{FEATURES}field_presence", stated))
        return [] if presence in (usual, "LEGACY_REQUIRED") else [make_construct(PRESENCE, presence.lower())]

    def _value(self, node: Any, message: Definition, path: FieldPath) -> Field:
        """Read the type of a field, or of the elements of a repeated field."""
        default = f"{message.name}.{make_type_name(node.name)}"
        match type(node).__name__:
            case "MapField":
                key = self._type(node.key_type, message, path, default)
                value = self._type(node.value_type, message, path.into(MAP_VALUES), default)
                return Field(logical_type="map", map_key=key, map_value=value)
            case "Group":
                group = self._message(self.known[f"{message.name}.{node.name}"], path, default)
                return _with_constructs(group, [make_construct(ENCODING, "group")])
            case _:
                return self._type(node.type, message, path, default)

    def _type(self, name: str, message: Definition, path: FieldPath, default: str) -> Field:
        bare = name.removeprefix(".")
        if bare in SCALARS:
            special = [make_construct(ENCODING, bare)] if bare in SPECIAL_ENCODINGS else []
            return _with_constructs(SCALARS[bare], special)
        match = resolve_type(self.known, name, message.name)
        if match is not None:
            return self._enum(match) if match.is_enum else self._message(match, path, default)
        if bare in WRAPPERS:
            return _with_constructs(SCALARS[WRAPPERS[bare]], [make_construct(MESSAGE_TYPE, bare)])
        if bare in WELL_KNOWN_TYPES:
            return WELL_KNOWN_TYPES[bare]
        self.losses.append(Loss(str(path), f"the fields of {bare}", "its definition is in a file that was not found"))
        return _with_constructs(Field(logical_type="object"), [make_construct(MESSAGE_TYPE, bare)])

    def _message(self, match: Definition, path: FieldPath, default: str) -> Field:
        named = [make_construct(MESSAGE_TYPE, self._type_name(match))]
        if match.name in self._inside:  # a recursive message is kept as a reference by name
            return _with_constructs(Field(logical_type="object"), named)
        self._inside.append(match.name)
        properties = self._fields(match, path)
        self._inside.pop()
        options = read_options(match.node)
        custom = _custom({key: one for key, one in options.items() if key != "deprecated"} | _reserved(match.node))
        field = Field(logical_type="object", properties=properties, custom_properties=custom)
        constructs = [*(named if match.name != default else ()), *_message_constructs(match, options)]
        return _with_constructs(field, constructs)

    def _type_name(self, match: Definition) -> str:
        """Return the name of a type without the package, unless it is in another one."""
        return match.local_name if match.file.package == self.file.package else match.name

    def _enum(self, match: Definition) -> Field:
        values = [pair for pair in with_comments(match.node.elements) if type(pair[0]).__name__ == "EnumValue"]
        zero = next((one.name for one, _ in values if one.number == 0 and one.name.endswith(UNSPECIFIED_SUFFIX)), None)
        items = tuple(
            FrozenMap({"value": one.name, "id": str(one.number)} | ({"description": text} if text else {}))
            for one, text in values
            if one.name != zero
        )
        constructs = [make_construct(ENUM_TYPE, self._type_name(match))]
        if zero != f"{make_upper_snake_case(match.short)}{UNSPECIFIED_SUFFIX}":
            constructs.append(make_construct(ZERO_VALUE, zero or "none"))
        if match.features["enum_type"] == "CLOSED":
            constructs.append(make_construct(CLOSED_ENUM, "true"))
        options = {key: one for key, one in read_options(match.node).items() if key != f"{FEATURES}enum_type"}
        custom = _custom(options | _reserved(match.node))
        return _with_constructs(Field(logical_type="string", enum=items or None, custom_properties=custom), constructs)


def _with_constructs(field: Field, constructs: list[ForeignConstruct]) -> Field:
    return (
        replace(field, custom_properties=add_constructs(field.custom_properties, constructs)) if constructs else field
    )


def _field_constructs(node: Any, options: Mapping[str, Any]) -> list[ForeignConstruct]:
    """Return what the options of a field state about its JSON name and its bytes."""
    name = options.get("json_name")
    found = [make_construct(JSON_NAME, str(name))] if name is not None and name != make_json_name(node.name) else []
    features = {key: value for key, value in stated_features(options).items() if key not in _MODELED_FEATURES}
    return found + ([ForeignConstruct.of(FORMAT_NAME, OTHER_FEATURES, features)] if features else [])


def _message_constructs(message: Definition, options: Mapping[str, Any]) -> list[ForeignConstruct]:
    """Return the extension ranges of a message, and features that apply to all its fields."""
    ranges = [text for one in message.node.elements if type(one).__name__ == "ExtensionRange" for text in one.ranges]
    found = [make_construct(EXTENSIONS, ", ".join(ranges))] if ranges else []
    features = {key: value for key, value in stated_features(options).items() if key not in _MODELED_FEATURES}
    if options.get("message_set_wire_format") is True:
        features["message_set_wire_format"] = "true"
    return found + ([ForeignConstruct.of(FORMAT_NAME, OTHER_FEATURES, features)] if features else [])


def _calls(service: Any) -> list[tuple[str, ForeignConstruct]]:
    """Return the calls of a service, each with the name of its request."""

    def side(part: Any) -> str:
        return f"({'stream ' if part.stream else ''}{part.type})"

    calls = [one for one in service.elements if type(one).__name__ == "Method"]
    texts = [f"{side(one.input_type)} returns {side(one.output_type)}" for one in calls]
    return [
        (one.input_type.type, make_construct(f"rpc {service.name}.{one.name}", text))
        for one, text in zip(calls, texts, strict=True)
    ]


def _extensions(element: Any) -> list[tuple[str, ForeignConstruct]]:
    """Return the fields that an `extend` block adds, also in messages, each with the name of the extended message."""
    if type(element).__name__ == "Message":
        return [one for inner in element.elements for one in _extensions(inner)]
    if type(element).__name__ != "Extension":
        return []
    fields = [one for one in element.elements if hasattr(one, "number")]
    name = element.typeName
    return [(name, make_construct(f"extension {name} {one.name}", _signature(one))) for one in fields]


def _signature(node: Any) -> str:
    label = node.cardinality.value.lower() if node.cardinality else ""
    return f"{label} {getattr(node, 'type', 'group')} = {node.number}".strip()


def _enum_numbers(node: Any) -> dict[str, int]:
    return {one.name: one.number for one in node.elements if type(one).__name__ == "EnumValue"}


def _reserved(node: Any) -> dict[str, Any]:
    """Return the reserved numbers and names of a message or enum."""
    marks = [one for one in node.elements if type(one).__name__ in ("Reserved", "EnumReserved")]
    reserved = [text for one in marks for text in (*one.ranges, *(name.strip("\"'") for name in one.names))]
    return {RESERVED: reserved} if reserved else {}


def _file_options(file: ProtoFile) -> dict[str, Any]:
    options = {
        f"{FILE_OPTION_PREFIX}{key}": value
        for key, value in file.options.items()
        if not key.startswith(FEATURES) and key != "deprecated"
    }
    return options | ({SYNTAX_PROPERTY: file.syntax} if file.syntax != "proto3" else {})


def _custom(entries: Mapping[str, Any]) -> tuple[FrozenMap, ...] | None:
    custom = (item for item in entries.items() if item[0] not in ("deprecated", "message_set_wire_format"))
    custom = (item for item in custom if not item[0].startswith(FEATURES))
    return tuple(FrozenMap({"property": key, "value": freeze(value)}) for key, value in custom) or None
