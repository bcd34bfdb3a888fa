"""Avro types and their contract types; named types by their full names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from treaty.contracts.model import Field
from treaty.contracts.values import FrozenMap, Json
from treaty.errors import InvalidDocument
from treaty.formats.naming import make_type_name

BINARY = Field(physical_type="binary")


def _field(logical: str, physical: str | None = None, **options: object) -> Field:
    return Field(logical_type=logical, physical_type=physical, options=FrozenMap(options) if options else None)


PRIMITIVES: dict[str, Field] = {
    "string": _field("string"),
    "boolean": _field("boolean"),
    "int": _field("integer"),
    "long": _field("integer", format="i64"),
    "float": _field("number", format="f32"),
    "double": _field("number"),
    "bytes": BINARY,
}
LOGICAL: dict[tuple[str, str], Field] = {
    ("string", "uuid"): _field("string", format="uuid"),
    ("int", "date"): _field("date"),
    ("int", "time-millis"): _field("time", "time-millis"),
    ("long", "time-micros"): _field("time"),
    ("long", "timestamp-millis"): _field("timestamp", "timestamp-millis"),
    ("long", "timestamp-micros"): _field("timestamp"),
    ("long", "timestamp-nanos"): _field("timestamp", "timestamp-nanos"),
    ("long", "local-timestamp-millis"): _field("timestamp", "local-timestamp-millis", timezone=False),
    ("long", "local-timestamp-micros"): _field("timestamp", timezone=False),
    ("long", "local-timestamp-nanos"): _field("timestamp", "local-timestamp-nanos", timezone=False),
    ("bytes", "big-decimal"): _field("number", "decimal"),
}
"""By primitive type and logical type."""

INTEGERS = {
    **dict.fromkeys(("i8", "i16", "i32", "u8", "u16"), "int"),
    **dict.fromkeys(("i64", "u32"), "long"),
}
WIDE_INTEGER_DIGITS = {"u64": 20, "i128": 39, "u128": 39}
"""Decimal digits of integers that are too wide for any Avro integer."""
DEFAULT_DECIMAL = (38, 18)
"""Precision and scale of a decimal that states none."""


_NAMED_KINDS = ("record", "error", "enum", "fixed")


@dataclass(frozen=True)
class NamedType:
    """A record, enum or fixed type with its full name."""

    name: str
    schema: Mapping[str, Any]

    @property
    def short(self) -> str:
        """The name without its namespace."""
        return self.name.rpartition(".")[2]

    @classmethod
    def of(cls, schema: Mapping[str, Any], namespace: str = "") -> NamedType:
        """Return the type with its full name; without a namespace of its own it inherits the enclosing one."""
        name, own = str(schema.get("name", "")), schema.get("namespace", namespace)
        return cls(name if "." in name or not own else f"{own}.{name}", schema)


def default_type_name(parent: str, field: str) -> str:
    """Return the name of a type that the contract does not name: record and field joined."""
    return make_type_name(parent.rpartition(".")[2], field)


def collect_named_types(
    data: Json, refuse: Callable[[str, str], InvalidDocument]
) -> tuple[dict[str, NamedType], set[str]]:
    """Return the named types by full name, and the full names that other records refer to."""
    found: dict[str, NamedType] = {}
    references: list[tuple[str, str, str]] = []
    pending: list[tuple[Json, str, str]] = [(data, "", "")]
    while pending:
        schema, namespace, home = pending.pop()
        if isinstance(schema, str):
            references.append((schema, namespace, home))
        elif isinstance(schema, list):
            pending += [(one, namespace, home) for one in reversed(schema)]
        elif isinstance(schema, Mapping):
            if schema.get("type") in _NAMED_KINDS:
                named = NamedType.of(schema, namespace)
                if not named.short:
                    raise refuse(f"a {schema['type']} has no name", "give it one")
                if named.name in found:
                    raise refuse(f"the type {named.name!r} is defined twice", "define it once and refer to it by name")
                found[named.name] = named
                namespace, home = named.name.rpartition(".")[0], home or named.name
                fields = schema.get("fields")
                fields = fields if isinstance(fields, list) else []
                kinds = [one.get("type") for one in fields if isinstance(one, Mapping)]
                pending += [(kind, namespace, home) for kind in reversed(kinds)]
            else:
                pending += [(schema[key], namespace, home) for key in ("values", "items", "type") if key in schema]
    named_so = ((name, home) for text, space, home in references for name in (text, f"{space}.{text}"))
    return found, {name for name, home in named_so if name in found and name != home}
