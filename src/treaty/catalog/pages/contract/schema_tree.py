"""The schema as a tree: one row per field at any depth."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256

from treaty.catalog.contacts import Contact, definition_links
from treaty.catalog.links import encode_name
from treaty.catalog.pages.contract.field_consumers import FieldConsumers, FieldUsage
from treaty.catalog.pages.contract.field_history import FieldChange
from treaty.catalog.pages.contract.field_rules import (
    Rule,
    Values,
    allowed_of,
    field_attributes,
    is_sensitive,
    quality_rule,
    rules_of,
)
from treaty.contracts.model import Contract, Field, SchemaObject
from treaty.contracts.paths import ITEMS, MAP_KEYS, MAP_VALUES, FieldPath

MAX_ROWS = 3_000
_MAX_INDENT = 8
_MAX_ANCHOR_LENGTH = 120
_ELEMENT_LABELS = {ITEMS: "each element", MAP_KEYS: "each key", MAP_VALUES: "each value"}


@dataclass(frozen=True, slots=True)
class Row:
    """One field of the tree."""

    path: str
    anchor: str
    name: str
    stem: str
    depth: int
    has_children: bool
    is_element: bool
    type: str
    rules: tuple[Rule, ...]
    attributes: tuple[Rule, ...]
    values: Values | None
    meaning: str | None
    business_name: str | None
    stored_as: str | None
    classification: str | None
    is_sensitive: bool
    is_deprecated: bool
    links: tuple[Contact, ...]
    history: tuple[FieldChange, ...]
    consumers: FieldConsumers

    @property
    def search_text(self) -> str:
        """Text that the field filter searches."""
        texts = (self.path, self.type, self.business_name, self.meaning, self.classification, self.stored_as)
        return " ".join(text for text in texts if text).lower()


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
    omitted_rows: int


@dataclass(frozen=True, slots=True)
class FieldContext:
    """What is known about fields beyond the document: history and consumers."""

    history: dict[str, tuple[FieldChange, ...]]
    usage: FieldUsage


def schema_trees(contract: Contract, context: FieldContext, max_rows: int = MAX_ROWS) -> tuple[Tree, ...]:
    """Return the schema objects with their rows. Rows beyond the limit are only counted."""
    several = len(contract.schema) > 1
    trees: list[Tree] = []
    for position, schema_object in enumerate(contract.schema, start=1):
        rows = list(_rows(schema_object.fields, FieldPath(object=schema_object.name if several else None), 0, context))
        trees.append(_tree(schema_object, position, tuple(rows[:max_rows]), max(len(rows) - max_rows, 0)))
        max_rows = max(max_rows - len(rows), 0)
    return tuple(trees)


def field_anchor(path: str) -> str:
    """Return the HTML anchor of a field on the contract page."""
    key = encode_name(path)
    return f"field-{key}" if len(key) <= _MAX_ANCHOR_LENGTH else f"field-{sha256(path.encode()).hexdigest()[:24]}"


def format_type(field: Field) -> str:
    """Format a type with its element types: array<string>, map<string, decimal(12,2)>."""
    name = str(field.type) if field.type else "any"
    if field.items is not None:
        return f"array<{format_type(field.items)}>"
    if field.map_key is not None or field.map_value is not None:
        key, value = (format_type(part) if part else "any" for part in (field.map_key, field.map_value))
        return f"map<{key}, {value}>"
    return name


def _tree(schema_object: SchemaObject, position: int, rows: tuple[Row, ...], omitted_rows: int) -> Tree:
    return Tree(
        schema_object.name,
        f"object-{position}",
        schema_object.physical_type,
        schema_object.physical_name if schema_object.physical_name != schema_object.name else None,
        schema_object.description,
        schema_object.granularity,
        schema_object.primary_key,
        tuple(quality_rule(rule) for rule in schema_object.quality or ()),
        rows,
        omitted_rows,
    )


def _rows(fields: tuple[Field, ...], parent: FieldPath, depth: int, context: FieldContext) -> Iterator[Row]:
    for field in fields:
        yield from _field_rows(field, parent.field(field.name or ""), depth, context)


def _field_rows(
    field: Field, path: FieldPath, depth: int, context: FieldContext, mark: str | None = None
) -> Iterator[Row]:
    children = list(_child_rows(field, path, depth + 1, context))
    yield _row(field, path, depth, context, mark, has_children=bool(children))
    yield from children


def _child_rows(field: Field, path: FieldPath, depth: int, context: FieldContext) -> Iterator[Row]:
    """Yield the rows children a field. Elements without properties of their own have no row."""
    yield from _rows(field.properties or (), path, depth, context)
    for mark, child in field.children:
        inner = path.into(mark)
        if _has_only_type(child):
            yield from _child_rows(child, inner, depth, context)
        else:
            yield from _field_rows(child, inner, depth, context, mark)


def _has_only_type(field: Field) -> bool:
    """Return whether an element, key or value declares nothing but its type."""
    declared = (field.description, field.business_name, field.classification, field.deprecated, field.enum)
    return not any(declared) and not rules_of(field, is_element=True) and not field_attributes(field)


def _row(
    field: Field, path: FieldPath, depth: int, context: FieldContext, mark: str | None, *, has_children: bool
) -> Row:
    text = str(path)
    name = _ELEMENT_LABELS[mark] if mark else field.name or ""
    own = context.history.get(text, ())
    within = tuple(
        step
        for inner, child in field.children
        if _has_only_type(child)
        for step in context.history.get(text + inner, ())
    )
    return Row(
        text,
        field_anchor(text),
        name,
        "" if mark else _parent_prefix(path),
        min(depth, _MAX_INDENT),
        has_children,
        mark is not None,
        format_type(field),
        rules_of(field, is_element=mark is not None),
        field_attributes(field),
        allowed_of(field),
        field.description,
        field.business_name,
        field.physical_name if field.physical_name not in (None, field.name) else None,
        field.classification,
        is_sensitive(field.classification),
        bool(field.deprecated),
        definition_links(field.authoritative_definitions),
        (*own, *within),
        context.usage.of(path),
    )


def _parent_prefix(path: FieldPath) -> str:
    """Return the path of the parent, with a trailing dot."""
    parent = FieldPath(path.steps[:-1])
    return f"{parent}." if parent.steps else ""


def field_paths(contract: Contract) -> dict[str, None]:
    """Return the paths of all fields that have a row, in order."""
    context = FieldContext({}, FieldUsage(()))
    return {row.path: None for tree in schema_trees(contract, context) for row in tree.rows}
