"""The schema as a tree: one row for each field, at any depth, with everything said of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256

from treaty.catalog.contacts import Contact, definition_links
from treaty.catalog.links import encode_name
from treaty.catalog.pages.contract.field_consumers import FieldReaders, Readers
from treaty.catalog.pages.contract.field_history import Step
from treaty.catalog.pages.contract.field_rules import (
    Rule,
    Values,
    allowed_of,
    needs_care,
    quality_rule,
    remarks_of,
    rules_of,
)
from treaty.contracts.model import Contract, Field, SchemaObject
from treaty.contracts.paths import ITEMS, MAP_KEYS, MAP_VALUES, FieldPath

MOST_ROWS = 3_000
_DEEPEST = 8
_LONGEST_ANCHOR = 120
_MARKED = {ITEMS: "each element", MAP_KEYS: "each key", MAP_VALUES: "each value"}


@dataclass(frozen=True, slots=True)
class Row:
    """One field of the tree."""

    path: str
    anchor: str
    name: str
    stem: str
    depth: int
    holds_more: bool
    is_mark: bool
    type: str
    rules: tuple[Rule, ...]
    remarks: tuple[Rule, ...]
    values: Values | None
    meaning: str | None
    business_name: str | None
    stored_as: str | None
    classification: str | None
    needs_care: bool
    is_deprecated: bool
    links: tuple[Contact, ...]
    steps: tuple[Step, ...]
    readers: FieldReaders

    @property
    def words(self) -> str:
        """What the row is found by."""
        said = (self.path, self.type, self.business_name, self.meaning, self.classification, self.stored_as)
        return " ".join(word for word in said if word).lower()


@dataclass(frozen=True, slots=True)
class Tree:
    """One table, topic or file of a contract."""

    name: str
    anchor: str
    kind: str | None
    stored_as: str | None
    meaning: str | None
    granularity: str | None
    key: tuple[str, ...]
    checks: tuple[Rule, ...]
    rows: tuple[Row, ...]
    left_off: int


@dataclass(frozen=True, slots=True)
class Told:
    """What is known of fields besides what the document says."""

    history: dict[str, tuple[Step, ...]]
    readers: Readers


def trees_of(contract: Contract, told: Told, most: int = MOST_ROWS) -> tuple[Tree, ...]:
    """Return the schema; rows beyond the most are counted, not drawn."""
    several = len(contract.schema) > 1
    trees: list[Tree] = []
    for place, item in enumerate(contract.schema, start=1):
        rows = list(_rows(item.fields, FieldPath(object=item.name if several else None), 0, told))
        trees.append(_tree(item, place, tuple(rows[:most]), max(len(rows) - most, 0)))
        most = max(most - len(rows), 0)
    return tuple(trees)


def anchor_of(path: str) -> str:
    """Return the anchor of a field on the page of its contract."""
    key = encode_name(path)
    return f"field-{key}" if len(key) <= _LONGEST_ANCHOR else f"field-{sha256(path.encode()).hexdigest()[:24]}"


def type_of(field: Field) -> str:
    """Write a type with what it holds: array<string>, map<string, decimal(12,2)>."""
    name = str(field.type) if field.type else "any"
    if field.items is not None:
        return f"array<{type_of(field.items)}>"
    if field.map_key is not None or field.map_value is not None:
        key, value = (type_of(one) if one else "any" for one in (field.map_key, field.map_value))
        return f"map<{key}, {value}>"
    return name


def _tree(item: SchemaObject, place: int, rows: tuple[Row, ...], left_off: int) -> Tree:
    return Tree(
        item.name,
        f"object-{place}",
        item.physical_type,
        item.physical_name if item.physical_name != item.name else None,
        item.description,
        item.granularity,
        item.primary_key,
        tuple(quality_rule(rule) for rule in item.quality or ()),
        rows,
        left_off,
    )


def _rows(fields: tuple[Field, ...], parent: FieldPath, depth: int, told: Told) -> Iterator[Row]:
    for field in fields:
        yield from _field(field, parent.field(field.name or ""), depth, told)


def _field(field: Field, path: FieldPath, depth: int, told: Told, mark: str | None = None) -> Iterator[Row]:
    inside = list(_inside(field, path, depth + 1, told))
    yield _row(field, path, depth, told, mark, holds_more=bool(inside))
    yield from inside


def _inside(field: Field, path: FieldPath, depth: int, told: Told) -> Iterator[Row]:
    """Walk into a field; an element that says nothing of its own has no row, only its fields have."""
    yield from _rows(field.properties or (), path, depth, told)
    for mark, child in field.children:
        inner = path.into(mark)
        if _is_plain(child):
            yield from _inside(child, inner, depth, told)
        else:
            yield from _field(child, inner, depth, told, mark)


def _is_plain(field: Field) -> bool:
    """Tell whether an element, key or value says nothing beyond its type."""
    said = (field.description, field.business_name, field.classification, field.deprecated, field.enum)
    return not any(said) and not rules_of(field, is_element=True) and not remarks_of(field)


def _row(field: Field, path: FieldPath, depth: int, told: Told, mark: str | None, *, holds_more: bool) -> Row:
    text = str(path)
    name = _MARKED[mark] if mark else field.name or ""
    own = told.history.get(text, ())
    within = tuple(
        step for inner, child in field.children if _is_plain(child) for step in told.history.get(text + inner, ())
    )
    return Row(
        text,
        anchor_of(text),
        name,
        "" if mark else _stem(path),
        min(depth, _DEEPEST),
        holds_more,
        mark is not None,
        type_of(field),
        rules_of(field, is_element=mark is not None),
        remarks_of(field),
        allowed_of(field),
        field.description,
        field.business_name,
        field.physical_name if field.physical_name not in (None, field.name) else None,
        field.classification,
        needs_care(field.classification),
        bool(field.deprecated),
        definition_links(field.authoritative_definitions),
        (*own, *within),
        told.readers.of(path),
    )


def _stem(path: FieldPath) -> str:
    """Return what a field stands in, as its path begins."""
    parent = FieldPath(path.steps[:-1])
    return f"{parent}." if parent.steps else ""


def field_paths(contract: Contract) -> dict[str, None]:
    """Return the paths of all fields that have a row, in their order."""
    nothing = Told({}, Readers(()))
    return {row.path: None for tree in trees_of(contract, nothing) for row in tree.rows}
