"""Whether readers of a contract can read what a schema's writers write, and what differs if they cannot.

Avro is judged by Avro's own schema resolution. A contract names its types in its own way and is read from texts too,
so that names do not count, and a writer may write an enum, a time or a decimal as text. Protobuf and JSON are read by
name: the fields that the contract requires must be there, with types that its own can hold.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from treaty.contracts.model import Contract, Field, SchemaObject
from treaty.contracts.types import widens
from treaty.contracts.values import Json
from treaty.errors import InvalidDocument, NoContract
from treaty.formats.supported_formats import get_format
from treaty.schema_registry.avro_schemas import read_data
from treaty.schema_registry.compatibility import find_differences
from treaty.schema_registry.contract_schemas import read_objects
from treaty.schema_registry.model import InvalidSchema, ParsedSchema, SchemaType, all_references
from treaty.schema_registry.schemas import parse_schema

MAX_REASONS = 5
_NULL = "null"
_NAMED = frozenset({"record", "error", "enum", "fixed"})
_AFTER = "after"


def judge_writer(contract: Contract, schema: ParsedSchema, *, is_envelope: bool = False) -> tuple[str, ...]:
    """Return why rows of a contract with one object cannot be read from the values of a schema; none if they can.

    The schema of an envelope of a change feed is judged by the row in it.
    """
    if schema.type is SchemaType.AVRO:
        found = _judge_avro(contract, inline_references(schema), is_envelope=is_envelope)
    else:
        found = () if is_envelope else tuple(_judge_fields(contract, schema))
    more = len(found) - MAX_REASONS
    return (*found[:MAX_REASONS], *([f"and {more} more"] if more > 0 else []))


def inline_references(schema: ParsedSchema) -> Json:
    """Return an Avro schema with the types that it refers to, each defined where it first occurs."""
    known: dict[str, Json] = {}
    for one in all_references(schema.references):
        _collect(read_data(one.schema.text), "", known)
    return _inlined(read_data(schema.text), "", known, set())


def _collect(node: Json, namespace: str, known: dict[str, Json]) -> None:
    """Collect the named types of a schema by their full names, with references by full names."""
    if isinstance(node, list):
        for one in node:
            _collect(one, namespace, known)
    elif isinstance(node, Mapping):
        if _kind(node) in _NAMED:
            name = _full_name(node, namespace)
            namespace = name.rpartition(".")[0]
            known.setdefault(name, {**node, "name": name.rpartition(".")[2], "namespace": namespace})
        for key in ("type", "items", "values"):
            if not isinstance(node.get(key), str):
                _collect(node.get(key), namespace, known)
        for field in node.get("fields") or ():
            _collect(field, namespace, known)


def _inlined(node: Json, namespace: str, known: Mapping[str, Json], defined: set[str]) -> Json:
    if isinstance(node, str):
        full = node if "." in node or not namespace else f"{namespace}.{node}"
        name = full if full in known else node
        if name in known and name not in defined:
            return _inlined(known[name], "", known, defined)
        return name if name in known else node
    if isinstance(node, list):
        return [_inlined(one, namespace, known, defined) for one in node]
    if not isinstance(node, Mapping):
        return node
    parts: dict[str, Any] = dict(node)
    if _kind(node) in _NAMED:
        name = _full_name(node, namespace)
        namespace = name.rpartition(".")[0]
        defined.add(name)
    for key in ("items", "values"):
        if key in parts:
            parts[key] = _inlined(parts[key], namespace, known, defined)
    if not isinstance(parts.get("type"), str) and "type" in parts:
        parts["type"] = _inlined(parts["type"], namespace, known, defined)
    if isinstance(parts.get("fields"), list):
        parts["fields"] = [
            {**field, "type": _inlined(field.get("type"), namespace, known, defined)} for field in parts["fields"]
        ]
    return parts


def _full_name(node: Mapping[str, Any], namespace: str) -> str:
    name, space = str(node.get("name", "")), node.get("namespace", namespace)
    return name if "." in name or not space else f"{space}.{name}"


def _judge_avro(contract: Contract, writer: Json, *, is_envelope: bool) -> tuple[str, ...]:
    known: dict[str, Json] = {}
    _collect(writer, "", known)
    row = _row_of(writer, known) if is_envelope else writer
    if row is None:
        return ("the schema is not that of an envelope: it has no record 'after'",)
    read = read_data(get_format("avro").write(_by_column(contract)).text)
    by_path = _Paths(known)
    written = by_path.named(row, "value", "")
    reader = by_path.relaxed(_Paths({}).named(read, "value", ""), written)
    try:
        pair = [parse_schema(SchemaType.AVRO, json.dumps(one)) for one in (reader, written)]
    except InvalidSchema as error:
        return (str(error),)
    return tuple(
        f"{_place(reader, one.path)}{one.text.format(reader='contract’s', writer='writer’s')}"
        for one in find_differences(*pair)
    )


def _row_of(envelope: Json, known: Mapping[str, Json]) -> Json:
    fields = envelope.get("fields") or () if isinstance(envelope, Mapping) else ()
    kind = next((field.get("type") for field in fields if field.get("name") == _AFTER), None)
    found = next((one for one in kind if one != _NULL), None) if isinstance(kind, list) else kind
    if isinstance(found, str):
        space = str(envelope.get("namespace", "")) if isinstance(envelope, Mapping) else ""
        return known.get(f"{space}.{found}") or known.get(found)
    return found if isinstance(found, Mapping) else None


class _Paths:
    """Schemas whose named types are named after their paths, so that two of them can be compared without names."""

    def __init__(self, known: Mapping[str, Json]) -> None:
        self._known = known

    def named(self, node: Json, path: str, namespace: str, above: tuple[str, ...] = ()) -> Json:
        """Return a type with every named type defined where it is used."""
        if isinstance(node, str):
            full = node if "." in node or not namespace else f"{namespace}.{node}"
            name = full if full in self._known else node
            if name not in self._known or name in above:
                return node
            return self.named(self._known[name], path, "", (*above, name))
        if isinstance(node, list):
            several = sum(one != _NULL for one in node) > 1
            paths = [f"{path}_{place}" if several else path for place in range(len(node))]
            return [self.named(one, inner, namespace, above) for one, inner in zip(node, paths, strict=True)]
        if not isinstance(node, Mapping):
            return node
        parts: dict[str, Any] = dict(node)
        if _kind(node) in _NAMED:
            name = _full_name(node, namespace)
            namespace, above = name.rpartition(".")[0], (*above, name)
            parts = {key: value for key, value in parts.items() if key not in ("namespace", "aliases")}
            parts["name"] = f"{path}_{node['type']}"
        for key in ("items", "values"):
            if key in parts:
                parts[key] = self.named(parts[key], f"{path}_{key}", namespace, above)
        if isinstance(parts.get("type"), (Mapping, list)):
            return self.named(parts["type"], path, namespace, above)
        if isinstance(parts.get("fields"), list):
            parts["fields"] = [
                {**field, "type": self.named(field["type"], f"{path}_{field['name']}", namespace, above)}
                for field in parts["fields"]
            ]
        return parts

    def relaxed(self, reader: Json, writer: Json) -> Json:
        """Return the reader's type with what the contract also reads from the types that the writer has."""
        written = [one for one in writer if one != _NULL] if isinstance(writer, list) else [writer]
        if isinstance(reader, list):
            return [one if one == _NULL else self.relaxed(one, writer) for one in reader]
        if len(written) != 1:
            return reader
        (other,) = written
        if isinstance(reader, Mapping) and isinstance(other, Mapping) and reader.get("type") == other.get("type"):
            return self._relaxed_inside(reader, other)
        is_text = _kind(other) == "string" or _kind(other) == "enum"
        if _kind(reader) == "enum" and _kind(other) == "string":
            return other
        if is_text and (_kind(reader) == "string" or _logical(reader)):
            return other
        return other if _logical(reader) == _logical(other) == "decimal" else reader

    def _relaxed_inside(self, reader: Mapping[str, Any], writer: Mapping[str, Any]) -> Json:
        parts = dict(reader)
        for key in ("items", "values"):
            if key in reader and key in writer:
                parts[key] = self.relaxed(reader[key], writer[key])
        if isinstance(reader.get("fields"), list):
            types = {field["name"]: field["type"] for field in writer.get("fields") or ()}
            parts["fields"] = [
                {**field, "type": self.relaxed(field["type"], types[field["name"]])}
                if field["name"] in types
                else field
                for field in reader["fields"]
            ]
        return parts


