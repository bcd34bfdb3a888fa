"""How each part of a query stands to the key, from its tables up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sqlglot import exp

from treaty.pipeline.sql.keyed_subqueries import held_subqueries
from treaty.pipeline.sql.reading import Query
from treaty.pipeline.sql.relations import Combined, Kind, Place, Relation, Renamed, Rows, Select, Source, Table, Unknown
from treaty.pipeline.sql.standing import Equal, Held, Home, Spreads, Standing, joined
from treaty.pipeline.sql.values import Meaning, conjuncts

OfPlaces = Standing[Place]
OfNumbers = Standing[int]
_EVERYWHERE: OfNumbers = Standing(Home.EVERYWHERE)


class Keying:
    """Finds how relations stand to the key, each once."""

    def __init__(self, query: Query, keys: Mapping[str, tuple[str, ...]], words: str) -> None:
        self.query = query
        self.keys = keys
        self.words = words
        self.meaning = Meaning(query.names)
        self._known: dict[int, OfNumbers] = {}

    def relation(self, relation: Relation) -> OfNumbers:
        """Return how the rows of a relation that stands by itself stand to the key."""
        if id(relation) not in self._known:
            self._known[id(relation)] = self._found(relation)
        return self._known[id(relation)]

    def inside(self, relation: Relation, around: OfPlaces) -> OfNumbers:
        """Return how the rows of a query stand that sees the row around it."""
        if isinstance(relation, Select):
            return self._select(relation, around)
        if isinstance(relation, Renamed) and relation.limit is None:
            return self.inside(relation.query, around)
        return self.relation(relation)

    def _found(self, relation: Relation) -> OfNumbers:
        if isinstance(relation, Table):
            return self._table(relation)
        if isinstance(relation, (Rows, Unknown)):
            return _EVERYWHERE
        if isinstance(relation, Renamed):
            found = self.relation(relation.query)
            if relation.limit is not None and found.home is not Home.EVERYWHERE:
                raise Spreads("it has a LIMIT or OFFSET, which counts rows of all keys")
            return found
        return self._combined(relation) if isinstance(relation, Combined) else self._select(relation, None)

    def _table(self, table: Table) -> OfNumbers:
        columns = self.keys.get(table.name.lower())
        if columns is None:
            return _EVERYWHERE
        names = [column.name.lower() for column in table.columns]
        places = [names.index(column.lower()) if column.lower() in names else None for column in columns]
        if None in places:
            raise Spreads(f"{table.name} has no {', '.join(columns)}")
        return Standing(Home.ONE_KEY, tuple(_exactly(place) for place in places if place is not None))

    def _combined(self, relation: Combined) -> OfNumbers:
        left, right = self.relation(relation.left), self.relation(relation.right)
        if left.home is right.home is Home.EVERYWHERE and not _is_cut(relation.node):
            return left
        words = relation.node.key.upper()
        if left.home is not right.home:
            raise Spreads(f"its {words} puts rows without a key beside rows of a key")
        if _is_cut(relation.node):
            raise Spreads("it has a LIMIT or OFFSET, which counts rows of all keys")
        key = tuple(_either(one, other) for one, other in zip(left.key, right.key, strict=True))
        is_union_all = isinstance(relation.node, exp.Union) and relation.is_all
        if not is_union_all and not all(held.covers for held in key):
            raise Spreads(f"its {words} compares rows without {self.words} at the same place on both sides")
        return Standing(Home.ONE_KEY, key)

    def _select(self, select: Select, around: OfPlaces | None) -> OfNumbers:
        rows = self._rows(select, around)
        held_subqueries(self, select, rows)
        if rows.home is Home.ONE_KEY:
            self._refuse_mixing(select, rows)
        if _is_cut(select.node) and rows.home is not Home.EVERYWHERE:
            raise Spreads("it has a LIMIT or OFFSET, which counts rows of all keys")
        found = Standing(rows.home, tuple(self._outputs(select, held) for held in rows.key))
        if (
            select.node.args.get("distinct")
            and rows.home is Home.ONE_KEY
            and not all(held.covers for held in found.key)
        ):
            raise Spreads(f"its DISTINCT compares rows without {self.words}")
        return found

    def _rows(self, select: Select, around: OfPlaces | None) -> OfPlaces:
        """Return how the rows stand that FROM and WHERE leave."""
        where = select.node.args.get("where")
        found = list(self._equal(where.this)) if where is not None else []
        is_inner = all(join.kind is Kind.INNER for join in select.joins)
        everywhere = found + [pair for join in select.joins for pair in self._equal(join.on)] if is_inner else []
        if select.first is None:
            return Standing(Home.EVERYWHERE)
        rows = _held_to(self._source(select.first), around, everywhere)
        seen = select.first.alias
        for join in select.joins:
            if join.on is not None and join.on.find(exp.Query):
                raise Spreads("it has a query inside the condition of a join")
            right = _held_to(self._source(join.source), around, everywhere)
            shared = [Equal(frozenset(left), frozenset({place})) for left, place in join.shared]
            equal = [*self._equal(join.on), *shared, *everywhere]
            rows = joined(rows, right, join.kind, equal, (seen, join.source.alias), self.words)
            seen = join.source.alias if rows.home is Home.EVERYWHERE else seen
        return _held_to(rows, around, found)

    def _source(self, source: Source) -> OfPlaces:
        standing = self.relation(source.relation)
        return Standing(standing.home, tuple(_placed(source, held) for held in standing.key))

    def _equal(self, condition: exp.Expr | None) -> Iterator[Equal[Place]]:
        for item in conjuncts(condition):
            if isinstance(item, (exp.EQ, exp.NullSafeEQ)):
                one, other = self.meaning.first_of(item.this), self.meaning.first_of(item.expression)
                if one and other:
                    yield Equal(one, other, isinstance(item, exp.NullSafeEQ))

    def _refuse_mixing(self, select: Select, rows: OfPlaces) -> None:
        """Refuse what looks at rows of several keys: groups and windows without the key, and totals."""
        group = select.node.args.get("group")
        if group is not None:
            if any(group.args.get(part) for part in ("grouping_sets", "cube", "rollup", "totals", "all")):
                raise Spreads("it groups by more than one set of columns, or by ALL")
            by = [self.meaning.first_of(item) for item in select.groups]
            if not all(any(held.is_by(one) for one in by) for held in rows.key):
                raise Spreads(f"its GROUP BY does not have {self.words} of each row")
        elif self.meaning.has_aggregate(select):
            raise Spreads(f"it has an aggregate without GROUP BY {self.words}")
        for window in self.meaning.windows(select):
            by = [self.meaning.first_of(item) for item in window.args.get("partition_by") or ()]
            if not all(any(held.is_by(one) for one in by) for held in rows.key):
                raise Spreads(f"a window is not PARTITION BY {self.words}")

    def _outputs(self, select: Select, held: Held[Place]) -> Held[int]:
        """Return which outputs hold a column of the key."""
        values = {number: self.meaning.first_of(output.value) for number, output in enumerate(select.outputs)}
        maybe = frozenset(number for number, value in values.items() if held.may_be_by(value))
        single = {frozenset({number}) for number in maybe if held.is_by(values[number])}
        for cover in held.covers:
            parts = [next((n for n in maybe if values[n] == frozenset({place})), None) for place in cover]
            if None not in parts:
                single.add(frozenset(part for part in parts if part is not None))
        return Held(maybe, frozenset(single))


def _exactly(number: int) -> Held[int]:
    alone = frozenset({number})
    return Held(alone, frozenset({alone}))


def _placed(source: Source, held: Held[int]) -> Held[Place]:
    def places(numbers: frozenset[int]) -> frozenset[Place]:
        return frozenset((source, number) for number in numbers)

    return Held(places(held.maybe), frozenset(map(places, held.covers)))


def _either(left: Held[int], right: Held[int]) -> Held[int]:
    """Return what holds the key on both sides of a set operation."""
    return Held(left.maybe & right.maybe, left.covers & right.covers)


def _held_to(rows: OfPlaces, around: OfPlaces | None, equal: list[Equal[Place]]) -> OfPlaces:
    """Return rows as held to the key of the row around the query, where a condition says so."""
    if around is None or rows.home is not Home.ONE_KEY or around.home is Home.EVERYWHERE:
        return rows
    try:
        joined(rows, around, Kind.SEMI, equal, ("", ""), "")
    except Spreads:
        return rows
    return Standing(Home.AROUND, rows.key)


def _is_cut(node: exp.Expr) -> bool:
    return bool(node.args.get("limit") or node.args.get("offset"))
