"""Types of a contract as types of Python: how they are written, and what they are."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from decimal import Decimal
from types import GenericAlias
from typing import Any, Literal
from uuid import UUID

from pydantic import AwareDatetime, NaiveDatetime

from treaty.contracts.model import Field
from treaty.contracts.values import EMPTY
from treaty.formats.json_schema.types import TYPES


@dataclass(frozen=True)
class Typed:
    """A type as source says it, as Python knows it, and the format that its JSON schema has beside it."""

    text: str
    kind: Any
    told: str | None = None

    def or_none(self) -> Typed:
        """Return the type of a value that may be missing."""
        return Typed(f"{self.text} | None", self.kind | None, self.told)


STRING, ANYTHING = Typed("str", str), Typed("dict[str, Any]", dict[str, Any])
_SCALARS = {
    "boolean": Typed("bool", bool),
    "date": Typed("dt.date", dt.date),
    "time": Typed("dt.time", dt.time),
    "binary": Typed("bytes", bytes),
    "json": ANYTHING,
    "object": ANYTHING,
    "vector": Typed("list[float]", list[float]),
}
_IN_A_LITERAL = (str, bool, int)


def list_of(inner: Typed) -> Typed:
    """Return the type of a list."""
    return Typed(f"list[{inner.text}]", GenericAlias(list, (inner.kind,)))


def entries_of(inner: Typed) -> Typed:
    """Return the type of a mapping from texts."""
    return Typed(f"dict[str, {inner.text}]", GenericAlias(dict, (str, inner.kind)))


def scalar(field: Field) -> Typed:
    """Return the Python type that holds a field's values; what no type holds is a text."""
    stated, options = field.type, field.options or EMPTY
    kind = stated.name if stated else "string"
    values = tuple(item["value"] for item in field.enum or ())
    if values and kind in ("string", "integer", "boolean") and all(type(value) in _IN_A_LITERAL for value in values):
        return Typed(f"Literal[{', '.join(map(repr, values))}]", Literal[values])
    match kind:
        case "string" if options.get("format") == "uuid":
            return Typed("UUID", UUID)
        case "integer" | "number" if stated and stated.detail == "decimal":
            return Typed("Decimal", Decimal)
        case "integer" | "number" if stated:
            told = next((form for (name, form), one in TYPES.items() if name == kind and one.type == stated), None)
            return Typed("int", int, told) if kind == "integer" else Typed("float", float, told)
        case "timestamp" if options.get("timezone") is False or (stated and stated.detail == "without time zone"):
            return Typed("NaiveDatetime", NaiveDatetime, "date-time-local")
        case "timestamp":
            return Typed("AwareDatetime", AwareDatetime)
        case "string":
            told = options.get("format")
            return Typed("str", str, told if isinstance(told, str) and ("string", told) not in TYPES else None)
        case _:
            return _SCALARS.get(kind, STRING)
