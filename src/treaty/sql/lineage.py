"""Column lineage of queries and expressions, through CTEs and subqueries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sqlglot import exp

from treaty.sql.project_queries import Expression, Query
from treaty.sql.relations import (
    ColumnMeanings,
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
_ROW_CLAUSES = frozenset({"where", "group", "having", "qualify", "order", "sort", "distribute", "cluster"})
"""Clauses of a SELECT, by their names in sqlglot, that decide which rows there are."""


def lineage(query: Query) -> dict[str, Origins]:
    """Return the input fields that each output column of a query is computed from."""
    tracer = _Tracer(query.names)
    return {column.name: tracer.column(query.root, number) for number, column in enumerate(query.root.columns)}


def origins(expression: Expression) -> Origins:
    """Return the input fields that an expression is computed from."""
    return _Tracer(expression.names).value(expression.tree)


def filter_fields(query: Query) -> Origins:
    """Return the input fields that decide which rows a query has: those of its filters, joins, groups and orders."""
    return _filters_of(query.names, query.root)


def column_filters(query: Query) -> dict[str, Origins]:
    """Return the input fields that filter what a column is computed from, by column: those of EXISTS and counts."""
    tracer = _FilterTracer(query.names)
    return {column.name: tracer.column(query.root, number) for number, column in enumerate(query.root.columns)}


def _filters_of(names: Names, relation: Relation) -> Origins:
    tracer = _Tracer(names)
    fields: list[Origins] = []
    for select in _selects(relation):
        conditions = [node for name, node in select.node.args.items() if name in _ROW_CLAUSES and node]
        conditions += [join.on for join in select.joins if join.on is not None]
        for column in (column for node in conditions for column in node.find_all(exp.Column)):
            if (meaning := names.columns.get(id(column))) is not None:
                fields.append(tracer.value(meaning))
        fields += [tracer.value(Reference((*left, right))) for join in select.joins for left, right in join.shared]
    return frozenset().union(*fields)


def _selects(root: Relation) -> Iterator[Select]:
    """Yield the SELECTs that the rows of a relation come from, without those inside of its expressions."""
    waiting: list[Relation] = [root]
    seen: set[int] = set()
    while waiting:
        relation = waiting.pop()
        if id(relation) in seen:
            continue
        seen.add(id(relation))
        if isinstance(relation, Select):
            yield relation
            sources = [*([relation.first] if relation.first else []), *(join.source for join in relation.joins)]
            waiting += [source.relation for source in sources]
        elif isinstance(relation, SetQuery):
            waiting += [relation.left, relation.right]
        elif isinstance(relation, RenamedQuery):
            waiting.append(relation.query)


def passed_through(query: Query) -> dict[str, Origin]:
    """Return the input column of each output column that is passed through unchanged."""
    meanings = ColumnMeanings(query.names)
    columns = enumerate(query.root.columns)
    origins = {column.name: _input_column(meanings, query.root, number) for number, column in columns}
    return {name: origin for name, origin in origins.items() if origin is not None}


def _input_column(meanings: ColumnMeanings, relation: Relation, number: int) -> Origin | None:
    if isinstance(relation, Table):
        return Origin(relation.name, relation.columns[number].name)
    if isinstance(relation, RenamedQuery):
        return _input_column(meanings, relation.query, number)
    if not isinstance(relation, Select):
        return None
    places = meanings.first_of(relation.outputs[number].value)
    if places is None or len(places) != 1:
        return None
    ((source, place),) = places
    return _input_column(meanings, source.relation, place)


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


class _FilterTracer(_Tracer):
    """Traces the fields that filter the subqueries inside of expressions."""

    def column(self, relation: Relation, number: int, steps: tuple[str, ...] = ()) -> Origins:
        """Return the fields that filter what a column is computed from; a column of an input has none."""
        return frozenset() if isinstance(relation, Table) else super().column(relation, number, steps)

    def _expression(self, node: exp.Expr) -> Origins:
        query = self._names.queries.get(id(node))
        filters = _filters_of(self._names, query) if query is not None else frozenset()
        return filters | super()._expression(node)


def copied_fields(query: Query) -> dict[str, Origins]:
    """Return the input fields that output columns pass on unchanged; computed columns have none."""
    copies = _Copies(query.names)
    columns = enumerate(query.root.columns)
    return {column.name: found for number, column in columns if (found := copies.column(query.root, number))}


class _Copies:
    """Follows columns that are passed on unchanged. Recursive queries do not exist in this dialect."""

    def __init__(self, names: Names) -> None:
        self._names = names

    def column(self, relation: Relation, number: int, steps: tuple[str, ...] = ()) -> Origins:
        """Return the fields that a column of a relation, or a field inside it, is a copy of."""
        if isinstance(relation, Table):
            column = relation.columns[number]
            return frozenset({Origin(relation.name, field_path(column.name, column.type, steps))})
        if isinstance(relation, RenamedQuery):
            return self.column(relation.query, number, steps)
        if isinstance(relation, SetQuery):
            return self.column(relation.left, number, steps) | self.column(relation.right, number, steps)
        return self._value(relation.outputs[number].value, steps) if isinstance(relation, Select) else frozenset()

    def _value(self, value: Value | None, steps: tuple[str, ...]) -> Origins:
        if isinstance(value, exp.Column):
            value = self._names.columns.get(id(value))
        if isinstance(value, Output):
            return self._value(value.value, steps)
        if not isinstance(value, Reference):
            return frozenset()
        inside = (*value.steps, *steps)
        return frozenset().union(*(self.column(source.relation, number, inside) for source, number in value.places))
