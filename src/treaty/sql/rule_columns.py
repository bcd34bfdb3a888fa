"""Resolve and render columns and fields in rules: `a`, `t.a`, `a.b`, `a[0].b`, and lambda variables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from treaty.contracts.model import Field
from treaty.contracts.paths import FieldPath
from treaty.sql.rendering import NodeRenderer, Renderer, node_renderer
from treaty.sql.rule_scopes import (
    RuleFrame,
    RuleSource,
    Shape,
    column_name,
    element_of,
    matching_fields,
    shape_of,
    suggest_fields,
)


@dataclass(frozen=True)
class ResolvedPath:
    """A resolved column or field; `field` is None where the contract does not describe it."""

    sql: str
    field: Field | None = None
    path: FieldPath | None = None


def resolve_column(r: Renderer, node: exp.Column) -> tuple[RuleSource, Field, tuple[str, ...]] | None:
    """Return the source, the column and the steps into it; None for a lambda variable or an alias."""
    parts = name_parts(r, node)
    if parts[0].lower() in r.variables:
        return None
    for level in r.frame.levels():
        found = _at_level(r, node, parts, level)
        if found:
            if len(parts) == 1 and parts[0].lower() in level.unclear:
                then = "give the result another name, or qualify the column with its table"
                raise r.refuse(node, f"reads {parts[0]!r}, which is both a column and a result", then)
            if level is not r.frame:
                r.notes.outside.append(id(found[0]))
            return found
        if len(parts) == 1 and parts[0].lower() in map(str.lower, level.aliases):
            return None
    fields = [field for level in r.frame.levels() for item in level.sources for field in item.fields]
    known = sorted({name for field in fields for name in (column_name(field), field.name) if name})
    raise r.refuse(
        node, f"reads {'.'.join(parts)!r}, which is not a column of its tables", suggest_fields(parts[0], known)
    )


def name_parts(r: Renderer, node: exp.Column) -> tuple[str, ...]:
    """Return the parts of a column reference, outermost first."""
    parts = [node.args.get(part) for part in ("catalog", "db", "table", "this")]
    given = [part for part in parts if part is not None]
    if not all(isinstance(part, exp.Identifier) for part in given):
        raise r.refuse(node, "selects all columns", "* is allowed only in count(*); name the columns")
    return tuple(part.name for part in given)


def _at_level(
    r: Renderer, node: exp.Column, parts: tuple[str, ...], level: RuleFrame
) -> tuple[RuleSource, Field, tuple[str, ...]] | None:
    for length in range(len(parts) - 1, 0, -1):
        for source in level.sources:
            if source.answers_to(parts[:length]) and (found := matching_fields(parts[length], source.fields)):
                return source, _only(r, node, parts[length], found), parts[length + 1 :]
    bare = [(source, found) for source in level.sources if (found := matching_fields(parts[0], source.fields))]
    if len(bare) > 1:
        raise r.refuse(node, f"reads {parts[0]!r}, which several tables have", "qualify it with its table")
    if not bare:
        return None
    source, fields = bare[0]
    return source, _only(r, node, parts[0], fields), parts[1:]


def _only(r: Renderer, node: Any, name: str, found: tuple[Field, ...]) -> Field:
    if len(found) > 1:
        same = ", ".join(column_name(field) for field in found)
        raise r.refuse(node, f"reads {name!r}, which matches several fields", f"Spark cannot distinguish: {same}")
    return found[0]


def _reach(outside: Renderer, node: Any) -> ResolvedPath:
    if not isinstance(node, (exp.Column, exp.Dot, exp.Bracket)):
        sql = outside.sql(node)
        return ResolvedPath(sql if isinstance(node, exp.Identifier) else f"({sql})")
    outside.known(node)
    r = outside.deeper(node)
    if isinstance(node, exp.Column):
        return _reach_column(r, node)
    if isinstance(node, exp.Dot):
        if not isinstance(node.expression, exp.Identifier):
            raise r.refuse(node, "calls a qualified function", "use the plain name of a function")
        return _step(r, node, _reach(r, node.this), node.expression.name)
    return _element(r, node, _reach(r, node.this))


def _reach_column(r: Renderer, node: exp.Column) -> ResolvedPath:
    found = resolve_column(r, node)
    if found is None:
        first, *rest = name_parts(r, node)
        reached = ResolvedPath(_variable(r, node, first) if first.lower() in r.variables else r.name(node, first))
    else:
        if r.must_aggregate:
            raise r.refuse(node, "reads a column next to an aggregate", "put it inside one, such as max(…)")
        source, field, steps = found
        name, rest = column_name(field), list(steps)
        _grown(r, node, name, is_grown=name in source.grown)
        if source.object is r.notes.scope.object:
            r.notes.columns[name] = None
        path = FieldPath(object=_owner(r, source)).field(field.name or name) if source.object is not None else None
        sql = r.name(node, name)
        reached = ResolvedPath(sql if source.alias is None else f"{r.name(node, source.alias)}.{sql}", field, path)
    for step in rest:
        reached = _step(r, node, reached, step)
    return reached


def _owner(r: Renderer, source: RuleSource) -> str | None:
    return source.object.name if source.object is not None and source.object is not r.notes.scope.object else None


def _step(r: Renderer, node: Any, at: ResolvedPath, name: str) -> ResolvedPath:
    """Step into a field by name; an array of objects gives an array, a map gives its value."""
    sql = f"{at.sql}.{r.name(node, name)}"
    shape = shape_of(at.field)
    if shape is Shape.UNKNOWN:
        return ResolvedPath(sql, None, at.path.field(name) if at.path else None)
    if shape is Shape.ENTRIES:
        return ResolvedPath(sql, *element_of(at.field, at.path))
    if shape is Shape.ELEMENTS:
        return _step(r, node, ResolvedPath(at.sql, *element_of(at.field, at.path)), name)
    inside = (at.field.properties or ()) if at.field is not None else ()
    known = [column_name(item) for item in inside]
    found = matching_fields(name, inside)
    if not found:
        what = f"reads {name!r} inside {at.sql}, which has no such field"
        raise r.refuse(node, what, suggest_fields(name, known))
    field = _only(r, node, name, found)
    path = at.path.field(field.name or name) if at.path else None
    return ResolvedPath(f"{at.sql}.{r.name(node, column_name(field))}", field, path)


def _element(r: Renderer, node: exp.Bracket, at: ResolvedPath) -> ResolvedPath:
    shape = shape_of(at.field)
    if len(node.expressions) != 1 or shape in (Shape.NOTHING, Shape.FIELDS):
        raise r.refuse(
            node, "has [ ] after something that is not a list or map", "write list[0], map['key'] or object.field"
        )
    index = node.expressions[0]
    is_entry = shape is Shape.ENTRIES or (shape is Shape.UNKNOWN and isinstance(index, exp.Literal) and index.is_string)
    place = r.inside(is_growing=False).sql(index)
    return ResolvedPath(f"{at.sql}[{place}]" if is_entry else f"get({at.sql}, {place})", *element_of(at.field, at.path))


def _variable(r: Renderer, node: Any, name: str) -> str:
    if name.lower() not in r.variables:
        raise r.refuse(
            node, f"has the name {name!r} where it is not allowed", "use a column or a variable of the lambda"
        )
    _grown(r, node, name, is_grown=r.variables[name.lower()])
    return r.name(node, name)


def _grown(r: Renderer, node: Any, name: str, *, is_grown: bool) -> None:
    """Refuse to concatenate a value that is concatenated itself: a few such steps would exhaust the memory."""
    if is_grown and r.is_growing:
        raise r.refuse(
            node,
            f"builds a text or list from {name!r}, which is built from other values itself",
            "build it in one step",
        )
    r.notes.growth += is_grown


def find_field(r: Renderer, node: Any) -> Field | None:
    """Return the field that a node refers to, if it is a plain path."""
    if not isinstance(node, (exp.Column, exp.Dot, exp.Bracket)):
        return None
    is_plain = all(
        isinstance(item, (exp.Column, exp.Dot, exp.Bracket, exp.Identifier, exp.Literal)) for item in node.walk()
    )
    return _reach(r, node).field if is_plain else None


def _path(r: Renderer, node: exp.Column | exp.Dot | exp.Bracket) -> str:
    reached = _reach(r, node)
    if reached.path is not None:
        r.notes.paths.add(reached.path)
    return reached.sql


def _all_columns(r: Renderer, node: exp.Star) -> str:
    raise r.refuse(node, "selects all columns", "* is allowed only in count(*); name the columns")


def _identifier(r: Renderer, node: exp.Identifier) -> str:
    return _variable(r, node, node.name)


COLUMN_RENDERERS: dict[type[exp.Expr], NodeRenderer] = {
    exp.Column: node_renderer(_path, "this table db catalog"),
    exp.Dot: node_renderer(_path, "this expression"),
    exp.Bracket: node_renderer(_path, "this expressions"),
    exp.Identifier: node_renderer(_identifier, "this quoted"),
    exp.Star: node_renderer(_all_columns),
}
