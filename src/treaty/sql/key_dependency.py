"""Decide whether a query can be computed key by key: the result for a key depends only on input rows with that key."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from treaty.sql.key_joins import EqualColumns, KeyColumns, KeyDependency, KeysMixed, RowScope, join_dependencies
from treaty.sql.project_queries import Query
from treaty.sql.relations import (
    ColumnMeanings,
    ComputedRows,
    JoinKind,
    Place,
    Relation,
    RenamedQuery,
    Select,
    SetQuery,
    Source,
    Table,
    UnknownTable,
    conjuncts,
)


@dataclass(frozen=True)
class KeyedQuery:
    """The query can be computed key by key; names the key columns of each input and of the output."""

    inputs: Mapping[str, tuple[str, ...]]
    outputs: tuple[str, ...]


@dataclass(frozen=True)
class UnkeyedQuery:
    """The query cannot be proven to be computed key by key; gives the reason."""

    reason: str


def analyse_key_dependency(query: Query, keys: Mapping[str, Sequence[str]]) -> KeyedQuery | UnkeyedQuery:
    """Prove that restricting the inputs to a key gives the output rows of that key, or return why not.

    `keys` names the columns of the key in each input, in one order; an input without a key is read in full.
    Two keys are the same if they are equal or both missing.
    """
    if not keys or len({len(columns) for columns in keys.values()}) != 1:
        return UnkeyedQuery("its inputs have no key in common")
    known = {name.lower(): tuple(columns) for name, columns in keys.items()}
    words = ", ".join(next(iter(known.values())))
    try:
        dependency = KeyAnalysis(query, known, words).relation(query.root)
    except KeysMixed as mixed:
        return UnkeyedQuery(str(mixed))
    if dependency.scope is not RowScope.ONE_KEY:
        return UnkeyedQuery("it reads none of the inputs that have the key")
    outputs: list[str] = []
    for key_column, column in zip(dependency.key, next(iter(known.values())), strict=True):
        exact = [number for number in range(len(query.columns)) if key_column.is_by(frozenset({number}))]
        names = [query.columns[number] for number in exact]
        if not names:
            return UnkeyedQuery(f"{column} is not an unchanged output column")
        outputs.append(next((name for name in names if name.lower() == column.lower()), names[0]))
    return KeyedQuery({name: tuple(keys[name]) for name in keys}, tuple(outputs))


SourceDependency = KeyDependency[Place]
OutputDependency = KeyDependency[int]
_EVERYWHERE: OutputDependency = KeyDependency(RowScope.EVERYWHERE)


class KeyAnalysis:
    """Computes the key dependency of each relation once."""

    def __init__(self, query: Query, keys: Mapping[str, tuple[str, ...]], words: str) -> None:
        self.query = query
        self.keys = keys
        self.words = words
        self.meaning = ColumnMeanings(query.names)
        self._known: dict[int, OutputDependency] = {}

    def relation(self, relation: Relation) -> OutputDependency:
        """Return the key dependency of a relation that does not refer to an outer row."""
        if id(relation) not in self._known:
            self._known[id(relation)] = self._analyse(relation)
        return self._known[id(relation)]

    def inside(self, relation: Relation, outer: SourceDependency) -> OutputDependency:
        """Return the key dependency of a subquery, which may refer to the outer row."""
        if isinstance(relation, Select):
            return self._select(relation, outer)
        if isinstance(relation, RenamedQuery) and relation.limit is None:
            return self.inside(relation.query, outer)
        return self.relation(relation)

    def _analyse(self, relation: Relation) -> OutputDependency:
        if isinstance(relation, Table):
            return self._table(relation)
        if isinstance(relation, (ComputedRows, UnknownTable)):
            return _EVERYWHERE
        if isinstance(relation, RenamedQuery):
            dependency = self.relation(relation.query)
            if relation.limit is not None and dependency.scope is not RowScope.EVERYWHERE:
                raise KeysMixed("it has a LIMIT or OFFSET, which counts rows of all keys")
            return dependency
        return self._combined(relation) if isinstance(relation, SetQuery) else self._select(relation, None)

    def _table(self, table: Table) -> OutputDependency:
        columns = self.keys.get(table.name.lower())
        if columns is None:
            return _EVERYWHERE
        names = [column.name.lower() for column in table.columns]
        places = [names.index(column.lower()) if column.lower() in names else None for column in columns]
        if None in places:
            raise KeysMixed(f"{table.name} has no {', '.join(columns)}")
        return KeyDependency(RowScope.ONE_KEY, tuple(_only_column(place) for place in places if place is not None))

    def _combined(self, relation: SetQuery) -> OutputDependency:
        left, right = self.relation(relation.left), self.relation(relation.right)
        if left.scope is right.scope is RowScope.EVERYWHERE and not _is_cut(relation.node):
            return left
        words = relation.node.key.upper()
        if left.scope is not right.scope:
            raise KeysMixed(f"its {words} combines rows that have no key with rows that have one")
        if _is_cut(relation.node):
            raise KeysMixed("it has a LIMIT or OFFSET, which counts rows of all keys")
        key = tuple(
            _common_key_columns(left_key, right_key) for left_key, right_key in zip(left.key, right.key, strict=True)
        )
        is_union_all = isinstance(relation.node, exp.Union) and relation.is_all
        if not is_union_all and not all(key_columns.covers for key_columns in key):
            raise KeysMixed(f"its {words} compares rows without {self.words} in the same column of both sides")
        return KeyDependency(RowScope.ONE_KEY, key)

    def _select(self, select: Select, outer: SourceDependency | None) -> OutputDependency:
        rows = self._rows(select, outer)
        check_subqueries(self, select, rows)
        if rows.scope is RowScope.ONE_KEY:
            self._refuse_mixing(select, rows)
        if _is_cut(select.node) and rows.scope is not RowScope.EVERYWHERE:
            raise KeysMixed("it has a LIMIT or OFFSET, which counts rows of all keys")
        dependency = KeyDependency(rows.scope, tuple(self._outputs(select, key_columns) for key_columns in rows.key))
        if (
            select.node.args.get("distinct")
            and rows.scope is RowScope.ONE_KEY
            and not all(key_columns.covers for key_columns in dependency.key)
        ):
            raise KeysMixed(f"its DISTINCT compares rows without {self.words}")
        return dependency

    def _rows(self, select: Select, outer: SourceDependency | None) -> SourceDependency:
        """Return the key dependency of the rows after FROM and WHERE."""
        where = select.node.args.get("where")
        equal_in_where = list(self._equal(where.this)) if where is not None else []
        is_inner = all(join.kind is JoinKind.INNER for join in select.joins)
        equal_in_all = (
            equal_in_where + [pair for join in select.joins for pair in self._equal(join.on)] if is_inner else []
        )
        if select.first is None:
            return KeyDependency(RowScope.EVERYWHERE)
        rows = _restrict_to_outer_key(self._source(select.first), outer, equal_in_all)
        seen = select.first.alias
        for join in select.joins:
            if join.on is not None and join.on.find(exp.Query):
                raise KeysMixed("it has a subquery in a join condition")
            right = _restrict_to_outer_key(self._source(join.source), outer, equal_in_all)
            shared = [EqualColumns(frozenset(left), frozenset({place})) for left, place in join.shared]
            equal = [*self._equal(join.on), *shared, *equal_in_all]
            rows = join_dependencies(rows, right, join.kind, equal, (seen, join.source.alias), self.words)
            seen = join.source.alias if rows.scope is RowScope.EVERYWHERE else seen
        return _restrict_to_outer_key(rows, outer, equal_in_where)

    def _source(self, source: Source) -> SourceDependency:
        dependency = self.relation(source.relation)
        return KeyDependency(
            dependency.scope, tuple(_columns_of_source(source, key_column) for key_column in dependency.key)
        )

    def _equal(self, condition: exp.Expr | None) -> Iterator[EqualColumns[Place]]:
        for comparison in conjuncts(condition):
            if isinstance(comparison, (exp.EQ, exp.NullSafeEQ)):
                first, second = self.meaning.first_of(comparison.this), self.meaning.first_of(comparison.expression)
                if first and second:
                    yield EqualColumns(first, second, isinstance(comparison, exp.NullSafeEQ))

    def _refuse_mixing(self, select: Select, rows: SourceDependency) -> None:
        """Refuse what combines rows of several keys: groups and windows without the key, and totals."""
        group = select.node.args.get("group")
        if group is not None:
            if any(group.args.get(part) for part in ("grouping_sets", "cube", "rollup", "totals", "all")):
                raise KeysMixed("it groups by more than one set of columns, or by ALL")
            by = [self.meaning.first_of(value) for value in select.groups]
            if not all(any(key_columns.is_by(columns) for columns in by) for key_columns in rows.key):
                raise KeysMixed(f"its GROUP BY does not contain {self.words} of each row")
        elif self.meaning.has_aggregate(select):
            raise KeysMixed(f"it has an aggregate without GROUP BY {self.words}")
        for window in self.meaning.windows(select):
            by = [self.meaning.first_of(value) for value in window.args.get("partition_by") or ()]
            if not all(any(key_columns.is_by(columns) for columns in by) for key_columns in rows.key):
                raise KeysMixed(f"a window is not PARTITION BY {self.words}")

    def _outputs(self, select: Select, key_columns: KeyColumns[Place]) -> KeyColumns[int]:
        """Return which output columns contain a column of the key."""
        values = {number: self.meaning.first_of(output.value) for number, output in enumerate(select.outputs)}
        maybe = frozenset(number for number, value in values.items() if key_columns.may_be_by(value))
        single = {frozenset({number}) for number in maybe if key_columns.is_by(values[number])}
        for cover in key_columns.covers:
            parts = [next((n for n in maybe if values[n] == frozenset({place})), None) for place in cover]
            if None not in parts:
                single.add(frozenset(part for part in parts if part is not None))
        return KeyColumns(maybe, frozenset(single))


def _only_column(number: int) -> KeyColumns[int]:
    alone = frozenset({number})
    return KeyColumns(alone, frozenset({alone}))


def _columns_of_source(source: Source, key_columns: KeyColumns[int]) -> KeyColumns[Place]:
    def places(numbers: frozenset[int]) -> frozenset[Place]:
        return frozenset((source, number) for number in numbers)

    return KeyColumns(places(key_columns.maybe), frozenset(map(places, key_columns.covers)))


def _common_key_columns(left: KeyColumns[int], right: KeyColumns[int]) -> KeyColumns[int]:
    """Return the columns that contain the key on both sides of a set operation."""
    return KeyColumns(left.maybe & right.maybe, left.covers & right.covers)


def _restrict_to_outer_key(
    rows: SourceDependency, outer: SourceDependency | None, equal: list[EqualColumns[Place]]
) -> SourceDependency:
    """Mark rows as restricted to the key of the outer row, where a condition compares the keys."""
    if outer is None or rows.scope is not RowScope.ONE_KEY or outer.scope is RowScope.EVERYWHERE:
        return rows
    try:
        join_dependencies(rows, outer, JoinKind.SEMI, equal, ("", ""), "")
    except KeysMixed:
        return rows
    return KeyDependency(RowScope.OUTER_KEY, rows.key)


def _is_cut(node: exp.Expr) -> bool:
    return bool(node.args.get("limit") or node.args.get("offset"))


_PARTS = ("where", "having", "order", "sort", "distribute", "cluster")


def check_subqueries(keying: KeyAnalysis, select: Select, rows: KeyDependency[Place]) -> None:
    """Refuse subqueries that read rows of other keys."""
    where = select.node.args.get("where")
    memberships = {
        id(condition.args["query"]) for condition in conjuncts(where and where.this) if _is_membership(condition)
    }
    for node, holder in _queries(select):
        inside = keying.inside(keying.query.names.queries[id(node)], rows)
        if inside.scope is not RowScope.ONE_KEY:
            continue
        if id(node) in memberships and _by_key(keying, holder, inside, rows):
            continue
        raise KeysMixed(f"a subquery is not restricted to {keying.words} of the outer row{_advice(holder)}")


def _is_membership(node: exp.Expr) -> bool:
    return isinstance(node, exp.In) and node.args.get("query") is not None


def _queries(select: Select) -> Iterator[tuple[exp.Expr, exp.Expr | None]]:
    """Yield the outermost subqueries in the expressions of a SELECT, each with its parent node."""
    parts = [*select.node.expressions, *(select.node.args.get(part) for part in _PARTS)]
    parts += [lateral.this for lateral in select.node.args.get("laterals") or ()]
    parts += list(select.node.args["group"].expressions) if select.node.args.get("group") else []
    pending: list[tuple[exp.Expr, exp.Expr | None]] = [(part, None) for part in parts if part is not None]
    while pending:
        node, holder = pending.pop()
        if isinstance(node, exp.Query):
            yield node, holder
        else:
            pending += [(child, node) for child in node.iter_expressions()]


def _by_key(
    keying: KeyAnalysis, holder: exp.Expr | None, inside: KeyDependency[int], rows: KeyDependency[Place]
) -> bool:
    """Return whether key IN (SELECT key …) looks up the key of the row; a null key is never found."""
    if not isinstance(holder, exp.In) or rows.scope is RowScope.EVERYWHERE:
        return False
    tested = holder.this.expressions if isinstance(holder.this, exp.Tuple) else [holder.this]
    values = [keying.meaning.first_of(operand) for operand in tested]
    return all(
        any(mine.may_be_by(value) and key_columns.may_be_by(frozenset({number})) for number, value in enumerate(values))
        for mine, key_columns in zip(rows.key, inside.key, strict=True)
    )


def _advice(holder: exp.Expr | None) -> str:
    return "; use NOT EXISTS with the key instead of NOT IN" if isinstance(holder, exp.In) else ""
