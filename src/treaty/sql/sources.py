"""Resolve FROM: tables, derived tables, joins and lateral views."""

from __future__ import annotations

from sqlglot import exp

from treaty.sql.column_types import Column
from treaty.sql.dialect import words
from treaty.sql.relations import (
    JOIN_KINDS,
    RIGHT_HIDING_JOINS,
    ComputedRows,
    Join,
    JoinKind,
    Place,
    Relation,
    RenamedQuery,
    Source,
    UnknownTable,
    is_known,
)
from treaty.sql.scopes import QueryScope, Resolver, resolve_expression, suggest_name

_PARTS: dict[type[exp.Expr], frozenset[str]] = {
    exp.Table: words("this alias db catalog"),
    exp.Subquery: words("this alias with_ order limit offset"),
    exp.Values: words("expressions alias"),
    exp.Join: words("this on side kind using method"),
    exp.Lateral: words("this view outer alias"),
}
_MADE = {
    "explode": ("col",),
    "explode_outer": ("col",),
    "posexplode": ("pos", "col"),
    "posexplode_outer": ("pos", "col"),
}


def resolve_from(
    reading: Resolver, node: exp.Select, frame: QueryScope
) -> tuple[Source | None, tuple[Join, ...], tuple[Source, ...]]:
    """Resolve FROM, the joins and the lateral views of a SELECT, and add them to its scope."""
    clause = node.args.get("from_")
    first = _source(reading, clause.this, frame) if clause is not None else None
    if first is not None:
        frame.add(first)
    joins = tuple(_join(reading, item, frame) for item in node.args.get("joins") or ())
    laterals = tuple(_lateral(reading, item, frame) for item in node.args.get("laterals") or ())
    return first, joins, laterals


def _understood(reading: Resolver, node: exp.Expr) -> None:
    known = next((parts for kind, parts in _PARTS.items() if isinstance(node, kind)), frozenset())
    for part, value in node.args.items():
        if value and part not in known:
            words = part.strip("_").upper()
            reading.problem("sql-unsupported", f"{words} is not supported", "read the table as it is", node)


def _source(reading: Resolver, node: exp.Expr, frame: QueryScope) -> Source:
    _understood(reading, node)
    alias = node.args.get("alias")
    if isinstance(node, exp.Table):
        relation, name = _table(reading, node, frame)
    elif isinstance(node, exp.Subquery):
        relation, name = reading.read_query(reading, node, QueryScope(None, frame.ctes)), ""
    elif isinstance(node, exp.Values):
        relation, name = _values(reading, node, frame), ""
    else:
        reading.problem("sql-table", "this is not a table", "read a declared input, or a query in parentheses", node)
        relation, name = UnknownTable(), ""
    called = alias.name if alias is not None else ""
    if not isinstance(node, exp.Values):
        relation = rename_columns(reading, relation, alias)
    return Source((called or name).lower(), relation, relation.columns)


def rename_columns(reading: Resolver, query: Relation, alias: exp.Expr | None) -> Relation:
    """Return a query with the column names of its alias."""
    names = [item.name for item in alias.args.get("columns") or ()] if alias is not None else []
    if not names:
        return query
    if len(names) != len(query.columns):
        what = f"{len(names)} names are given to {len(query.columns)} columns"
        reading.problem("sql-column", what, "name every column", alias)
    columns = [Column(name, column.type) for name, column in zip(names, query.columns, strict=False)]
    return RenamedQuery(query, tuple(columns))


def _table(reading: Resolver, node: exp.Table, frame: QueryScope) -> tuple[Relation, str]:
    parts = [node.args.get(part) for part in ("catalog", "db", "this")]
    names = [part.name for part in parts if isinstance(part, exp.Identifier)]
    if len(names) != sum(part is not None for part in parts):
        what = "rows are read from a function"
        reading.problem("sql-table", what, "read a declared input, or use LATERAL VIEW", node)
        return UnknownTable(), ""
    if len(names) == 1:
        name = names[0].lower()
        if name in frame.ctes:
            return frame.ctes[name], name
        if name in reading.tables:
            reading.used[name] = None
            return reading.tables[name], name
    called = ".".join(names)
    known = [*reading.tables, *frame.ctes]
    near = suggest_name(called, known) or f"declared are: {', '.join(reading.tables) or 'none'}"
    reading.problem("sql-table", f"{called} is not a declared input", near, node)
    return UnknownTable(), names[-1].lower()


