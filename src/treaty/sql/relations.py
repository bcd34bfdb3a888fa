"""Columns and relations of resolved queries: types, tables, SELECTs, joins and set operations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

from sqlglot import exp

from treaty.contracts.paths import ITEMS, FieldPath
from treaty.sql.functions import AGGREGATES

FLOATING_POINT = frozenset({"double", "float"})


@dataclass(frozen=True)
class ColumnType:
    """A Spark type: its name, such as `decimal`, the fields of a struct, and the element of an array or map."""

    name: str
    fields: tuple[Column, ...] = ()
    element: ColumnType | None = None
    parameters: tuple[int, ...] = ()
    """The precision and scale of a decimal."""


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


def field_type(value_type: ColumnType | None, name: str) -> ColumnType | None:
    """Return the type of a field inside a value; None where it is not known."""
    if value_type is None or value_type.name == "variant":
        return None
    if value_type.name == "struct":
        matches = [field for field in value_type.fields if field.name.lower() == name.lower()]
        if not matches:
            raise NoSuchField(tuple(field.name for field in value_type.fields))
        return matches[0].type
    if value_type.name == "array":
        inside = field_type(value_type.element, name)
        return None if inside is None else ColumnType("array", element=inside)
    if value_type.name == "map":
        return value_type.element
    raise NoSuchField(())


def element_type(value_type: ColumnType | None) -> ColumnType | None:
    """Return the type of the elements of an array or of the values of a map."""
    return value_type.element if value_type is not None else None


def field_path(name: str, value_type: ColumnType | None, steps: tuple[str, ...]) -> str:
    """Return the path of a field inside a column, such as lines[].amount."""
    at = FieldPath().field(name)
    for step in steps:
        if value_type is not None and value_type.name == "array":
            at, value_type = at.into(ITEMS), value_type.element
        at = at.field(step)
        value_type = field_type(value_type, step) if value_type is not None else None
    return str(at)


@dataclass(frozen=True, eq=False)
class Table:
    """An input that the project declares."""

    name: str
    columns: tuple[Column, ...]


@dataclass(frozen=True, eq=False)
class ComputedRows:
    """Rows computed by expressions: VALUES or a lateral view."""

    columns: tuple[Column, ...]
    made_from: tuple[exp.Expr, ...] = ()


@dataclass(frozen=True, eq=False)
class UnknownTable:
    """A table that does not exist; its columns are unknown."""

    columns: tuple[Column, ...] = ()


@dataclass(frozen=True, eq=False)
class Output:
    """An output column of a SELECT."""

    column: Column
    value: Value


@dataclass(frozen=True, eq=False)
class Source:
    """A relation in FROM, with its alias and column names."""

    alias: str
    relation: Relation
    columns: tuple[Column, ...]


Place: TypeAlias = tuple[Source, int]
"""A column of a source, by its number."""


@dataclass(frozen=True)
class Reference:
    """What a name refers to: the first non-null of these columns, and the steps into its fields."""

    places: tuple[Place, ...]
    steps: tuple[str, ...] = ()


def type_at(places: Sequence[Place]) -> ColumnType | None:
    """Return the type of a column."""
    source, number = places[0]
    return source.columns[number].type


class JoinKind(StrEnum):
    """Kinds of joins; the value is their SQL."""

    INNER = "JOIN"
    LEFT = "LEFT JOIN"
    RIGHT = "RIGHT JOIN"
    FULL = "FULL JOIN"
    SEMI = "LEFT SEMI JOIN"
    ANTI = "LEFT ANTI JOIN"


JOIN_KINDS = {
    ("", ""): JoinKind.INNER,
    ("", "INNER"): JoinKind.INNER,
    ("", "CROSS"): JoinKind.INNER,
    ("LEFT", ""): JoinKind.LEFT,
    ("LEFT", "OUTER"): JoinKind.LEFT,
    ("RIGHT", ""): JoinKind.RIGHT,
    ("RIGHT", "OUTER"): JoinKind.RIGHT,
    ("FULL", ""): JoinKind.FULL,
    ("FULL", "OUTER"): JoinKind.FULL,
    ("", "SEMI"): JoinKind.SEMI,
    ("LEFT", "SEMI"): JoinKind.SEMI,
    ("", "ANTI"): JoinKind.ANTI,
    ("LEFT", "ANTI"): JoinKind.ANTI,
}
"""The kind of a join by the side and kind that sqlglot parses."""

RIGHT_HIDING_JOINS = frozenset({JoinKind.SEMI, JoinKind.ANTI})
"""Joins whose right side is not visible in the SELECT."""


@dataclass(frozen=True, eq=False)
class Join:
    """A source joined to the ones before it."""

    source: Source
    kind: JoinKind
    on: exp.Expr | None = None
    shared: tuple[tuple[tuple[Place, ...], Place], ...] = ()
    """Pairs of left and right columns compared by USING or NATURAL."""
    node: exp.Expr | None = None


@dataclass(frozen=True, eq=False)
class Select:
    """One SELECT."""

    node: exp.Select
    first: Source | None
    joins: tuple[Join, ...]
    laterals: tuple[Source, ...]
    outputs: tuple[Output, ...]
    groups: tuple[Value, ...] = ()

    @property
    def columns(self) -> tuple[Column, ...]:
        """The output columns."""
        return tuple(output.column for output in self.outputs)


@dataclass(frozen=True, eq=False)
class SetQuery:
    """A set operation such as UNION; combines columns by position."""

    node: exp.SetOperation
    left: Relation
    right: Relation

    @property
    def columns(self) -> tuple[Column, ...]:
        """The output columns, named as on the left side."""
        return self.left.columns

    @property
    def is_all(self) -> bool:
        """Whether duplicates are kept (UNION ALL)."""
        return not self.node.args.get("distinct")


@dataclass(frozen=True, eq=False)
class RenamedQuery:
    """A query with other column names, or with a LIMIT around it."""

    query: Relation
    columns: tuple[Column, ...]
    limit: exp.Expr | None = None


Value: TypeAlias = exp.Expr | Reference | Output
"""A value of a row: an expression, a column from a star, or another output by name."""
Relation: TypeAlias = Table | ComputedRows | UnknownTable | Select | SetQuery | RenamedQuery


@dataclass(frozen=True, eq=False)
class Names:
    """The resolved columns and subqueries of a tree, by id of their nodes."""

    columns: dict[int, Reference | Output] = field(default_factory=dict)
    queries: dict[int, Relation] = field(default_factory=dict)


def is_known(relation: Relation) -> bool:
    """Return whether all tables of a relation exist, so that a missing column is an error."""
    if isinstance(relation, Select):
        sources = [*([relation.first] if relation.first else []), *(join.source for join in relation.joins)]
        return all(is_known(source.relation) for source in sources)
    if isinstance(relation, SetQuery):
        return is_known(relation.left) and is_known(relation.right)
    return is_known(relation.query) if isinstance(relation, RenamedQuery) else not isinstance(relation, UnknownTable)


_COALESCING = frozenset({"coalesce", "ifnull", "nvl"})
_AGGREGATE_NODES = (exp.Filter, exp.WithinGroup)


class ColumnMeanings:
    """Answers questions about values, using the resolved names."""

    def __init__(self, names: Names) -> None:
        self.names = names

    def first_of(self, value: Value | None) -> frozenset[Place] | None:
        """Return the columns that a value is the first non-null of; None if it is computed in another way."""
        if isinstance(value, Reference):
            return None if value.steps else frozenset(value.places)
        if isinstance(value, Output):
            return self.first_of(value.value)
        if isinstance(value, exp.Column):
            return self.first_of(self.names.columns.get(id(value)))
        if isinstance(value, (exp.Paren, exp.Alias)):
            return self.first_of(value.this)
        if isinstance(value, exp.Anonymous) and value.name.lower() in _COALESCING:
            parts = [self.first_of(argument) for argument in value.expressions]
            return None if None in parts else frozenset().union(*(part for part in parts if part))
        return None

    def has_aggregate(self, select: Select) -> bool:
        """Return whether a SELECT has an aggregate."""
        return select.node.args.get("having") is not None or any(map(self._is_aggregate, own_nodes(select)))

    def windows(self, select: Select) -> Iterator[exp.Window]:
        """Yield the windows of a SELECT, named windows resolved."""
        named = {window.name.lower(): window for window in select.node.args.get("windows") or ()}
        for node in own_nodes(select):
            if isinstance(node, exp.Window):
                name = node.args.get("alias")
                yield named.get(name.name.lower(), node) if name is not None else node

    def _is_aggregate(self, node: exp.Expr) -> bool:
        if isinstance(node, _AGGREGATE_NODES):
            return not isinstance(node.parent, exp.Window)
        if not isinstance(node, exp.Anonymous) or node.name.lower() not in AGGREGATES:
            return False
        parent = node.parent
        while isinstance(parent, (exp.Filter, exp.IgnoreNulls, exp.RespectNulls)):
            parent = parent.parent
        return not isinstance(parent, exp.Window) or parent.this is not _top(node, parent)


def _top(node: exp.Expr, parent: exp.Expr) -> exp.Expr:
    while node.parent is not parent and node.parent is not None:
        node = node.parent
    return node


def own_nodes(select: Select) -> Iterator[exp.Expr]:
    """Yield the nodes of the expressions of a SELECT, without those of its subqueries."""
    parts = (*select.node.expressions, *(select.node.args.get(part) for part in ("having", "order", "sort")))
    pending = [part for part in parts if part is not None]
    while pending:
        node = pending.pop()
        yield node
        pending += [child for child in node.iter_expressions() if not isinstance(child, exp.Query)]


def conjuncts(condition: exp.Expr | None) -> Iterator[exp.Expr]:
    """Yield the conditions combined by AND."""
    pending = [condition] if condition is not None else []
    while pending:
        part = pending.pop()
        if isinstance(part, exp.And):
            pending += [part.this, part.expression]
        elif isinstance(part, exp.Paren):
            pending.append(part.this)
        else:
            yield part
