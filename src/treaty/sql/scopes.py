"""Resolve the names in expressions of project SQL; unknown names are findings."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from treaty.contracts.findings import Finding
from treaty.sql.column_types import ColumnType, NoSuchField, element_type, field_type
from treaty.sql.dialect import words
from treaty.sql.functions import KNOWN
from treaty.sql.parser import SqlText
from treaty.sql.relations import Names, Output, Place, Reference, Relation, Source, is_known


class AmbiguousName(Exception):
    """A name matches columns of several sources."""


@dataclass(eq=False)
class QueryScope:
    """The names visible in a SELECT: its sources, CTEs, outputs and the outer scope.

    `layout` has the columns in the order of a star.
    """

    outer: QueryScope | None = None
    ctes: Mapping[str, Relation] = field(default_factory=dict)
    sources: list[Source] = field(default_factory=list)
    layout: list[tuple[str, tuple[Place, ...]]] = field(default_factory=list)
    outputs: list[Output] = field(default_factory=list)

    def add(self, source: Source) -> None:
        """Add a source after the existing ones."""
        self.sources.append(source)
        self.layout += [(column.name, ((source, number),)) for number, column in enumerate(source.columns)]

    def with_source(self, source: Source) -> QueryScope:
        """Return a copy with one more source, for the condition of a semi or anti join."""
        inside = QueryScope(self.outer, self.ctes, [*self.sources], [*self.layout])
        inside.add(source)
        return inside

    def find(self, parts: Sequence[str]) -> Reference | None:
        """Return the column a name refers to, by source alias or unqualified, with the steps into its fields."""
        if len(parts) > 1:
            qualified = [item for source in self.sources if source.alias == parts[0].lower() for item in _all(source)]
            if found := _only(qualified, parts[1]):
                return Reference(found, tuple(parts[2:]))
        found = _only(self.layout, parts[0])
        return Reference(found, tuple(parts[1:])) if found else None

    def source(self, alias: str) -> Source | None:
        """Return the source with this alias."""
        return next((source for source in self.sources if source.alias == alias.lower()), None)

    def output(self, name: str) -> Output | None:
        """Return the output column with this name, if it is already resolved."""
        return next((output for output in self.outputs if output.column.name.lower() == name.lower()), None)

    @property
    def is_known(self) -> bool:
        """Whether all sources are known, so that an unknown name is an error."""
        here = all(is_known(source.relation) for source in self.sources)
        return here and (self.outer is None or self.outer.is_known)

    def must_have(self, parts: Sequence[str]) -> bool:
        """Tell whether a missing column is an error; it is not if its table is unknown."""
        source = self.source(parts[0]) if len(parts) > 1 else None
        return self.is_known or (source is not None and is_known(source.relation))

    def names(self) -> Iterator[str]:
        """Yield every name that is visible here, for suggestions."""
        yield from (name for name, _ in self.layout)
        yield from (source.alias for source in self.sources)
        if self.outer is not None:
            yield from self.outer.names()


def type_at(places: Sequence[Place]) -> ColumnType | None:
    """Return the type of a column."""
    source, number = places[0]
    return source.columns[number].type


def _all(source: Source) -> list[tuple[str, tuple[Place, ...]]]:
    return [(column.name, ((source, number),)) for number, column in enumerate(source.columns)]


def _only(columns: Sequence[tuple[str, tuple[Place, ...]]], name: str) -> tuple[Place, ...] | None:
    found = [places for one, places in columns if one.lower() == name.lower()]
    if len(found) > 1:
        raise AmbiguousName
    return found[0] if found else None


_UNITS = words(
    "year years quarter month months week weeks day days dayofyear hour hours minute minutes second seconds "
    "millisecond microsecond"
)
_WITH_A_UNIT = frozenset({"date_add", "date_diff", "dateadd", "datediff", "timestampadd", "timestampdiff"})
_GRAMMAR = frozenset({"timestampadd", "timestampdiff"})
"""Functions that Spark's grammar knows and its list of functions does not."""
_SAME_TYPE = (exp.Paren, exp.Alias)
_ELEMENTS = frozenset({"explode", "explode_outer"})


@dataclass(eq=False)
class Resolver:
    """The state of resolving one SQL text: its tables, resolved names and findings."""

    text: SqlText
    tables: Mapping[str, Relation]
    read_query: Callable[[Resolver, exp.Expr, QueryScope], Relation]
    names: Names = field(default_factory=Names)
    problems: list[Finding] = field(default_factory=list)
    used: dict[str, None] = field(default_factory=dict)

    def problem(self, finding: str, message: str, hint: str, node: exp.Expr | None) -> None:
        """Add a finding."""
        self.problems.append(self.text.error(finding, message, hint, node))


