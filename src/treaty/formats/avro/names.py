"""Named types of an Avro schema: where they are defined, and who refers to them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from treaty.contracts.values import Json
from treaty.errors import InvalidDocument
from treaty.formats.naming import type_name

_KINDS = ("record", "error", "enum", "fixed")


@dataclass(frozen=True)
class Named:
    """A record, enum or fixed type, and its full name."""

    name: str
    schema: Mapping[str, Any]

    @property
    def short(self) -> str:
        """The name without its namespace."""
        return self.name.rpartition(".")[2]

    @classmethod
    def of(cls, schema: Mapping[str, Any], namespace: str = "") -> Named:
        """Name a schema, in the namespace around it where it has none of its own."""
        name, own = str(schema.get("name", "")), schema.get("namespace", namespace)
        return cls(name if "." in name or not own else f"{own}.{name}", schema)


def default_name(parent: str, field: str) -> str:
    """Return the name a type gets where nobody gave it one: that of the record and the field it stands in."""
    return type_name(parent.rpartition(".")[2], field)


def named_types(data: Json, refuse: Callable[[str, str], InvalidDocument]) -> tuple[dict[str, Named], set[str]]:
    """Return every named type by its full name, and the full names that other records refer to."""
    found: dict[str, Named] = {}
    references: list[tuple[str, str, str]] = []
    pending: list[tuple[Json, str, str]] = [(data, "", "")]
    while pending:
        schema, namespace, home = pending.pop()
        if isinstance(schema, str):
            references.append((schema, namespace, home))
        elif isinstance(schema, list):
            pending += [(one, namespace, home) for one in reversed(schema)]
        elif isinstance(schema, Mapping):
            if schema.get("type") in _KINDS:
                named = Named.of(schema, namespace)
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
