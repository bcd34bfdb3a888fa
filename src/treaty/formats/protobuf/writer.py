"""Write contracts as .proto files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from treaty.contracts.model import Contract, Field, SchemaObject
from treaty.formats.losses import find_losses
from treaty.formats.naming import is_identifier, make_identifier
from treaty.formats.notes import require_objects
from treaty.formats.protobuf.reader import read
from treaty.formats.protobuf.scopes import FileScope, MessageScope, render_block, render_comment
from treaty.formats.protobuf.types import (
    ENCODING,
    EXTENSIONS,
    FILE_OPTION_PREFIX,
    IMPORTS,
    JSON_NAME,
    MAP_KEY_TYPES,
    MESSAGE_TYPE,
    ONEOF,
    PRESENCE,
    RESERVED,
    SCALARS,
    SYNTAX_PROPERTY,
    WELL_KNOWN_TYPES,
    WRAPPERS,
    find_construct,
    make_json_name,
)
from treaty.formats.results import WriteResult

TITLE = "Protobuf"
REASONS = {
    "*": "a .proto file cannot express it",
    "required": "proto3 has no required fields",
    "field": "Protobuf has no lists of lists and no maps of lists or maps",
    "id": "Protobuf identifies fields by number",
    "enum": "Protobuf enum values are identifiers, unique within their message",
    "logicalTypeOptions.timezone": "a Protobuf Timestamp carries no time zone",
    "logicalTypeOptions": "Protobuf types have no constraints",
    "type": "Protobuf has no such type",
    "name": "Protobuf names consist of letters, digits and underscores",
    "description": "Protobuf comments consist of full lines",
    "foreign": "the dialect cannot express it, or its definition is in another file",
}
_TYPES = {
    "string": "string",
    "boolean": "bool",
    "binary": "bytes",
    "date": "google.type.Date",
    "time": "google.type.TimeOfDay",
    "timestamp": "google.protobuf.Timestamp",
    "json": "google.protobuf.Struct",
    "object": "google.protobuf.Struct",
    "map": "google.protobuf.Struct",
    "array": "google.protobuf.ListValue",
    "vector": "google.protobuf.ListValue",
}
_INTEGERS = {
    **dict.fromkeys(("i8", "i16", "i32"), "int32"),
    **dict.fromkeys(("u8", "u16", "u32"), "uint32"),
    "i64": "int64",
    "u64": "uint64",
    **dict.fromkeys(("i128", "u128", "decimal"), "google.type.Decimal"),
}


def write(contract: Contract, dialect: str = "proto3") -> WriteResult:
    """Write a contract as one message per object."""
    plain = require_objects(contract, TITLE)
    writer = _Writer(plain, dialect)
    text = writer.text()
    settled = replace(contract, objects=tuple(map(writer.settle_object, contract.schema)))
    adds = ("id", f"customProperties.{SYNTAX_PROPERTY}")
    return WriteResult(text, find_losses(settled, read(text, contract.id).contracts, REASONS, adds=adds))


class _Writer:
    """Writes one contract and collects its imports."""

    def __init__(self, contract: Contract, dialect: str) -> None:
        self.contract = contract
        self.dialect = dialect
        self.imports: set[str] = set()
        names = make_unique_names([item.name for item in contract.schema])
        package = contract.id.removesuffix(f".{names[0]}")
        has_package = package != contract.id and all(map(is_identifier, package.split(".")))
        self.package = package if has_package else ""
        self.names = names
        self.file = FileScope([*names, *self.package.split(".")[:1]])
        self.presence: str | None = None

    def text(self) -> str:
        """Return the text of the file."""
        messages = [self._object(item, name) for item, name in zip(self.contract.schema, self.names, strict=True)]
        head = [f'syntax = "{self.dialect}";']
        if self.package:
            head.append(f"package {self.package};")
        if self.imports:
            head.append("\n".join(f'import "{path}";' for path in sorted(self.imports)))
        options = file_options(self.contract.schema[0])
        if options:
            head.append("\n".join(options))
        return "\n\n".join([*head, *messages, *self.file.definitions]) + "\n"

    def settle_object(self, item: SchemaObject) -> SchemaObject:
        """Return an object with the numbers that its enum values have got."""
        return item if item.properties is None else replace(item, properties=tuple(map(self._settle, item.properties)))

    def _settle(self, field: Field) -> Field:
        return replace(
            field,
            enum=self.file.numbered.get(field.enum or (), field.enum),
            properties=None if field.properties is None else tuple(map(self._settle, field.properties)),
            items=field.items and self._settle(field.items),
            map_key=field.map_key and self._settle(field.map_key),
            map_value=field.map_value and self._settle(field.map_value),
        )

    def _object(self, item: SchemaObject, name: str) -> str:
        lines = ["option deprecated = true;"] if item.more.get("deprecated") is True else []
        self.presence = find_construct(item, PRESENCE)
        return render_comment(item.description) + self._message(MessageScope(name, self.file), item, lines)

    def _message(self, scope: MessageScope, owner: SchemaObject | Field, lines: list[str]) -> str:
        fields = owner.properties or ()
        names = make_unique_names([field.name for field in fields], scope.is_free)
        scope.take(names)
        entries = {one.get("property"): one.get("value") for one in owner.custom_properties or ()}
        reserved = entries.get(RESERVED)
        numbers = assign_numbers(fields, reserved)
        extensions = find_construct(owner, EXTENSIONS)
        if extensions is not None and self.dialect == "proto2":
            lines = [*lines, f"extensions {extensions};"]
        lines = [*lines, *reserved_lines(reserved, numbers.values(), names)]
        body: list[str] = []
        waiting: dict[str, list[str]] = {}
        for index, (field, name) in enumerate(zip(fields, names, strict=True)):
            oneof = find_construct(field, ONEOF)
            if oneof is None or not self._fits_oneof(field) or not (oneof in waiting or scope.is_free(oneof)):
                body.append(self._field(field, name, numbers[index], scope))
                continue
            scope.take([oneof])
            if oneof not in waiting:
                waiting[oneof] = []
                body.append(f"oneof {oneof}")
            waiting[oneof].append(self._field(field, name, numbers[index], scope, in_oneof=True))
        blocks = {f"oneof {name}": render_block(f"oneof {name}", parts) for name, parts in waiting.items()}
        return render_block(
            f"message {scope.name}", [*lines, *scope.definitions, *(blocks.get(part, part) for part in body)]
        )

    def _fits_oneof(self, field: Field) -> bool:
        return not field.is_required and field.type is not None and field.type.name not in ("array", "map", "vector")

    def _field(self, field: Field, name: str, number: int, scope: MessageScope, *, in_oneof: bool = False) -> str:
        kind = field.type.name if field.type else "string"
        label = ""
        if kind == "array" and field.physical_type != "google.protobuf.ListValue":
            written, label = self._single(field.items, name, scope), "repeated "
        elif kind == "vector":
            written, label = "float", "repeated "
        elif kind == "map" and field.map_value is not None:
            key = self._single(field.map_key, name, scope)
            written = f"map<{key if key in MAP_KEY_TYPES else 'string'}, {self._single(field.map_value, name, scope)}>"
        else:
            written = self._single(field, name, scope)
            label = "" if in_oneof else self._label(field)
        return f"{render_comment(field.description)}{label}{written} {name} = {number}{field_options(field, name)};"

    def _label(self, field: Field) -> str:
        if self.dialect == "proto2":
            return "required " if field.is_required else "optional "
        presence = find_construct(field, PRESENCE) or self.presence or "explicit"
        is_plain_message = field.logical_type == "object" and self.presence == "implicit"
        return "" if field.is_required or presence == "implicit" or is_plain_message else "optional "

    def _single(self, field: Field | None, name: str, scope: MessageScope) -> str:
        """Return the type of a single value; enums and messages are defined in the scope."""
        if field is None:
            return "string"
        stated = field.type
        special = find_construct(field, ENCODING) or field.physical_type or ""
        if special in WELL_KNOWN_TYPES or special in SCALARS:
            known = {**WELL_KNOWN_TYPES, **SCALARS}[special]
            if known.type == stated:
                return self._imported(special)
        wrapper = find_construct(field, MESSAGE_TYPE) or ""
        if wrapper in WRAPPERS and SCALARS[WRAPPERS[wrapper]].type == stated:
            return self._imported(wrapper)
        kind = stated.name if stated else "string"
        if kind == "string" and field.enum and (enum := scope.enum(field, name, self.dialect)):
            return enum
        if kind == "object" and field.properties is not None:
            return self._nested(field, name, scope)
        if kind == "object" and (reference := scope.find_reference(field)) is not None:
            return reference
        if stated is not None and kind in ("integer", "number"):
            fallback = "float" if stated.detail == "f32" else "double"
            whole = _INTEGERS.get(stated.detail or "i32", "int64" if kind == "integer" else fallback)
            return self._imported(whole if kind == "integer" or stated.detail == "decimal" else fallback)
        return self._imported(_TYPES.get(kind, "string"))

    def _nested(self, field: Field, name: str, scope: MessageScope) -> str:
        place = scope.place(field, name)
        if place.is_new:
            inner = MessageScope(place.name, self.file, place.home)
            place.home.definitions.append(self._message(inner, field, []))
        return place.reference

    def _imported(self, kind: str) -> str:
        if kind in IMPORTS:
            self.imports.add(IMPORTS[kind])
        return kind


def field_options(field: Field, name: str) -> str:
    """Return the options of a field that Treaty writes."""
    options = ["deprecated = true"] if field.deprecated else []
    json_name = find_construct(field, JSON_NAME)
    if json_name is not None and is_identifier(json_name):
        options.append(f'json_name = "{json_name}"')
    return f" [{', '.join(options)}]" if options else ""


def file_options(item: SchemaObject) -> list[str]:
    """Return the options of the file that an object was read from."""
    lines = []
    for entry in item.custom_properties or ():
        key, value = str(entry.get("property")), entry.get("value")
        name = key.removeprefix(FILE_OPTION_PREFIX)
        if key == SYNTAX_PROPERTY or not key.startswith(FILE_OPTION_PREFIX) or name not in _FILE_OPTIONS:
            continue
        if isinstance(value, bool):
            lines.append(f"option {name} = {'true' if value else 'false'};")
        elif isinstance(value, str) and value.isprintable() and not {'"', "\\"} & set(value):
            lines.append(f"option {name} = {value if name == 'optimize_for' else chr(34) + value + chr(34)};")
    return lines


_FILE_OPTIONS = frozenset(
    {
        *("java_package", "java_outer_classname", "java_multiple_files", "go_package", "csharp_namespace"),
        *("objc_class_prefix", "php_namespace", "ruby_package", "swift_prefix", "cc_enable_arenas", "optimize_for"),
    }
)
"""Options of a file that need no import."""


def make_unique_names(names: Sequence[str | None], is_free: Callable[[str], bool] = lambda name: True) -> list[str]:
    """Return identifiers for the names of siblings, whose JSON names are unique too."""
    chosen: list[str] = []
    taken = {make_json_name(name) for name in names if name is not None and is_identifier(name)}
    used: set[str] = set()
    for name in names:
        plain = make_identifier(name or "")
        candidate, number = plain, 2
        while make_json_name(candidate) in (used if candidate == name else used | taken) or not is_free(candidate):
            candidate, number = f"{plain}_{number}", number + 1
        used.add(make_json_name(candidate))
        chosen.append(candidate)
    return chosen


_MAX_FIELD_NUMBER = 536_870_911
_RESERVED_BY_PROTOBUF = range(19_000, 20_000)


def assign_numbers(fields: Sequence[Field], reserved: object) -> dict[int, int]:
    """Return the field numbers by position: the id if it is a valid number, otherwise the lowest free number."""
    free = _reserved_numbers(reserved)
    found: dict[int, int] = {}
    for place, field in enumerate(fields):
        number = int(field.id) if field.id and field.id.isascii() and field.id.isdigit() else 0
        if _is_usable(number) and number not in found.values() and not _is_in_any(number, free):
            found[place] = number
    taken = set(found.values())
    number = 0
    for place in range(len(fields)):
        if place not in found:
            number += 1
            while number in taken or not _is_usable(number) or _is_in_any(number, free):
                number += 1
            found[place] = number
    return found


def reserved_lines(reserved: object, numbers: Iterable[int], fields: Sequence[str]) -> list[str]:
    """Return the lines that reserve numbers and names; those of fields, and overlapping ranges, are left out."""
    spans = [(number, number) for number in numbers]
    listed = [text for text in reserved if isinstance(text, str)] if isinstance(reserved, tuple) else []
    ranges: list[str] = []
    for text in listed:
        span = _parse_range(text)
        if span is not None and not any(span[0] <= high and low <= span[1] for low, high in spans):
            ranges.append(text)
            spans.append(span)
    words = dict.fromkeys(text for text in listed if is_identifier(text) and text not in fields)
    names = [f'"{text}"' for text in words]
    return [f"reserved {', '.join(part)};" for part in (ranges, names) if part]


def _is_usable(number: int) -> bool:
    return 1 <= number <= _MAX_FIELD_NUMBER and number not in _RESERVED_BY_PROTOBUF


def _is_in_any(number: int, spans: list[tuple[int, int]]) -> bool:
    return any(low <= number <= high for low, high in spans)


def _reserved_numbers(reserved: object) -> list[tuple[int, int]]:
    listed = reserved if isinstance(reserved, tuple) else ()
    return [span for text in listed if isinstance(text, str) and (span := _parse_range(text))]


def _parse_range(text: str) -> tuple[int, int] | None:
    """Read `7` or `9 to 11` or `100 to max`."""
    low, _, high = (part.strip() for part in text.partition(" to "))
    high = str(_MAX_FIELD_NUMBER) if high == "max" else high or low
    if not (low.isascii() and low.isdigit() and high.isascii() and high.isdigit()):
        return None
    return (int(low), int(high)) if 1 <= int(low) <= int(high) <= _MAX_FIELD_NUMBER else None