def resolve_expression(
    reading: Resolver, node: exp.Expr, frame: QueryScope, variables: frozenset[str] = frozenset()
) -> ColumnType | None:
    """Resolve every name in an expression; return its type where that follows from a path alone."""
    if isinstance(node, exp.Query):
        reading.names.queries[id(node)] = found = reading.read_query(reading, node, frame)
        return found.columns[0].type if len(found.columns) == 1 else None
    if isinstance(node, exp.Column):
        return _column(reading, node, frame, variables)
    if isinstance(node, exp.Lambda):
        names = frozenset(item.name.lower() for item in node.expressions)
        resolve_expression(reading, node.this, frame, variables | names)
        return None
    if isinstance(node, exp.Anonymous):
        return _call(reading, node, frame, variables)
    if isinstance(node, exp.Dot) and isinstance(node.expression, exp.Anonymous):
        hint = "use Spark's own functions"
        reading.problem("sql-function", f"Spark has no function {node.sql(dialect='spark')}", hint, node)
        return None
    types = [resolve_expression(reading, child, frame, variables) for child in _children(node)]
    if isinstance(node, exp.Dot):
        held = types[0] if types else None
        return _inside(reading, node, held, (node.expression.name,)) if held is not None else None
    if isinstance(node, exp.Bracket):
        return element_type(types[0]) if types else None
    return types[0] if isinstance(node, _SAME_TYPE) and types else None


def _children(node: exp.Expr) -> Iterable[exp.Expr]:
    plain = (exp.Identifier, exp.DataType, exp.Var, exp.Star)
    return [child for child in node.iter_expressions() if not isinstance(child, plain)]


def _call(reading: Resolver, node: exp.Anonymous, frame: QueryScope, variables: frozenset[str]) -> ColumnType | None:
    name = node.name.lower()
    if name not in KNOWN | _GRAMMAR:
        near = suggest_name(name, KNOWN)
        reading.problem("sql-function", f"Spark has no function {name}", near or "use Spark's own functions", node)
    arguments = list(node.expressions)
    if name in _WITH_A_UNIT and arguments and isinstance(arguments[0], exp.Column):
        is_unit = len(arguments) == 3 and not arguments[0].table and arguments[0].name.lower() in _UNITS
        arguments = arguments[1:] if is_unit else arguments
    types = [
        resolve_expression(reading, item, frame, variables)
        for item in arguments
        if not isinstance(item, (exp.Star, exp.Identifier, exp.Var))
    ]
    return element_type(types[0]) if name in _ELEMENTS and types else None


def _column(reading: Resolver, node: exp.Column, frame: QueryScope, variables: frozenset[str]) -> ColumnType | None:
    if isinstance(node.this, exp.Star):  # as in count(t.*)
        return None
    parts = [node.args[part].name for part in ("catalog", "db", "table", "this") if node.args.get(part)]
    if parts[0].lower() in variables:
        return None
    try:
        found = find_name(frame, parts)
    except AmbiguousName:
        what = f"{'.'.join(parts)} is a column of several tables"
        reading.problem("sql-column", what, "qualify it with its table", node)
        return None
    if found is None and not frame.must_have(parts):
        return None
    if found is None:
        known = dict.fromkeys([*frame.names(), *(output.column.name for output in frame.outputs)])
        near = suggest_name(parts[-1], known) or f"there are: {', '.join(list(known)[:20]) or 'no columns'}"
        reading.problem("sql-column", f"there is no column {'.'.join(parts)}", near, node)
        return None
    reading.names.columns[id(node)] = found
    if isinstance(found, Output):
        return found.column.type
    return _inside(reading, node, type_at(found.places), found.steps)


def find_name(frame: QueryScope, parts: list[str]) -> Reference | Output | None:
    """Return the column, output of the same SELECT, or column of an outer SELECT that a name refers to."""
    if found := frame.find(parts):
        return found
    if len(parts) == 1 and (output := frame.output(parts[0])):
        return output
    return find_name(frame.outer, parts) if frame.outer is not None else None


def _inside(reading: Resolver, node: exp.Expr, held: ColumnType | None, steps: tuple[str, ...]) -> ColumnType | None:
    for one in steps:
        try:
            held = field_type(held, one)
        except NoSuchField as error:
            near = suggest_name(one, error.known)
            hint = near or (f"there are: {', '.join(error.known)}" if error.known else "it has no fields")
            reading.problem("sql-column", f"there is no field {one} in {node.sql(dialect='spark')}", hint, node)
            return None
    return held


def suggest_name(name: str, known: Iterable[str]) -> str | None:
    """Return "did you mean …?" with the closest name, or None."""
    close = difflib.get_close_matches(name.lower(), [one.lower() for one in known], n=1)
    return f"did you mean {close[0]}?" if close else None
