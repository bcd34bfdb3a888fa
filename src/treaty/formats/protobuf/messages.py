"""The pieces of Protobuf text: comments, blocks, and the types that a message defines inside itself."""

from __future__ import annotations

import re
from collections.abc import Iterable

from treaty.contracts.model import Field
from treaty.contracts.values import FrozenMap
from treaty.formats.naming import identifier, is_identifier, type_name

_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff]")
_STORED = re.compile(r"(?:message|enum) (\S+)")
_HIGHEST = 2**31 - 1


class Scope:
    """The types that one message defines inside itself, and the names they take."""

    def __init__(self, message: str) -> None:
        self.definitions: list[str] = []
        self._types: dict[str, Field | None] = {message: None}
        self._values: set[str] = set()

    def place(self, field: Field, name: str) -> tuple[str, bool]:
        """Return the name of a field's type, and whether it is still to be defined."""
        stored = _STORED.fullmatch(field.physical_type or "")
        wanted = stored[1] if stored and is_identifier(stored[1]) else type_name(name)
        known = self._types.get(wanted)
        if known is not None and (known.properties, known.enum) == (field.properties, field.enum):
            return wanted, False
        wanted = identifier(wanted, {*self._types, *self._values})
        self._types[wanted] = field
        return wanted, True

    def enum(self, field: Field, name: str) -> str | None:
        """Define the enum of a field's values, if they can be its names."""
        values = field.enum or ()
        listed = [item["value"] for item in values]
        if not all(isinstance(value, str) and is_identifier(value) for value in listed):
            return None
        stored = _STORED.fullmatch(field.physical_type or "")
        wanted = stored[1] if stored else type_name(name)
        known = self._types.get(wanted)
        if known is not None and known.enum == field.enum:
            return wanted
        numbers = _numbers(values)
        if len(set(listed)) < len(listed) or not self._values.isdisjoint(listed) or numbers is None:
            return None
        called, _ = self.place(field, name)
        zero = [] if 0 in numbers else [f"{_upper(called)}_UNSPECIFIED = 0;"]
        lines = [
            f"{comment(item.get('description'))}{item['value']} = {number};"
            for item, number in sorted(zip(values, numbers, strict=True), key=lambda pair: pair[1] != 0)
        ]
        self._values |= {*listed, *(line.split()[0] for line in zero)}
        self.definitions.append(block(f"enum {called}", [*zero, *lines]))
        return called


def comment(text: str | None) -> str:
    """Return a description as the lines of a comment."""
    lines = _CONTROL.sub(" ", text).split("\n") if text else []
    return "".join(f"// {line}".rstrip() + "\n" for line in lines)


def block(head: str, parts: Iterable[str]) -> str:
    """Return a definition with its parts indented."""
    inner = "\n".join(f"  {line}".rstrip() for part in parts for line in part.split("\n"))
    return f"{head} {{\n{inner}\n}}" if inner else f"{head} {{}}"


def _numbers(values: tuple[FrozenMap, ...]) -> list[int] | None:
    """Return the numbers of an enum's values: their ids, or their places; None where two would be the same."""
    ids = [str(item.get("id") or "") for item in values]
    first = 0 if "0" in ids else 1
    numbers = [int(one) if one.isascii() and one.isdigit() else place for place, one in enumerate(ids, start=first)]
    return numbers if len(set(numbers)) == len(numbers) and max(numbers, default=0) <= _HIGHEST else None


def _upper(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).upper()
