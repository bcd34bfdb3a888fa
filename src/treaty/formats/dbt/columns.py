"""The columns of a dbt model as fields."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from treaty.contracts.findings import Place
from treaty.contracts.model import Field
from treaty.contracts.paths import FieldPath
from treaty.contracts.reading.limits import refuse
from treaty.contracts.values import EMPTY, FrozenMap, Json, brief, freeze
from treaty.formats.carrying import NOTE, restored
from treaty.formats.dbt.rules import named, ruled
from treaty.formats.dbt.types import typed
from treaty.formats.flattening import listed, mapping
from treaty.formats.results import Loss

_KEPT = ("quote", "policy_tags")
_NO_RULE = "a contract has no such rule"


class Columns:
    """Reads the columns of one model, and names what they lose."""

    def __init__(self, source: str, model: str) -> None:
        self.source = source
        self.model = model
        self.losses: list[Loss] = []

    def fields(self, columns: Json, constraints: Json, tests: Sequence[Json]) -> tuple[Field, ...]:
        """Read columns, and what the model says of them as a whole."""
        found: dict[str, Field] = {}
        for column in listed(columns):
            if not isinstance(column, Mapping) or not isinstance(column.get("name"), str):
                message = f"{brief(column)!r} is no column of {self.model!r}"
                raise refuse(message, Place(self.source), "a column has a name")
            field = self.field(column)
            found[field.name or column["name"]] = field
        for constraint in listed(constraints):
            self._constrain(constraint, found)
        for test in tests:
            name, _ = named(test)
            self._lose("", f"data test {name}", _NO_RULE)
        return _nested(found)

    def field(self, column: Mapping[str, Any]) -> Field:
        """Read one column."""
        kind = column.get("data_type")
        field = replace(typed(kind) if isinstance(kind, str) else Field(), name=column["name"])
        for constraint in map(mapping, listed(column.get("constraints"))):
            field = self._ruled(field, str(constraint.get("type")), constraint, "constraint")
        for test in (*listed(column.get("data_tests")), *listed(column.get("tests"))):
            field = self._ruled(field, *named(test), "data test")
        config = mapping(column.get("config"))
        meta = {**mapping(column.get("meta")), **mapping(config.get("meta"))}
        own = {key: value for key, value in meta.items() if key != NOTE}
        own |= {key: column[key] for key in _KEPT if key in column}
        tags = column.get("tags", config.get("tags"))
        native = replace(
            field,
            description=column.get("description") or None,
            custom_properties=tuple(FrozenMap({"property": key, "value": freeze(own[key])}) for key in own) or None,
            more=FrozenMap({"tags": tags}) if isinstance(tags, list) and tags else EMPTY,
        )
        return restored(native, meta.get(NOTE), self.source, f"{self.model}.{column['name']}")

    def _ruled(self, field: Field, name: str, arguments: Mapping[str, Any], kind: str) -> Field:
        narrowed = ruled(field, name, arguments)
        if narrowed is None:
            self._lose(field.name or "", f"{kind} {name}", _NO_RULE)
        return narrowed or field

    def _constrain(self, constraint: Json, found: dict[str, Field]) -> None:
        told = mapping(constraint)
        columns = [one for one in listed(told.get("columns")) if isinstance(one, str) and one in found]
        if told.get("type") == "primary_key" and columns:
            single = len(columns) == 1
            for place, name in enumerate(columns, start=1):
                position = None if single else place
                found[name] = replace(found[name], primary_key=True, primary_key_position=position)
        elif len(columns) == 1:
            found[columns[0]] = self._ruled(found[columns[0]], str(told.get("type")), told, "constraint")
        else:
            self._lose("", f"constraint {told.get('type')}", _NO_RULE)

    def _lose(self, field: str, what: str, why: str) -> None:
        path = str(FieldPath(object=self.model).field(field)) if field else self.model
        self.losses.append(Loss(path, what, why))


def _nested(found: dict[str, Field]) -> tuple[Field, ...]:
    """Put columns with a dotted name into the column they are a part of, as warehouses with records write them."""
    children: dict[str, list[Field]] = {}
    for name in found:
        parent, dot, last = name.rpartition(".")
        if dot and parent in found:
            children.setdefault(parent, []).append(replace(found[name], name=last))
    for name in sorted(children, key=lambda one: one.count("."), reverse=True):
        found[name] = _with_parts(found[name], children[name])
        parent, dot, last = name.rpartition(".")
        if dot and parent in children:
            children[parent] = [
                replace(found[name], name=last) if one.name == last else one for one in children[parent]
            ]
    return tuple(field for name, field in found.items() if name.rpartition(".")[0] not in found)


def _described(field: Field, part: Field | None) -> Field:
    """Return a part with the type that its whole gives it, where it names none itself."""
    if part is None or part.type is not None:
        return part or field
    return replace(
        field,
        description=part.description,
        required=part.required or field.required,
        unique=part.unique,
        enum=part.enum or field.enum,
        relationships=part.relationships,
        custom_properties=part.custom_properties,
        more=part.more,
    )


def _with_parts(field: Field, parts: list[Field]) -> Field:
    if field.logical_type == "array":
        return replace(field, items=_with_parts(field.items or Field(), parts))
    described = {part.name: part for part in parts}
    known = [_described(one, described.pop(one.name, None)) for one in field.properties or ()]
    physical = None if field.logical_type != "object" else field.physical_type
    return replace(field, logical_type="object", physical_type=physical, properties=(*known, *described.values()))
