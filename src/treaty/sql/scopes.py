"""Name resolution: the columns visible at a position in SQL, and which of them `a`, `t.a` or `t.a.b` refers to.

`Scope.resolve` is the one order of lookup. Rules and project queries each have a scope with their own columns:
fields of contracts, which have stored names and contract names, and columns of relations.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from typing import Any, Generic, Self, TypeAlias, TypeVar

from treaty.contracts.model import Field, SchemaObject
from treaty.sql.relations import Output, Place, Relation, Source, is_known

C = TypeVar("C")
"""A column of a scope."""
R = TypeVar("R")
"""A result of a SELECT."""


class AmbiguousName(Exception):
    """A name matches several columns of one level."""

    def __init__(self, name: str, columns: Sequence[Any]) -> None:
        super().__init__(name)
        self.name = name
        self.columns = columns


@dataclass(frozen=True)
class ColumnMatch(Generic[C]):
    """The column a name refers to, and the steps into its fields."""

    column: C
    steps: tuple[str, ...] = ()


class Scope(ABC, Generic[C, R]):
    """The names visible in one SELECT, and the scope around it."""

    outer: Self | None

    @abstractmethod
    def columns_of(self, table: Sequence[str], name: str) -> Sequence[C]:
        """Return the columns with this name in the tables with that name."""

    @abstractmethod
    def columns_named(self, name: str) -> Sequence[C]:
        """Return the columns that a name without a table can refer to."""

    @abstractmethod
    def output(self, name: str) -> R | None:
        """Return the result of the SELECT with this name."""

    def levels(self) -> Iterator[Self]:
        """Yield this scope and its outer scopes."""
        level: Self | None = self
        while level is not None:
            yield level
            level = level.outer

    def find_column(self, parts: Sequence[str]) -> ColumnMatch[C] | None:
        """Return the column of this level that a name refers to; the longest table name goes first."""
        for length in range(len(parts) - 1, -1, -1):
            name = parts[length]
            columns = self.columns_of(parts[:length], name) if length else self.columns_named(name)
            if len(columns) > 1:
                raise AmbiguousName(name, columns)
            if columns:
                return ColumnMatch(columns[0], tuple(parts[length + 1 :]))
        return None

    def resolve(self, parts: Sequence[str]) -> tuple[Self, ColumnMatch[C] | R] | None:
        """Return the level and the column or output that a name refers to, searching outwards, columns first."""
        for level in self.levels():
            meaning = level.find_column(parts) or (level.output(parts[0]) if len(parts) == 1 else None)
            if meaning is not None:
                return level, meaning
        return None


Places: TypeAlias = tuple[Place, ...]
"""A column of a project query: the first non-null of these, as USING combines columns of both sides."""


@dataclass(eq=False)
class QueryScope(Scope[Places, Output]):
    """The names visible in a SELECT of a project: its sources, CTEs and outputs.

    `layout` has the columns in the order of a star.
    """

    outer: QueryScope | None = None
    ctes: Mapping[str, Relation] = dataclass_field(default_factory=dict)
    sources: list[Source] = dataclass_field(default_factory=list)
    layout: list[tuple[str, Places]] = dataclass_field(default_factory=list)
    outputs: list[Output] = dataclass_field(default_factory=list)

    def columns_of(self, table: Sequence[str], name: str) -> Sequence[Places]:
        """Return the columns with this name in the sources with this alias."""
        sources = [source for source in self.sources if len(table) == 1 and source.alias == table[0].lower()]
        return _with_name(name, [column for source in sources for column in _columns(source)])

    def columns_named(self, name: str) -> Sequence[Places]:
        """Return the columns with this name."""
        return _with_name(name, self.layout)

    def add(self, source: Source) -> None:
        """Add a source after the existing ones."""
        self.sources.append(source)
        self.layout += _columns(source)

    def with_source(self, source: Source) -> QueryScope:
        """Return a copy with one more source, for the condition of a join."""
        inside = QueryScope(self.outer, self.ctes, [*self.sources], [*self.layout])
        inside.add(source)
        return inside

    def source(self, alias: str) -> Source | None:
        """Return the source with this alias."""
        return next((source for source in self.sources if source.alias == alias.lower()), None)

    def output(self, name: str) -> Output | None:
        """Return the output column with this name, if it is already resolved."""
        return next((output for output in self.outputs if output.column.name.lower() == name.lower()), None)

    @property
    def is_known(self) -> bool:
        """Whether all sources are known, so that an unknown name is an error."""
        return all(is_known(source.relation) for level in self.levels() for source in level.sources)

    def must_have(self, parts: Sequence[str]) -> bool:
        """Return whether a missing column is an error; it is not if its table is unknown."""
        source = self.source(parts[0]) if len(parts) > 1 else None
        return self.is_known or (source is not None and is_known(source.relation))

    def names(self) -> Iterator[str]:
        """Yield every name that is visible here, for suggestions."""
        for level in self.levels():
            yield from (name for name, _ in level.layout)
            yield from (source.alias for source in level.sources)


def _columns(source: Source) -> list[tuple[str, Places]]:
    return [(column.name, ((source, number),)) for number, column in enumerate(source.columns)]


def _with_name(name: str, columns: Sequence[tuple[str, Places]]) -> list[Places]:
    return [places for column, places in columns if column.lower() == name.lower()]


@dataclass(frozen=True)
class DerivedTable:
    """A derived table of a rule: its SQL or name, its columns, and those that are concatenated or stored."""

    sql: str
    fields: tuple[Field, ...]
    grown: frozenset[str] = frozenset()
    plain: frozenset[str] = frozenset()


@dataclass(frozen=True, eq=False)
class RuleSource:
    """A table or derived table with the names it can be referred to by; without `alias`, columns are not qualified."""

    names: tuple[tuple[str, ...], ...]
    fields: tuple[Field, ...]
    alias: str | None = None
    object: SchemaObject | None = None
    grown: frozenset[str] = frozenset()
    plain: frozenset[str] = frozenset()

    def is_plain(self, field: Field) -> bool:
        """Return whether a column is stored, not computed."""
        return self.object is not None or (field.name or "") in self.plain


RuleColumn: TypeAlias = tuple[RuleSource, Field]


@dataclass(frozen=True, eq=False)
class RuleScope(Scope[RuleColumn, str]):
    """The names visible in the SQL of a rule; `unclear` aliases of results are also column names."""

    sources: tuple[RuleSource, ...]
    outer: RuleScope | None = None
    aliases: tuple[str, ...] = ()
    unclear: frozenset[str] = frozenset()

    def columns_of(self, table: Sequence[str], name: str) -> Sequence[RuleColumn]:
        """Return the matching fields of the tables with this name."""
        wanted = tuple(part.lower() for part in table)
        return [
            (source, field)
            for source in self.sources
            if wanted in source.names
            for field in matching_fields(name, source.fields)
        ]

    def columns_named(self, name: str) -> Sequence[RuleColumn]:
        """Return the matching fields of all tables."""
        return [(source, field) for source in self.sources for field in matching_fields(name, source.fields)]

    def output(self, name: str) -> str | None:
        """Return the alias of the result with this name."""
        return next((alias for alias in self.aliases if alias.lower() == name.lower()), None)


def contract_source(schema: SchemaObject) -> RuleSource:
    """Return an object of the contract as a source, under its own names."""
    names = [name.lower() for name in (schema.name, schema.physical_name) if name]
    full_names = {(name,) for name in names} | {tuple(name.split(".")) for name in names}
    return RuleSource(tuple(sorted(full_names | {(parts[-1],) for parts in full_names})), schema.fields, None, schema)


def column_name(field: Field) -> str:
    """Return the name a field has in the data."""
    return field.physical_name or field.name or ""


def matching_fields(name: str, fields: Sequence[Field]) -> tuple[Field, ...]:
    """Return the fields a name can refer to: stored names before contract names, exact case before other case."""
    lower = name.lower()
    for matches in (
        [field for field in fields if column_name(field) == name],
        [field for field in fields if column_name(field).lower() == lower],
        [field for field in fields if field.name == name],
        [field for field in fields if (field.name or "").lower() == lower],
    ):
        if matches:
            return tuple(matches)
    return ()
