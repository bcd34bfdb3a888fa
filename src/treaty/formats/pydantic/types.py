"""Python types of contract fields, as source and as type objects."""

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
class PythonType:
    """A type as source text and as a type object, and the `format` in its JSON schema."""

    text: str
    kind: Any
    format: str | None = None

    def or_none(self) -> PythonType:
        """Return the type of an optional value."""
        return PythonType(f"{self.text} | None", self.kind | None, self.format)


STRING, JSON_OBJECT = PythonType("str", str), PythonType("dict[str, Any]", dict[str, Any])
_SCALARS = {
    "boolean": PythonType("bool", bool),
    "date": PythonType("dt.date", dt.date),
    "time": PythonType("dt.time", dt.time),
    "binary": PythonType("bytes", bytes),
    "json": JSON_OBJECT,
    "object": JSON_OBJECT,
    "vector": PythonType("list[float]", list[float]),
}
_LITERAL_TYPES = (str, bool, int)


def list_of(inner: PythonType) -> PythonType:
    """Return the type of a list."""
    return PythonType(f"list[{inner.text}]", GenericAlias(list, (inner.kind,)))


def dict_of(inner: PythonType) -> PythonType:
    """Return the type of a dictionary with string keys."""
    return PythonType(f"dict[str, {inner.text}]", GenericAlias(dict, (str, inner.kind)))


def scalar_type(field: Field) -> PythonType:
    """Return the Python type of a field; str if no other type fits."""
    stated, options = field.type, field.options or EMPTY
    kind = stated.name if stated else "string"
    values = tuple(item["value"] for item in field.enum or ())
    if values and kind in ("string", "integer", "boolean") and all(type(value) in _LITERAL_TYPES for value in values):
        return PythonType(f"Literal[{', '.join(map(repr, values))}]", Literal[values])
    match kind:
        case "string" if options.get("format") == "uuid":
            return PythonType("UUID", UUID)
        case "integer" | "number" if stated and stated.detail == "decimal":
            return PythonType("Decimal", Decimal)
        case "integer" | "number" if stated:
            named_format = next(
                (form for (name, form), one in TYPES.items() if name == kind and one.type == stated), None
            )
            return (
                PythonType("int", int, named_format) if kind == "integer" else PythonType("float", float, named_format)
            )
        case "timestamp" if options.get("timezone") is False or (stated and stated.detail == "without time zone"):
            return PythonType("NaiveDatetime", NaiveDatetime, "date-time-local")
        case "timestamp":
            return PythonType("AwareDatetime", AwareDatetime)
        case "string":
            named_format = options.get("format")
            return PythonType(
                "str",
                str,
                named_format if isinstance(named_format, str) and ("string", named_format) not in TYPES else None,
            )
        case _:
            return _SCALARS.get(kind, STRING)
