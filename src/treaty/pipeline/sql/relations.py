"""What a query is made of, once every name in it is understood."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

from pyspark.sql.types import DataType
from sqlglot import exp


@dataclass(frozen=True)
class Column:
    """A column that rows have; the type is None where nobody said it."""

    name: str
    type: DataType | None = None


@dataclass(frozen=True, eq=False)
class Table:
    """An input that the project declares."""

    name: str
    columns: tuple[Column, ...]


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows that expressions make: VALUES, or what a lateral view makes of each row."""

    columns: tuple[Column, ...]
    made_from: tuple[exp.Expr, ...] = ()


@dataclass(frozen=True, eq=False)
class Unknown:
    """What stands in the place of a table that is none; nothing is said about its columns."""

    columns: tuple[Column, ...] = ()


@dataclass(frozen=True, eq=False)
class Output:
    """A column that a SELECT gives."""

    column: Column
    value: Value


@dataclass(frozen=True, eq=False)
class Source:
    """A relation under the name, and with the columns, that a SELECT knows it by."""

    alias: str
    relation: Relation
    columns: tuple[Column, ...]


Place: TypeAlias = tuple[Source, int]
"""A column of a source, by its number."""


@dataclass(frozen=True)
class Reference:
    """The columns that a name means: the first of them that has a value; and the steps into it."""

    places: tuple[Place, ...]
    steps: tuple[str, ...] = ()


class Kind(StrEnum):
    """How rows of two sides come together."""

    INNER = "JOIN"
    LEFT = "LEFT JOIN"
    RIGHT = "RIGHT JOIN"
    FULL = "FULL JOIN"
    SEMI = "LEFT SEMI JOIN"
    ANTI = "LEFT ANTI JOIN"


HIDING = frozenset({Kind.SEMI, Kind.ANTI})
"""Joins whose right side nobody sees."""


@dataclass(frozen=True, eq=False)
class Join:
    """A source that is joined to all before it."""

    source: Source
    kind: Kind
    on: exp.Expr | None = None
    shared: tuple[tuple[tuple[Place, ...], Place], ...] = ()
    """Columns of the left and of the right that USING or NATURAL holds equal."""
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
        """The columns it gives."""
        return tuple(output.column for output in self.outputs)


@dataclass(frozen=True, eq=False)
class Combined:
    """Two queries whose columns are put together by their place."""

    node: exp.SetOperation
    left: Relation
    right: Relation

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns it gives, named as the left side names them."""
        return self.left.columns

    @property
    def is_all(self) -> bool:
        """Whether equal rows stay apart."""
        return not self.node.args.get("distinct")


@dataclass(frozen=True, eq=False)
class Renamed:
    """A query whose columns got other names, or that is cut by a LIMIT around it."""

    query: Relation
    columns: tuple[Column, ...]
    limit: exp.Expr | None = None


Value: TypeAlias = exp.Expr | Reference | Output
"""What is computed from a row: an expression, a column that a star stands for, or another output by its name."""
Relation: TypeAlias = Table | Rows | Unknown | Select | Combined | Renamed


@dataclass(frozen=True, eq=False)
class Names:
    """What the names and the queries inside a tree mean, by the identity of their nodes."""

    columns: dict[int, Reference | Output] = field(default_factory=dict)
    queries: dict[int, Relation] = field(default_factory=dict)


def is_known(relation: Relation) -> bool:
    """Tell whether all that a relation reads is known, so that a column it does not give is a mistake."""
    if isinstance(relation, Select):
        sources = [*([relation.first] if relation.first else []), *(join.source for join in relation.joins)]
        return all(is_known(source.relation) for source in sources)
    if isinstance(relation, Combined):
        return is_known(relation.left) and is_known(relation.right)
    return is_known(relation.query) if isinstance(relation, Renamed) else not isinstance(relation, Unknown)