def _kind(node: Json) -> str:
    return str(node.get("type")) if isinstance(node, Mapping) else str(node)


def _logical(node: Json) -> str | None:
    value = node.get("logicalType") if isinstance(node, Mapping) else None
    return value if isinstance(value, str) else None


def _place(reader: Json, path: str) -> str:
    """Return the fields on a path such as `/fields/1/type`, as the beginning of a sentence."""
    names: list[str] = []
    node: Any = reader
    for part in path.strip("/").split("/"):
        while isinstance(node, list) and not part.isdecimal():
            node = next((one for one in node if one != _NULL), None)
        if isinstance(node, list) and part.isdecimal():
            node = node[int(part)] if int(part) < len(node) else None
        elif isinstance(node, Mapping):
            node = node.get(part)
        if isinstance(node, Mapping) and "name" in node and "type" in node and part.isdecimal():
            names.append(str(node["name"]))
    return f"field {'.'.join(names)!r}: " if names else ""


def _by_column(contract: Contract) -> Contract:
    """Return a contract whose fields are named as their columns, by which values are read."""
    return replace(
        contract,
        objects=tuple(
            replace(
                item,
                properties=tuple(
                    replace(field, name=field.physical_name or field.name, physical_name=None) for field in item.fields
                ),
            )
            for item in contract.schema
        ),
    )


def _judge_fields(contract: Contract, schema: ParsedSchema) -> Iterator[str]:
    try:
        written = read_objects(schema)
    except (NoContract, InvalidDocument) as error:
        yield f"the schema describes no record: {error}"
        return
    wanted = contract.schema[0].fields
    found = [list(_differences(wanted, item, schema.type)) for item in written]
    if all(found):  # a Protobuf schema may have messages besides the one that is written
        yield from found[0]


def _differences(wanted: Sequence[Field], written: SchemaObject, kind: SchemaType) -> Iterator[str]:
    by_name = {field.name: field for field in written.fields}
    for field in wanted:
        name = field.physical_name or field.name
        other = by_name.get(name)
        if other is None:
            if field.is_required:
                yield f"field {name!r} is required by the contract and missing in the writer’s schema"
        elif not _can_hold(field, other, kind):
            yield f"field {name!r} is {field.type} in the contract and {other.type} in the writer’s schema"


def _can_hold(own: Field, written: Field, kind: SchemaType) -> bool:
    mine, other = own.type, written.type
    if mine is None or other is None or "string" in (mine.name, other.name):
        return True
    if mine.name != other.name:
        return (other.name, mine.name) == ("integer", "number")
    if kind is SchemaType.JSON or mine.name != "integer":  # JSON numbers have no width
        return True
    return str(mine) == str(other) or widens(other, mine)
