"""Column lineage of queries and expressions, through CTEs and subqueries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import exp

from treaty.sql.project_queries import Expression, Query
from treaty.sql.relations import (
    ComputedRows,
    Names,
    Output,
    Reference,
    Relation,
    RenamedQuery,
    Select,
    SetQuery,
    Table,
    UnknownTable,
    Value,
    field_path,
)


@dataclass(frozen=True, order=True)
class Origin:
    """A field of an input, by its path."""

    input: str
    column: str


Origins = frozenset[Origin]


def lineage(query: Query) -> dict[str, Origins]:
    """Return the input fields that each output column of a query is computed from."""
    tracer = _Tracer(query.names)
    return {column.name: tracer.column(query.root, number) for number, column in enumerate(query.root.columns)}


def origins(expression: Expression) -> Origins:
    """Return the input fields that an expression is computed from."""
    return _Tracer(expression.names).value(expression.tree)


def trace_through(
    columns: Mapping[str, Origins], lineage_by_input: Mapping[str, Mapping[str, Origins]]
) -> dict[str, Origins]:
    """Replace the inputs of a lineage by their own origins, where those are known."""
    return {
        column: frozenset().union(*(_trace_origin(origin, lineage_by_input) for origin in origins))
        for column, origins in columns.items()
    }


def _trace_origin(origin: Origin, lineage_by_input: Mapping[str, Mapping[str, Origins]]) -> Origins:
    known = lineage_by_input.get(origin.input)
    if known is None:
        return frozenset({origin})
    top = origin.column.partition(".")[0].partition("[")[0]
    return known.get(origin.column) or known.get(top) or frozenset({origin})


class _Tracer:
    """Traces each column of each relation once."""

    def __init__(self, names: Names) -> None:
        self._names = names
        self._known: dict[tuple[int, int], Origins] = {}

    def column(self, relation: Relation, number: int, steps: tuple[str, ...] = ()) -> Origins:
        """Return the origins of a column of a relation, or of a field inside it."""
        if isinstance(relation, Table):
            column = relation.columns[number]
            return frozenset({Origin(relation.name, field_path(column.name, column.type, steps))})
        if isinstance(relation, RenamedQuery):
            return self.column(relation.query, number, steps)
        if isinstance(relation, Select) and steps:
            return self._field(relation.outputs[number], steps)
        key = (id(relation), number)
        if key not in self._known:
            self._known[key] = self._computed(relation, number)
        return self._known[key]

    def value(self, value: Value) -> Origins:
        """Return the origins of a value."""
        if isinstance(value, Reference):
            return frozenset().union(*(self.column(s.relation, number, value.steps) for s, number in value.places))
        if isinstance(value, Output):
            return self.value(value.value)
        return self._expression(value)

    def _computed(self, relation: Select | SetQuery | ComputedRows | UnknownTable, number: int) -> Origins:
        if isinstance(relation, Select):
            return self.value(relation.outputs[number].value)
        if isinstance(relation, SetQuery):
            return self.column(relation.left, number) | self.column(relation.right, number)
        made_from = relation.made_from if isinstance(relation, ComputedRows) else ()
        return frozenset().union(*(self.value(expression) for expression in made_from))

    def _field(self, output: Output, steps: tuple[str, ...]) -> Origins:
        """Follow the steps into a column that is passed through unchanged; a computed value counts as one."""
        value: Value | None = output.value
        if isinstance(value, exp.Column):
            value = self._names.columns.get(id(value))
        if isinstance(value, Reference):
            return self.value(Reference(value.places, (*value.steps, *steps)))
        return self.value(output)

    def _expression(self, node: exp.Expr) -> Origins:
        if (query := self._names.queries.get(id(node))) is not None:
            return frozenset().union(*(self.column(query, number) for number in range(len(query.columns))))
        if isinstance(node, exp.Column):
            meaning = self._names.columns.get(id(node))
            return self.value(meaning) if meaning is not None else frozenset()
        return frozenset().union(*(self._expression(child) for child in node.iter_expressions()))
