"""Columns and their types, as far as resolving names needs them."""

from __future__ import annotations

from dataclasses import dataclass

from treaty.contracts.paths import ITEMS, FieldPath

FLOATING_POINT = frozenset({"double", "float"})


@dataclass(frozen=True)
class ColumnType:
    """A Spark type: its name, such as `decimal`, the fields of a struct, and the element of an array or map."""

    name: str
    fields: tuple[Column, ...] = ()
    element: ColumnType | None = None


@dataclass(frozen=True)
class Column:
    """A column of a table or query; the type is None where it is not known."""

    name: str
    type: ColumnType | None = None


class NoSuchField(Exception):
    """A field that a type does not have; carries the names of the fields it has."""

    def __init__(self, known: tuple[str, ...]) -> None:
        super().__init__()
        self.known = known


def field_type(held: ColumnType | None, name: str) -> ColumnType | None:
    """Return the type of a field inside a value; None where it is not known."""
    if held is None or held.name == "variant":
        return None
    if held.name == "struct":
        found = [field for field in held.fields if field.name.lower() == name.lower()]
        if not found:
            raise NoSuchField(tuple(field.name for field in held.fields))
        return found[0].type
    if held.name == "array":
        inside = field_type(held.element, name)
        return None if inside is None else ColumnType("array", element=inside)
    if held.name == "map":
        return held.element
    raise NoSuchField(())


def element_type(held: ColumnType | None) -> ColumnType | None:
    """Return the type of the elements of an array or of the values of a map."""
    return held.element if held is not None else None


def field_path(name: str, held: ColumnType | None, steps: tuple[str, ...]) -> str:
    """Return the path of a field inside a column, such as lines[].amount."""
    at = FieldPath().field(name)
    for one in steps:
        if held is not None and held.name == "array":
            at, held = at.into(ITEMS), held.element
        at = at.field(one)
        held = field_type(held, one) if held is not None else None
    return str(at)