def _values(reading: Resolver, node: exp.Values, frame: QueryScope) -> ComputedRows:
    rows = [item.expressions if isinstance(item, exp.Tuple) else [item] for item in node.expressions]
    for row in rows:
        for item in row:
            resolve_expression(reading, item, QueryScope(None, frame.ctes))
    alias = node.args.get("alias")
    given = [item.name for item in alias.args.get("columns") or ()] if alias is not None else []
    names = given or [f"col{number + 1}" for number in range(len(rows[0]) if rows else 0)]
    return ComputedRows(tuple(Column(name) for name in names))


def _join(reading: Resolver, node: exp.Join, frame: QueryScope) -> Join:
    _understood(reading, node)
    source = _source(reading, node.this, frame)
    side, kind = (str(node.args.get(part) or "").upper() for part in ("side", "kind"))
    found = JOIN_KINDS.get((side, kind))
    if found is None:
        reading.problem("sql-unsupported", f"{side} {kind} JOIN is not supported", "use an ordinary join", node)
        found = JoinKind.INNER
    names = _shared_names(reading, node, frame, source)
    shared = tuple(_shared(reading, node, frame, source, name) for name in names)
    if node.args.get("on") is not None:
        resolve_expression(reading, node.args["on"], frame.with_source(source))
    if found not in RIGHT_HIDING_JOINS:
        _lay_out(frame, source, found, names, [pair for pair in shared if pair])
    return Join(source, found, node.args.get("on"), tuple(pair for pair in shared if pair), node)


def _shared_names(reading: Resolver, node: exp.Join, frame: QueryScope, source: Source) -> list[str]:
    if str(node.args.get("method") or "").upper() == "NATURAL":
        mine = {column.name.lower() for column in source.columns}
        return [name.lower() for name, _ in frame.layout if name.lower() in mine]
    if node.args.get("method"):
        reading.problem("sql-unsupported", f"{node.args['method']} JOIN is not supported", "use ON", node)
    return [item.name.lower() for item in node.args.get("using") or ()]


def _shared(
    reading: Resolver, node: exp.Join, frame: QueryScope, source: Source, name: str
) -> tuple[tuple[Place, ...], Place] | None:
    left = [places for one, places in frame.layout if one.lower() == name]
    right = [number for number, column in enumerate(source.columns) if column.name.lower() == name]
    if (len(left) != 1 or len(right) != 1) and frame.is_known and is_known(source.relation):
        what = f"{name} is not exactly one column on each side of the join"
        reading.problem("sql-column", what, "write ON with the names of both tables", node)
    if len(left) != 1 or len(right) != 1:
        return None
    return left[0], (source, right[0])


def _lay_out(
    frame: QueryScope,
    source: Source,
    kind: JoinKind,
    names: list[str],
    shared: list[tuple[tuple[Place, ...], Place]],
) -> None:
    """Order the columns of a join as Spark does: shared columns once and first, then the others of each side."""
    merged: list[tuple[str, tuple[Place, ...]]] = []
    for name, (left, right) in zip(names, shared, strict=False):
        places = {JoinKind.RIGHT: (right,), JoinKind.FULL: (*left, right)}.get(kind, left)
        merged.append((name, places))
    frame.add(source)
    if merged:
        others = [(one, places) for one, places in frame.layout if one.lower() not in names]
        frame.layout[:] = [*merged, *others]


def _lateral(reading: Resolver, node: exp.Lateral, frame: QueryScope) -> Source:
    _understood(reading, node)
    if not node.args.get("view"):
        reading.problem("sql-unsupported", "a lateral query is not supported", "use a join, or LATERAL VIEW", node)
    held = resolve_expression(reading, node.this, frame)
    alias = node.args.get("alias")
    names = [item.name for item in alias.args.get("columns") or ()] if alias is not None else []
    function = node.this.name.lower() if isinstance(node.this, exp.Anonymous) else ""
    if not names and function not in _MADE:
        reading.problem("sql-column", "the columns of a lateral view have no names", "write … AS a, b", node)
    names = names or list(_MADE.get(function, ()))
    columns = [Column(name, held if number == len(names) - 1 else None) for number, name in enumerate(names)]
    made = ComputedRows(tuple(columns), (node.this,))
    source = Source(alias.name.lower() if alias is not None else "", made, made.columns)
    frame.add(source)
    return source
