"""Columns and what lies inside them: `a`, `t.a`, `a.b`, `a[0].b`, and the variables of lambdas."""

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
    chosen,
    column_name,
    element_of,
    nearest,
    shape_of,
)


@dataclass(frozen=True)
class Reached:
    """What a name leads to; `field` is None where nothing is known of it."""

    sql: str
    field: Field | None = None
    path: FieldPath | None = None


def column_and_source(w: Renderer, node: exp.Column) -> tuple[RuleSource, Field, tuple[str, ...]] | None:
    """Return the source and column that a name means and the steps into it, or None for a variable or an alias."""
    parts = parts_of(w, node)
    if parts[0].lower() in w.variables:
        return None
    for level in w.frame.levels():
        found = _at_level(w, node, parts, level)
        if found:
            if len(parts) == 1 and parts[0].lower() in level.unclear:
                then = "give the result another name, or qualify the column with its table"
                raise w.refuse(node, f"reads {parts[0]!r}, which is both a column and a result", then)
            if level is not w.frame:
                w.notes.outside.append(id(found[0]))
            return found
        if len(parts) == 1 and parts[0].lower() in map(str.lower, level.aliases):
            return None
    fields = [field for level in w.frame.levels() for item in level.sources for field in item.fields]
    known = sorted({name for field in fields for name in (column_name(field), field.name) if name})
    raise w.refuse(node, f"reads {'.'.join(parts)!r}, which is not a column of its tables", nearest(parts[0], known))


def parts_of(w: Renderer, node: exp.Column) -> tuple[str, ...]:
    """Return the names of a column reference, outermost first."""
    parts = [node.args.get(part) for part in ("catalog", "db", "table", "this")]
    given = [part for part in parts if part is not None]
    if not all(isinstance(part, exp.Identifier) for part in given):
        raise w.refuse(node, "selects all columns", "* is allowed only in count(*); name the columns")
    return tuple(part.name for part in given)


def _at_level(
    w: Renderer, node: exp.Column, parts: tuple[str, ...], level: RuleFrame
) -> tuple[RuleSource, Field, tuple[str, ...]] | None:
    for length in range(len(parts) - 1, 0, -1):
        for source in level.sources:
            if source.answers_to(parts[:length]) and (found := chosen(parts[length], source.fields)):
                return source, _only(w, node, parts[length], found), parts[length + 1 :]
    bare = [(source, found) for source in level.sources if (found := chosen(parts[0], source.fields))]
    if len(bare) > 1:
        raise w.refuse(node, f"reads {parts[0]!r}, which several tables have", "qualify it with its table")
    if not bare:
        return None
    source, fields = bare[0]
    return source, _only(w, node, parts[0], fields), parts[1:]


def _only(w: Renderer, node: Any, name: str, found: tuple[Field, ...]) -> Field:
    if len(found) > 1:
        same = ", ".join(column_name(field) for field in found)
        raise w.refuse(node, f"reads {name!r}, which matches several fields", f"Spark cannot distinguish: {same}")
    return found[0]


def _reach(outside: Renderer, node: Any) -> Reached:
    if not isinstance(node, (exp.Column, exp.Dot, exp.Bracket)):
        sql = outside.sql(node)
        return Reached(sql if isinstance(node, exp.Identifier) else f"({sql})")
    outside.known(node)
    w = outside.deeper(node)
    if isinstance(node, exp.Column):
        return _reach_column(w, node)
    if isinstance(node, exp.Dot):
        if not isinstance(node.expression, exp.Identifier):
            raise w.refuse(node, "calls a qualified function", "use the plain name of a function")
        return _step(w, node, _reach(w, node.this), node.expression.name)
    return _element(w, node, _reach(w, node.this))


def _reach_column(w: Renderer, node: exp.Column) -> Reached:
    found = column_and_source(w, node)
    if found is None:
        first, *rest = parts_of(w, node)
        reached = Reached(_variable(w, node, first) if first.lower() in w.variables else w.name(node, first))
    else:
        if w.must_aggregate:
            raise w.refuse(node, "reads a column next to an aggregate", "put it inside one, such as max(…)")
        source, field, steps = found
        name, rest = column_name(field), list(steps)
        _grown(w, node, name, is_grown=name in source.grown)
        if source.object is w.notes.scope.object:
            w.notes.columns[name] = None
        path = FieldPath(object=_owner(w, source)).field(field.name or name) if source.object is not None else None
        sql = w.name(node, name)
        reached = Reached(sql if source.alias is None else f"{w.name(node, source.alias)}.{sql}", field, path)
    for step in rest:
        reached = _step(w, node, reached, step)
    return reached


