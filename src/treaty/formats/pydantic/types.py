"""Python types of contract fields, as source and as type objects, with the validators that hold values to them."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from types import GenericAlias
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import AwareDatetime, NaiveDatetime, StrictBool, StrictFloat, StrictInt
from pydantic import Field as PydanticField

from treaty.compatibility.terms.field_values import allowed_values
from treaty.contracts.model import Field
from treaty.contracts.text_formats import PATTERNS
from treaty.contracts.types import DataType
from treaty.contracts.values import EMPTY
from treaty.formats.json_schema.keywords import type_limits
from treaty.formats.json_schema.types import TYPES, UNION
from treaty.formats.pydantic.validators import VALIDATORS


@dataclass(frozen=True)
class PythonType:
    """A type as source text and as a type object, the `format` in its JSON schema, and calls of its validators."""

    text: str
    kind: Any
    format: str | None = None
    validators: tuple[tuple[str, tuple[Any, ...]], ...] = ()

    def or_none(self) -> PythonType:
        """Return the type of an optional value."""
        return self if self.kind is None else replace(self, text=f"{self.text} | None", kind=self.kind | None)

    def checked(self, validator: str, *arguments: Any) -> PythonType:
        """Return the type with one more validator of `VALIDATORS`."""
        return replace(self, validators=(*self.validators, (validator, arguments)))

    def annotated(self, constraints: dict[str, Any]) -> PythonType:
        """Return the type with its validators and with arguments of Pydantic's `Field` as annotations."""
        texts, kind = [self.text], self.kind
        if constraints:
            texts.append(f"Field({', '.join(f'{key}={value!r}' for key, value in constraints.items())})")
            kind = Annotated[kind, PydanticField(**constraints)]
        for name, arguments in self.validators:
            texts.append(f"{name}({', '.join(map(repr, arguments))})")
            kind = Annotated[kind, VALIDATORS[name](*arguments)]
        text = f"Annotated[{', '.join(texts)}]" if len(texts) > 1 else self.text
        return PythonType(text, kind, self.format)


ANY, STRING = PythonType("Any", Any), PythonType("str", str)
JSON_OBJECT = PythonType("dict[str, Any]", dict[str, Any])
_INTEGER, _FLOAT = PythonType("StrictInt", StrictInt), PythonType("StrictFloat", StrictFloat)
_BOOLEAN = PythonType("StrictBool", StrictBool)
_DAY, _CLOCK = "[0-9]{4}-[0-9]{2}-[0-9]{2}", "[0-9]{2}:[0-9]{2}:[0-9]{2}.*"
"""The form of dates and times; Python checks the rest. Without it, Pydantic also accepts seconds since 1970."""
_SCALARS = {
    "boolean": _BOOLEAN,
    "date": PythonType("dt.date", dt.date).checked("written_as", _DAY),
    "time": PythonType("dt.time", dt.time).checked("written_as", _CLOCK),
    "binary": PythonType("bytes", bytes),
    "json": JSON_OBJECT,
    "object": JSON_OBJECT,
    "null": PythonType("None", None),
}
_JSON_TYPES = {
    "string": STRING,
    "integer": _INTEGER,
    "number": _FLOAT,
    "boolean": _BOOLEAN,
    "array": PythonType("list[Any]", list[Any]),
    "object": JSON_OBJECT,
    "null": PythonType("None", type(None)),
}
_AWARE = PythonType("AwareDatetime", AwareDatetime).checked("written_as", f"{_DAY}[Tt]{_CLOCK}")
_NAIVE = PythonType("NaiveDatetime", NaiveDatetime, "date-time-local").checked("written_as", f"{_DAY}[Tt]{_CLOCK}")
_LITERAL_TYPES = (str, bool, int)


def list_of(inner: PythonType) -> PythonType:
    """Return the type of a list."""
    return PythonType(f"list[{inner.text}]", GenericAlias(list, (inner.kind,)))


def dict_of(key: PythonType, value: PythonType) -> PythonType:
    """Return the type of a dictionary."""
    return PythonType(f"dict[{key.text}, {value.text}]", GenericAlias(dict, (key.kind, value.kind)))


def scalar_type(field: Field) -> PythonType:
    """Return the Python type of a field; str if no other type fits."""
    kind = field.type.name if field.type else "string"
    values = tuple(value for value in allowed_values(field) or () if value is not None)
    if values and kind in ("string", "integer", "boolean") and all(type(value) in _LITERAL_TYPES for value in values):
        return PythonType(f"Literal[{', '.join(map(repr, values))}]", Literal[values])
    typed = _unlisted_type(field, kind)
    if values and kind == "number" and all(isinstance(value, int | float) for value in values):
        numbers = tuple(Decimal(str(value)) if "Decimal" in typed.text else value for value in values)
        return typed.checked("one_of", *numbers)
    return typed


def _unlisted_type(field: Field, kind: str) -> PythonType:
    stated, options = field.type, field.options or EMPTY
    if any(construct.name == "type" for construct in field.foreign) or (field.physical_type or "").startswith("$ref "):
        return ANY
    if alternatives := UNION.fullmatch(field.physical_type or ""):
        kinds = [_JSON_TYPES[name] for name in alternatives["types"].split(",") if name in _JSON_TYPES]
        joined = kinds[0].kind
        for one in kinds[1:]:
            joined = joined | one.kind
        return PythonType(" | ".join(one.text for one in kinds), joined)
    if kind in ("integer", "number") and stated:
        return _number(stated, field)
    if kind in ("date", "time", "timestamp") and "format" in options:
        return STRING  # a text in a form that Python does not parse
    if kind == "timestamp":
        is_local = options.get("timezone") is False or (stated and stated.detail == "without time zone")
        return _NAIVE if is_local else _AWARE
    if kind == "vector":
        size = options.get("dimensions")
        return list_of(_FLOAT).annotated({"min_length": size, "max_length": size} if isinstance(size, int) else {})
    return _text(options.get("format")) if kind == "string" else _SCALARS.get(kind, STRING)


def _number(stated: DataType, field: Field) -> PythonType:
    if stated.detail == "decimal":
        return PythonType("Decimal", Decimal)
    limits = type_limits(field)
    named_format = next(
        (form for (name, form), one in TYPES.items() if name == stated.name and one.type == stated), None
    )
    typed = replace(_INTEGER if stated.name == "integer" else _FLOAT, format=named_format)
    return typed.checked("within", limits["minimum"], limits["maximum"]) if limits else typed


def _text(named_format: Any) -> PythonType:
    if not isinstance(named_format, str):
        return STRING
    if named_format == "uuid":
        return PythonType("UUID", UUID).checked("written_as", "[0-9A-Fa-f-]{36}")
    typed = PythonType("str", str, None if ("string", named_format) in TYPES else named_format)
    return typed.checked("matches", PATTERNS[named_format]) if named_format in PATTERNS else typed


_KEY_PATTERNS = {"integer": "-?[0-9]+", "number": r"-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?", "boolean": "true|false"}


def key_type(field: Field | None) -> PythonType:
    """Return the type of the keys of a map, which are texts, as in JSON."""
    kind = field.type.name if field and field.type else "string"
    if kind in _KEY_PATTERNS:
        return STRING.checked("matches", _KEY_PATTERNS[kind])
    return scalar_type(field) if field and kind == "string" else STRING


def used_validators(text: str) -> Iterator[str]:
    """Yield the names of the validators that a source text calls."""
    return (name for name in VALIDATORS if f"{name}(" in text)
