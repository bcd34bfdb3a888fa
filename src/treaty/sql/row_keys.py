"""The columns that identify a row of a query, as far as its SQL shows: for drafts, not as a proof.

A join is taken for a lookup that adds columns and no rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from treaty.sql.project_queries import Query
from treaty.sql.relations import (
    ColumnMeanings,
    Place,
    Reference,
    Relation,
    RenamedQuery,
    Select,
    SetQuery,
    Source,
    Table,
    Value,
    conjuncts,
)

Positions = tuple[int, ...]
"""Columns of a relation by their numbers; none if the key is not known."""


def row_key(query: Query, keys: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Return the output columns that identify a row; `keys` are the keys of the inputs. Empty if it is not known."""
    positions = _RowKeys(query, {name.lower(): tuple(key) for name, key in keys.items()}).of(query.root)
    return tuple(query.root.columns[position].name for position in positions)


def _makes_rows(call: exp.Anonymous) -> bool:
    return "explode" in call.name.lower() or call.name.lower() in ("inline", "inline_outer", "stack")


class _RowKeys:
    """Finds the key of each relation of a query."""

    def __init__(self, query: Query, keys: Mapping[str, tuple[str, ...]]) -> None:
        self._keys = keys
        self._names = query.names
        self._meanings = ColumnMeanings(query.names)

    def of(self, relation: Relation) -> Positions:
        """Return the key of a relation."""
        if isinstance(relation, Table):
            names = [column.name.lower() for column in relation.columns]
            key = self._keys.get(relation.name.lower(), ())
            return tuple(names.index(name.lower()) for name in key) if {n.lower() for n in key} <= set(names) else ()
        if isinstance(relation, RenamedQuery):
            return self.of(relation.query)
        if isinstance(relation, SetQuery):
            left = self.of(relation.left)
            return left if left == self.of(relation.right) else ()
        return self._select(relation) if isinstance(relation, Select) else ()

    def _select(self, select: Select) -> Positions:
        if select.groups:
            return self._outputs(select, [self._meanings.first_of(group) for group in select.groups], select.groups)
        if select.first is None or select.laterals or any(map(_makes_rows, select.node.find_all(exp.Anonymous))):
            return ()
        key = self._first_in_partition(select) or self.of(select.first.relation)
        return self._outputs(select, [frozenset({(select.first, position)}) for position in key]) if key else ()

    def _outputs(
        self, select: Select, wanted: Sequence[frozenset[Place] | None], values: Sequence[Value] = ()
    ) -> Positions:
        """Return the output columns with these input columns, or these values; none if one of them is missing."""
        places = [self._meanings.first_of(output) for output in select.outputs]
        positions: list[int] = []
        for number, columns in enumerate(wanted):
            value = values[number] if values else None
            found = [
                position
                for position, output in enumerate(select.outputs)
                if value in (output, output.value) or (columns and columns <= (places[position] or frozenset()))
            ]
            if not found:
                return ()
            positions.append(found[0])
        return tuple(dict.fromkeys(positions))

    def _first_in_partition(self, select: Select) -> Positions:
        """Return the columns that rows are numbered by if a SELECT keeps only row number 1 of each partition."""
        where = select.node.args.get("where")
        for condition in conjuncts(where.this if where is not None else None):
            if isinstance(condition, exp.EQ) and isinstance(condition.expression, exp.Literal):
                numbered = self._numbered(condition.this) if condition.expression.name == "1" else None
                if numbered is not None and numbered[0] is select.first:
                    return numbered[1]
        return ()

    def _numbered(self, node: exp.Expr) -> tuple[Source, Positions] | None:
        meaning = self._names.columns.get(id(node))
        if not isinstance(meaning, Reference) or meaning.steps or len(meaning.places) != 1:
            return None
        ((source, number),) = meaning.places
        inside = source.relation
        if not isinstance(inside, Select):
            return None
        value = inside.outputs[number].value
        window = value.this if isinstance(value, exp.Alias) else value
        if not isinstance(window, exp.Window) or window.this.name.lower() != "row_number":
            return None
        columns = [self._meanings.first_of(column) for column in window.args.get("partition_by") or ()]
        return source, self._outputs(inside, columns)
