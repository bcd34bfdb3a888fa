"""The contract model: frozen, typed, and independent of the form of the document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from treaty.contracts import blocks as treaty_blocks
from treaty.contracts.findings import Pointer
from treaty.contracts.foreign import ForeignConstruct, foreign_constructs_in
from treaty.contracts.frozen import deferred, lazy
from treaty.contracts.owners import Owner, owners_of
from treaty.contracts.paths import ITEMS, MAP_KEYS, MAP_VALUES, FieldPath
from treaty.contracts.types import DataType, data_type
from treaty.contracts.values import EMPTY, FrozenMap
from treaty.contracts.versions import UNVERSIONED, try_parse_version

if TYPE_CHECKING:
    from semver import Version


class Form(StrEnum):
    """The form a document was written in."""

    ODCS = "odcs"
    SHORT = "short"
    SCHEMA = "schema"  # of a foreign format, which may have no place for a version or an owner


class MissingAs(StrEnum):
    """How a missing value of an optional field is written, where only one way is allowed."""

    ABSENT = "absent"
    NULL = "null"


MISSING_AS_KEY = "treaty.missing_as"
"""The custom property of a field that says so; without it, a missing value may be absent or null."""


UNION = "union"
"""Physical type of an object whose fields are the branches of a union."""


@dataclass(frozen=True)
class Field:
    """A field with all keys of its document; `more` has the keys without an attribute of their own."""

    name: str | None = None
    id: str | None = None
    logical_type: str | None = None
    physical_type: str | None = None
    physical_name: str | None = None
    options: FrozenMap | None = None
    required: bool | None = None
    unique: bool | None = None
    primary_key: bool | None = None
    primary_key_position: int | None = None
    description: str | None = None
    business_name: str | None = None
    classification: str | None = None
    deprecated: bool | None = None
    enum: tuple[FrozenMap, ...] | None = None
    properties: tuple[Field, ...] | None = None
    items: Field | None = None
    map_key: Field | None = None
    map_value: Field | None = None
    quality: tuple[FrozenMap, ...] | None = None
    relationships: tuple[FrozenMap, ...] | None = None
    authoritative_definitions: tuple[FrozenMap, ...] | None = None
    custom_properties: tuple[FrozenMap, ...] | None = None
    more: FrozenMap = EMPTY
    plain_keys: tuple[str, ...] = ()

    @lazy
    def type(self) -> DataType | None:
        """The data type, independent of its notation."""
        inside = self.properties is not None or bool(self.children)
        return data_type(self.logical_type, self.physical_type, self.options or EMPTY, declares_inside=inside)

    @property
    def is_union(self) -> bool:
        """Whether the fields inside are the branches of a union, of which exactly one has a value."""
        return self.logical_type == "object" and self.physical_type == UNION

    @property
    def is_required(self) -> bool:
        """Whether every row must have a value."""
        return bool(self.required) or bool(self.primary_key)

    @property
    def missing_as(self) -> MissingAs | None:
        """How a missing value is written, or None if it may be absent or null."""
        stated = [
            entry.get("value") for entry in self.custom_properties or () if entry.get("property") == MISSING_AS_KEY
        ]
        return next((way for way in MissingAs if stated == [way.value]), None)

    @lazy
    def treaty(self) -> FrozenMap:
        """The values of Treaty's field keys (unit, default, …)."""
        return treaty_blocks.field_keys_in(self.custom_properties)

    @lazy
    def foreign(self) -> tuple[ForeignConstruct, ...]:
        """What a foreign schema states here and the model cannot express, sorted."""
        return foreign_constructs_in(self.custom_properties)

    @lazy
    def children(self) -> tuple[tuple[str, Field], ...]:
        """Array elements, map keys and map values with their path marks; named fields are in `properties`."""
        marked = ((ITEMS, self.items), (MAP_KEYS, self.map_key), (MAP_VALUES, self.map_value))
        return tuple((mark, child) for mark, child in marked if child is not None)


def key_position(field: Field) -> float:
    """Return the sort position of a key field; fields without one (ODCS also writes -1) come last."""
    place = field.primary_key_position
    return float("inf") if place is None or place < 0 else place


def key_names(fields: Sequence[Field]) -> tuple[str, ...]:
    """Return the names of the key fields among some fields, in key order."""
    keys = sorted((field for field in fields if field.primary_key), key=key_position)
    return tuple(field.name or "" for field in keys)


