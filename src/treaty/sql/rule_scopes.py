"""The tables and fields that are visible at a position in the SQL of a rule."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from enum import Enum

from treaty.contracts.model import Field, SchemaObject
from treaty.contracts.paths import ITEMS, MAP_VALUES, FieldPath

_SHOWN = 8


class Shape(Enum):
    """What can be inside a value."""

    FIELDS = "fields"
    ELEMENTS = "elements"
    ENTRIES = "entries"
    NOTHING = "nothing"
    UNKNOWN = "unknown"


_SHAPES = {"object": Shape.UNKNOWN, "array": Shape.ELEMENTS, "vector": Shape.ELEMENTS, "map": Shape.ENTRIES}


@dataclass(frozen=True)
class RuleSource:
    """A table or derived table with the names it can be referred to by; without `alias`, columns are not qualified."""

    names: tuple[tuple[str, ...], ...]
    fields: tuple[Field, ...]
    alias: str | None = None
    object: SchemaObject | None = None
    grown: frozenset[str] = frozenset()
    plain: frozenset[str] = frozenset()

    def is_plain(self, field: Field) -> bool:
        """Tell whether a column is stored, not computed."""
        return self.object is not None or (field.name or "") in self.plain

    def answers_to(self, parts: Sequence[str]) -> bool:
        """Tell whether the table can be referred to by this name."""
        return tuple(part.lower() for part in parts) in self.names


@dataclass(frozen=True)
class DerivedTable:
    """A derived table: its SQL or name, its columns, which of them are concatenated, and which are stored columns."""

    sql: str
    fields: tuple[Field, ...]
    grown: frozenset[str] = frozenset()
    plain: frozenset[str] = frozenset()


@dataclass(frozen=True)
class RuleFrame:
    """The visible tables, the outer frame, and the aliases of results; `unclear` aliases are also column names."""

    sources: tuple[RuleSource, ...]
    outer: RuleFrame | None = None
    aliases: tuple[str, ...] = ()
    unclear: frozenset[str] = frozenset()

    def levels(self) -> Iterator[RuleFrame]:
        """Yield this frame and its outer frames."""
        level: RuleFrame | None = self
        while level is not None:
            yield level
            level = level.outer


def contract_source(item: SchemaObject, alias: str | None = None) -> RuleSource:
    """Return an object of the contract as a source, under its own names or an alias."""
    if alias is not None:
        return RuleSource(((alias.lower(),),), item.fields, alias, item)
    names = [name.lower() for name in (item.name, item.physical_name) if name]
    whole = {(name,) for name in names} | {tuple(name.split(".")) for name in names}
    return RuleSource(tuple(sorted(whole | {(parts[-1],) for parts in whole})), item.fields, None, item)


def column_name(field: Field) -> str:
    """Return the name a field has in the data."""
    return field.physical_name or field.name or ""


def matching_fields(name: str, fields: Sequence[Field]) -> tuple[Field, ...]:
    """Return the fields a name can refer to: stored names before contract names, exact case before other case."""
    lower = name.lower()
    for found in (
        [field for field in fields if column_name(field) == name],
        [field for field in fields if column_name(field).lower() == lower],
        [field for field in fields if field.name == name],
        [field for field in fields if (field.name or "").lower() == lower],
    ):
        if found:
            return tuple(found)
    return ()


def shape_of(field: Field | None) -> Shape:
    """Tell what can be inside a field's value."""
    if field is None:
        return Shape.UNKNOWN
    if field.properties:
        return Shape.FIELDS
    if field.items is not None:
        return Shape.ELEMENTS
    if field.map_value is not None:
        return Shape.ENTRIES
    return Shape.UNKNOWN if field.type is None else _SHAPES.get(field.type.name, Shape.NOTHING)


def element_of(field: Field | None, path: FieldPath | None) -> tuple[Field | None, FieldPath | None]:
    """Return the element or map value of a field, and its path."""
    inside = (field.items or field.map_value) if field is not None else None
    mark = MAP_VALUES if field is not None and shape_of(field) is Shape.ENTRIES else ITEMS
    return inside, path.into(mark) if path is not None else None


def suggest_fields(name: str, known: Sequence[str]) -> str:
    """List the closest names."""
    close = get_close_matches(name.lower(), list(known), n=3, cutoff=0.6) or list(known)[:_SHOWN]
    return f"it has: {', '.join(close)}" if close else "it has no fields"
