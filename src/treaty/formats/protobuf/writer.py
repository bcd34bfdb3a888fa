"""Write contracts as .proto files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from treaty.contracts.model import Contract, Field, SchemaObject
from treaty.contracts.values import FrozenMap
from treaty.formats.losses import find_losses
from treaty.formats.naming import is_identifier, make_field_names, make_identifier, make_type_name
from treaty.formats.notes import require_objects
from treaty.formats.protobuf.parser import RESERVED
from treaty.formats.protobuf.reader import read
from treaty.formats.protobuf.types import IMPORTS, MAP_KEY_TYPES, SCALARS, WELL_KNOWN_TYPES
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
    text = _Writer(plain, dialect).text()
    return WriteResult(text, find_losses(contract, read(text, contract.id).contracts, REASONS, adds=("id",)))


class _Writer:
    """Writes one contract and collects its imports."""

    def __init__(self, contract: Contract, dialect: str) -> None:
        self.contract = contract
        self.dialect = dialect
        self.imports: set[str] = set()

    def text(self) -> str:
        names = make_field_names([item.name for item in self.contract.schema])
        messages = [self._object(item, name) for item, name in zip(self.contract.schema, names, strict=True)]
        package = self.contract.id.removesuffix(f".{names[0]}")
        head = [f'syntax = "{self.dialect}";']
        if package != self.contract.id and all(map(is_identifier, package.split("."))):
            head.append(f"package {package};")
        if self.imports:
            head.append("\n".join(f'import "{path}";' for path in sorted(self.imports)))
        return "\n\n".join([*head, *messages]) + "\n"

    def _object(self, item: SchemaObject, name: str) -> str:
        entries = {one.get("property"): one.get("value") for one in item.custom_properties or ()}
        lines = ["option deprecated = true;"] if item.more.get("deprecated") is True else []
        return render_comment(item.description) + self._message(name, item.fields, entries.get(RESERVED), lines)

    def _message(self, name: str, fields: tuple[Field, ...], reserved: object, lines: list[str]) -> str:
        scope = MessageScope(name)
        names = make_field_names([field.name for field in fields])
        numbers = assign_numbers(fields, reserved)
        body = [*lines, *reserved_lines(reserved, numbers.values())]
        for index, (field, called) in enumerate(zip(fields, names, strict=True)):
            body.append(self._field(field, called, numbers[index], scope))
        return render_block(f"message {name}", [*body[: len(lines)], *scope.definitions, *body[len(lines) :]])

    def _field(self, field: Field, name: str, number: int, scope: MessageScope) -> str:
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
            label = "required " if field.is_required and self.dialect == "proto2" else "optional "
            label = "" if field.is_required and self.dialect == "proto3" else label
        options = " [deprecated = true]" if field.deprecated else ""
        return f"{render_comment(field.description)}{label}{written} {name} = {number}{options};"

    def _single(self, field: Field | None, name: str, scope: MessageScope) -> str:
        """Return the type of a single value; enums and messages are defined in the scope."""
        if field is None:
            return "string"
        stated = field.type
        if field.physical_type in WELL_KNOWN_TYPES or field.physical_type in SCALARS:
            known = {**WELL_KNOWN_TYPES, **SCALARS}[field.physical_type or ""]
            if known.type == stated:
                return self._imported(field.physical_type or "")
        kind = stated.name if stated else "string"
        if kind == "string" and field.enum and (found := scope.enum(field, name)):
            return found
        if kind == "object" and field.properties is not None:
            return self._nested(field, name, scope)
        if stated is not None and kind in ("integer", "number"):
            fallback = "float" if stated.detail == "f32" else "double"
            whole = _INTEGERS.get(stated.detail or "i32", "int64" if kind == "integer" else fallback)
            return self._imported(whole if kind == "integer" or stated.detail == "decimal" else fallback)
        return self._imported(_TYPES.get(kind, "string"))

    def _nested(self, field: Field, name: str, scope: MessageScope) -> str:
        called, is_new = scope.place(field, name)
        if is_new:
            entries = {one.get("property"): one.get("value") for one in field.custom_properties or ()}
            scope.definitions.append(self._message(called, field.properties or (), entries.get(RESERVED), []))
        return called

    def _imported(self, kind: str) -> str:
        if kind in IMPORTS:
            self.imports.add(IMPORTS[kind])
        return kind


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


def reserved_lines(reserved: object, numbers: Iterable[int]) -> list[str]:
    """Return the lines that reserve numbers and names."""
    taken = set(numbers)
    listed = [text for text in reserved if isinstance(text, str)] if isinstance(reserved, tuple) else []
    ranges = [
        text for text in listed if (span := _parse_range(text)) and not any(span[0] <= one <= span[1] for one in taken)
    ]
    names = [f'"{text}"' for text in listed if is_identifier(text) and _parse_range(text) is None]
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


_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff]")
_STORED = re.compile(r"(?:message|enum) (\S+)")
_MAX_ENUM_NUMBER = 2**31 - 1


class MessageScope:
    """The types defined inside one message, and the names they use."""

    def __init__(self, message: str) -> None:
        self.definitions: list[str] = []
        self._types: dict[str, Field | None] = {message: None}
        self._values: set[str] = set()

    def place(self, field: Field, name: str) -> tuple[str, bool]:
        """Return the type name of a field, and whether the type still has to be defined."""
        stored = _STORED.fullmatch(field.physical_type or "")
        wanted = stored[1] if stored and is_identifier(stored[1]) else make_type_name(name)
        known = self._types.get(wanted)
        if known is not None and (known.properties, known.enum) == (field.properties, field.enum):
            return wanted, False
        wanted = make_identifier(wanted, {*self._types, *self._values})
        self._types[wanted] = field
        return wanted, True

    def enum(self, field: Field, name: str) -> str | None:
        """Define an enum for the values of a field; None if they are not valid enum names."""
        values = field.enum or ()
        listed = [item["value"] for item in values]
        if not all(isinstance(value, str) and is_identifier(value) for value in listed):
            return None
        stored = _STORED.fullmatch(field.physical_type or "")
        wanted = stored[1] if stored else make_type_name(name)
        known = self._types.get(wanted)
        if known is not None and known.enum == field.enum:
            return wanted
        numbers = _numbers(values)
        if len(set(listed)) < len(listed) or not self._values.isdisjoint(listed) or numbers is None:
            return None
        called, _ = self.place(field, name)
        zero = [] if 0 in numbers else [f"{_upper_snake_case(called)}_UNSPECIFIED = 0;"]
        lines = [
            f"{render_comment(item.get('description'))}{item['value']} = {number};"
            for item, number in sorted(zip(values, numbers, strict=True), key=lambda pair: pair[1] != 0)
        ]
        self._values |= {*listed, *(line.split()[0] for line in zero)}
        self.definitions.append(render_block(f"enum {called}", [*zero, *lines]))
        return called


def render_comment(text: str | None) -> str:
    """Return a description as comment lines."""
    lines = _CONTROL.sub(" ", text).split("\n") if text else []
    return "".join(f"// {line}".rstrip() + "\n" for line in lines)


def render_block(head: str, parts: Iterable[str]) -> str:
    """Return a definition with an indented body."""
    inner = "\n".join(f"  {line}".rstrip() for part in parts for line in part.split("\n"))
    return f"{head} {{\n{inner}\n}}" if inner else f"{head} {{}}"


def _numbers(values: tuple[FrozenMap, ...]) -> list[int] | None:
    """Return the numbers of enum values, from their ids or positions; None if they are not unique."""
    ids = [str(item.get("id") or "") for item in values]
    first = 0 if "0" in ids else 1
    numbers = [int(one) if one.isascii() and one.isdigit() else place for place, one in enumerate(ids, start=first)]
    return numbers if len(set(numbers)) == len(numbers) and max(numbers, default=0) <= _MAX_ENUM_NUMBER else None


def _upper_snake_case(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).upper()