@dataclass(frozen=True)
class SchemaObject:
    """A table, topic or file of a contract."""

    name: str
    id: str | None = None
    physical_name: str | None = None
    physical_type: str | None = None
    description: str | None = None
    granularity: str | None = None
    properties: tuple[Field, ...] | None = deferred(None)
    quality: tuple[FrozenMap, ...] | None = None
    relationships: tuple[FrozenMap, ...] | None = None
    authoritative_definitions: tuple[FrozenMap, ...] | None = None
    custom_properties: tuple[FrozenMap, ...] | None = None
    more: FrozenMap = EMPTY

    @property
    def fields(self) -> tuple[Field, ...]:
        """The top-level fields of the object."""
        return self.properties or ()

    @lazy
    def foreign(self) -> tuple[ForeignConstruct, ...]:
        """What a foreign schema states here and the model cannot express, sorted."""
        return foreign_constructs_in(self.custom_properties)

    @lazy
    def primary_key(self) -> tuple[str, ...]:
        """The names of the key fields, in key order."""
        return key_names(self.fields)


@dataclass(frozen=True)
class Contract:
    """A versioned contract about one dataset or event stream."""

    id: str
    version: str
    api_version: str
    name: str | None = None
    status: str | None = None
    domain: str | None = None
    description: FrozenMap | None = None
    objects: tuple[SchemaObject, ...] | None = None
    team: Any = None
    support: tuple[FrozenMap, ...] | None = None
    sla: tuple[FrozenMap, ...] | None = deferred(None)
    servers: tuple[FrozenMap, ...] | None = None
    authoritative_definitions: tuple[FrozenMap, ...] | None = None
    custom_properties: tuple[FrozenMap, ...] | None = deferred(None)
    more: FrozenMap = EMPTY
    plain_keys: tuple[str, ...] = ()
    form: Form = Form.ODCS

    @lazy
    def treaty(self) -> treaty_blocks.Blocks:
        """Treaty's extension blocks (ordering, delivery, deprecation, …)."""
        return treaty_blocks.blocks_in(self.custom_properties, self.plain_keys)

    @lazy
    def foreign(self) -> tuple[ForeignConstruct, ...]:
        """What a foreign schema states here and the model cannot express, sorted."""
        return foreign_constructs_in(self.custom_properties)

    @lazy
    def owners(self) -> tuple[Owner, ...]:
        """The owners of the contract."""
        return owners_of(self.treaty.owners, self.team, self.support)

    @property
    def schema(self) -> tuple[SchemaObject, ...]:
        """The schema objects, possibly none."""
        return self.objects or ()

    @lazy
    def semantic_version(self) -> Version | None:
        """The parsed version, or None if it is not MAJOR.MINOR.PATCH."""
        return try_parse_version(self.version)

    @property
    def is_versioned(self) -> bool:
        """Whether the document states a version; a schema of a foreign format may have none."""
        return self.form is not Form.SCHEMA or self.version != UNVERSIONED

    @property
    def line(self) -> str | None:
        """The line of the version, such as ``orders@1``, or None if the version is not MAJOR.MINOR.PATCH."""
        version = self.semantic_version
        return f"{self.id}@{version.major}" if version else None


_PLACES: dict[str, Pointer] = {ITEMS: ("items",), MAP_VALUES: ("map", "value"), MAP_KEYS: ("map", "key")}


def locate_fields(contract: Contract) -> Iterator[tuple[FieldPath, Field, Pointer]]:
    """Yield every field with its path and pointer, outermost first; paths name the object if there are several."""
    several = len(contract.schema) > 1
    for index, item in enumerate(contract.schema):
        root = FieldPath(object=item.name if several else None)
        for position, field in enumerate(item.fields):
            yield from _inside(field, root.field(field.name or ""), ("schema", index, "properties", position))


def _inside(field: Field, path: FieldPath, pointer: Pointer) -> Iterator[tuple[FieldPath, Field, Pointer]]:
    yield path, field, pointer
    for index, child in enumerate(field.properties or ()):
        yield from _inside(child, path.field(child.name or ""), (*pointer, "properties", index))
    for mark, child in field.children:
        yield from _inside(child, path.into(mark), (*pointer, *_PLACES[mark]))


def has_field(contract: Contract, path: FieldPath) -> bool:
    """Tell whether a path exists; inside a field without declared properties every path is possible."""
    objects = [item for item in contract.schema if path.object in (None, item.name)]
    return any(_leads_to(item.fields, path) for item in objects)


def _leads_to(fields: tuple[Field, ...], path: FieldPath) -> bool:
    here: list[Field] = [Field(properties=fields)]
    for step in path.steps:
        if any(field.properties is None and not field.children and _may_nest(field) for field in here):
            return True
        if step.is_mark:
            here = [child for field in here for mark, child in field.children if mark == step.text]
        else:
            here = [child for field in here for child in field.properties or () if child.name == step.text]
    return bool(here)


def _may_nest(field: Field) -> bool:
    return field.type is None or field.type.name in ("object", "array", "map", "json")