def _owner(w: Renderer, source: RuleSource) -> str | None:
    return source.object.name if source.object is not None and source.object is not w.notes.scope.object else None


def _step(w: Renderer, node: Any, at: Reached, name: str) -> Reached:
    """Step into a field by name; an array of objects gives an array, a map its value."""
    sql = f"{at.sql}.{w.name(node, name)}"
    shape = shape_of(at.field)
    if shape is Shape.UNKNOWN:
        return Reached(sql, None, at.path.field(name) if at.path else None)
    if shape is Shape.ENTRIES:
        return Reached(sql, *element_of(at.field, at.path))
    if shape is Shape.ELEMENTS:
        return _step(w, node, Reached(at.sql, *element_of(at.field, at.path)), name)
    inside = (at.field.properties or ()) if at.field is not None else ()
    known = [column_name(item) for item in inside]
    found = chosen(name, inside)
    if not found:
        what = f"reads {name!r} inside {at.sql}, which has no such field"
        raise w.refuse(node, what, nearest(name, known))
    field = _only(w, node, name, found)
    path = at.path.field(field.name or name) if at.path else None
    return Reached(f"{at.sql}.{w.name(node, column_name(field))}", field, path)


def _element(w: Renderer, node: exp.Bracket, at: Reached) -> Reached:
    shape = shape_of(at.field)
    if len(node.expressions) != 1 or shape in (Shape.NOTHING, Shape.FIELDS):
        raise w.refuse(
            node, "has [ ] after something that is not a list or map", "write list[0], map['key'] or object.field"
        )
    index = node.expressions[0]
    is_entry = shape is Shape.ENTRIES or (shape is Shape.UNKNOWN and isinstance(index, exp.Literal) and index.is_string)
    place = w.inside(is_growing=False).sql(index)
    return Reached(f"{at.sql}[{place}]" if is_entry else f"get({at.sql}, {place})", *element_of(at.field, at.path))


def _variable(w: Renderer, node: Any, name: str) -> str:
    if name.lower() not in w.variables:
        raise w.refuse(
            node, f"has the name {name!r} where it is not allowed", "use a column or a variable of the lambda"
        )
    _grown(w, node, name, is_grown=w.variables[name.lower()])
    return w.name(node, name)


def _grown(w: Renderer, node: Any, name: str, *, is_grown: bool) -> None:
    """Refuse to build something larger from what was built already: a few such steps would fill any memory."""
    if is_grown and w.is_growing:
        raise w.refuse(
            node,
            f"builds a text or list from {name!r}, which is built from other values itself",
            "build it in one step",
        )
    w.notes.growth += is_grown


def field_of(w: Renderer, node: Any) -> Field | None:
    """Return the field that a node reads, where a plain path leads to it."""
    if not isinstance(node, (exp.Column, exp.Dot, exp.Bracket)):
        return None
    is_plain = all(
        isinstance(item, (exp.Column, exp.Dot, exp.Bracket, exp.Identifier, exp.Literal)) for item in node.walk()
    )
    return _reach(w, node).field if is_plain else None


def _path(w: Renderer, node: exp.Column | exp.Dot | exp.Bracket) -> str:
    reached = _reach(w, node)
    if reached.path is not None:
        w.notes.paths.add(reached.path)
    return reached.sql


def _all_columns(w: Renderer, node: exp.Star) -> str:
    raise w.refuse(node, "selects all columns", "* is allowed only in count(*); name the columns")


def _identifier(w: Renderer, node: exp.Identifier) -> str:
    return _variable(w, node, node.name)


COLUMN_RENDERERS: dict[type[exp.Expr], NodeRenderer] = {
    exp.Column: node_renderer(_path, "this table db catalog"),
    exp.Dot: node_renderer(_path, "this expression"),
    exp.Bracket: node_renderer(_path, "this expressions"),
    exp.Identifier: node_renderer(_identifier, "this quoted"),
    exp.Star: node_renderer(_all_columns),
}
