"""Names in one .proto file: messages, fields, enum values and oneofs of a message share one scope."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from treaty.contracts.model import Field
from treaty.contracts.values import FrozenMap
from treaty.formats.naming import is_identifier, make_identifier, make_type_name, make_upper_snake_case
from treaty.formats.protobuf.types import CLOSED_ENUM, ENUM_TYPE, MESSAGE_TYPE, SCALARS, ZERO_VALUE, find_construct

_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff]")
_STORED = re.compile(r"(?:message|enum) (\S+)")
_MAX_ENUM_NUMBER = 2**31 - 1
_KEYWORDS = frozenset(SCALARS) | {
    *("google", "map", "message", "enum", "oneof", "optional", "repeated", "required", "reserved", "group"),
    *("extend", "extensions", "option", "stream", "returns", "rpc", "service", "package", "import", "syntax"),
}
"""Names that would be read as something else where a type is expected."""


class FileScope:
    """The names at the top of a file, and the numbers that enum values have got."""

    def __init__(self, taken: Iterable[str]) -> None:
        self.definitions: list[str] = []
        self.names: set[str] = {*taken}
        self.types: dict[str, Field | None] = {}
        self.numbered: dict[tuple[FrozenMap, ...], tuple[FrozenMap, ...]] = {}
        self.path = ""


@dataclass(frozen=True)
class TypePlace:
    """Where a type is defined, how fields refer to it, and whether it still has to be defined."""

    home: FileScope | MessageScope
    name: str
    reference: str
    is_new: bool


class MessageScope:
    """The names inside one message."""

    def __init__(self, name: str, file: FileScope, parent: FileScope | MessageScope | None = None) -> None:
        self.name = name
        self.file = file
        self.definitions: list[str] = []
        above: str = (parent or file).path
        self.path: str = f"{above}.{name}" if above else name
        self.names: set[str] = {name}
        self.types: dict[str, Field | None] = {}
        file.types.setdefault(self.path, None)

    def is_free(self, name: str) -> bool:
        """Whether no other part of the message has a name."""
        return name not in self.names

    def take(self, names: Iterable[str]) -> None:
        """Record names that are used."""
        self.names.update(names)

    def place(self, field: Field, name: str) -> TypePlace:
        """Return where the type of a field is, or is to be, defined."""
        construct = find_construct(field, MESSAGE_TYPE) or find_construct(field, ENUM_TYPE) or ""
        if is_identifier(construct):  # a type at the top of the file
            place = self._place(self.file, field, construct)
            if place is not None:
                return place
        stored = _STORED.fullmatch(field.physical_type or "")
        wanted = construct.rpartition(".")[2] if construct else stored[1] if stored else ""
        wanted = wanted if is_identifier(wanted) else make_type_name(name)
        place = self._place(self, field, wanted)
        if place is not None:
            return place
        free = make_identifier(wanted, {*self.names, *self.types, *_KEYWORDS})
        return self._define(self, field, free)

    def find_reference(self, field: Field) -> str | None:
        """Return the type of a recursive field, which is defined around it."""
        name = find_construct(field, MESSAGE_TYPE)
        return name if name is not None and name in self.file.types else None

    def _place(self, home: FileScope | MessageScope, field: Field, name: str) -> TypePlace | None:
        if name in home.types:
            known = home.types[name]
            is_same = known is not None and (known.properties, known.enum) == (field.properties, field.enum)
            return TypePlace(home, name, name, is_new=False) if is_same else None
        return None if name in home.names or name in _KEYWORDS else self._define(home, field, name)

    def _define(self, home: FileScope | MessageScope, field: Field, name: str) -> TypePlace:
        home.types[name] = field
        home.names.add(name)
        return TypePlace(home, name, name, is_new=True)

    def enum(self, field: Field, name: str, dialect: str) -> str | None:
        """Define an enum for the values of a field; None if they are not valid enum names."""
        values = field.enum or ()
        numbers = number_values(values)
        is_closed = find_construct(field, CLOSED_ENUM) is not None
        if numbers is None or (is_closed and dialect == "proto3" and find_construct(field, ZERO_VALUE) == "none"):
            return None
        names, types = set(self.names), dict(self.types)
        outer_names, outer_types = set(self.file.names), dict(self.file.types)
        place = self.place(field, name)
        self.file.numbered[values] = tuple(
            FrozenMap({**item, "id": str(number)}) for item, number in zip(values, numbers, strict=True)
        )
        if not place.is_new:
            return place.reference
        lines = enum_lines(field, place.name, numbers, dialect)
        listed = [line.rpartition("\n")[2].split()[0] for line in lines]
        if place.home.names.isdisjoint(listed) and not _conflict(place.name, listed):
            place.home.names.update(listed)
            place.home.definitions.append(render_block(f"enum {place.name}", lines))
            return place.reference
        self.names, self.types = names, types
        self.file.names, self.file.types = outer_names, outer_types
        return None


def enum_lines(field: Field, name: str, numbers: list[int], dialect: str) -> list[str]:
    """Return the values of an enum; proto3 needs a zero at the top."""
    zero = find_construct(field, ZERO_VALUE) or f"{make_upper_snake_case(name)}_UNSPECIFIED"
    needs_zero = 0 not in numbers and not (zero == "none" and dialect == "proto2")
    zero = zero if is_identifier(zero) and zero != "none" else f"{make_upper_snake_case(name)}_UNSPECIFIED"
    lines = [
        f"{render_comment(item.get('description'))}{item['value']} = {number};"
        for item, number in sorted(
            zip(field.enum or (), numbers, strict=True), key=lambda pair: pair[1] != 0 if dialect == "proto3" else 0
        )
    ]
    return [f"{zero} = 0;", *lines] if needs_zero else lines


def number_values(values: tuple[FrozenMap, ...]) -> list[int] | None:
    """Return the numbers of enum values, from their ids or positions; None if Protobuf does not allow them."""
    listed = [item["value"] for item in values]
    if not all(isinstance(value, str) and is_identifier(value) for value in listed) or len(set(listed)) < len(listed):
        return None
    ids = [str(item.get("id") or "") for item in values]
    first = 0 if "0" in ids else 1
    numbers = [int(text) if _is_number(text) else place for place, text in enumerate(ids, start=first)]
    is_valid = len(set(numbers)) == len(numbers) and all(abs(number) <= _MAX_ENUM_NUMBER for number in numbers)
    return numbers if is_valid else None


def _is_number(text: str) -> bool:
    digits = text.removeprefix("-")
    return digits.isascii() and digits.isdigit() and len(digits) <= 10


def _conflict(enum: str, values: list[str]) -> bool:
    """Whether two values are the same without the name of the enum as a prefix, which Protobuf does not allow."""
    prefix = enum.replace("_", "").lower()

    def plain(value: str) -> str:
        letters = value.replace("_", "").lower()
        rest = letters.removeprefix(prefix)
        return rest or letters

    return len({plain(value) for value in values}) < len(values)


def render_comment(text: str | None) -> str:
    """Return a description as comment lines."""
    lines = _CONTROL.sub(" ", text).split("\n") if text else []
    return "".join(f"// {line}".rstrip() + "\n" for line in lines)


def render_block(head: str, parts: Iterable[str]) -> str:
    """Return a definition with an indented body."""
    inner = "\n".join(f"  {line}".rstrip() for part in parts for line in part.split("\n"))
    return f"{head} {{\n{inner}\n}}" if inner else f"{head} {{}}"
