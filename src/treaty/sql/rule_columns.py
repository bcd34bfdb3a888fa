"""Resolve and render columns and fields in rules: `a`, `t.a`, `a.b`, `a[0].b`, and lambda variables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from sqlglot import exp

from treaty.contracts.model import Field
from treaty.contracts.paths import ITEMS, MAP_VALUES, FieldPath
from treaty.errors import InvalidDocument
from treaty.sql.rule_renderer import NodeRenderer, Renderer, node_renderer
from treaty.sql.scopes import AmbiguousName, ColumnMatch, RuleColumn, RuleSource, column_name, matching_fields
from treaty.suggestions import similar_names

_MAX_SUGGESTED_FIELDS = 8


class Shape(Enum):
    """What can be inside a value."""

    FIELDS = "fields"
    ELEMENTS = "elements"
    ENTRIES = "entries"
    NOTHING = "nothing"
    UNKNOWN = "unknown"


_SHAPES = {"object": Shape.UNKNOWN, "array": Shape.ELEMENTS, "vector": Shape.ELEMENTS, "map": Shape.ENTRIES}


@dataclass(frozen=True)
class ResolvedPath:
    """A resolved column or field; `field` is None where the contract does not describe it."""

    sql: str
    field: Field | None = None
    path: FieldPath | None = None


def resolve_column(r: Renderer, node: exp.Column) -> ColumnMatch[RuleColumn] | None:
    """Return the column and the steps into it; None for a lambda variable or the alias of a result."""
    parts = name_parts(r, node)
    if parts[0].lower() in r.variables:
        return None
    try:
        resolved = r.scope.resolve(parts)
    except AmbiguousName as error:
        raise _ambiguous(r, node, error.name, error.columns) from None
    if resolved is None:
        fields = [field for level in r.scope.levels() for source in level.sources for field in source.fields]
        known = sorted({name for field in fields for name in (column_name(field), field.name) if name})
        what = f"reads {'.'.join(parts)!r}, which is not a column of its tables"
        raise r.refuse(node, what, suggest_fields(parts[0], known))
    level, match = resolved
    if isinstance(match, str):
        return None
    if len(parts) == 1 and parts[0].lower() in level.unclear:
        then = "give the result another name, or qualify the column with its table"
        raise r.refuse(node, f"reads {parts[0]!r}, which is both a column and a result", then)
    if level is not r.scope:
        r.facts.outside.append(id(match.column[0]))
    return match


def _ambiguous(r: Renderer, node: exp.Expr, name: str, columns: Sequence[RuleColumn]) -> InvalidDocument:
    if len({id(source) for source, _ in columns}) > 1:
        return r.refuse(node, f"reads {name!r}, which several tables have", "qualify it with its table")
    same = ", ".join(column_name(field) for _, field in columns)
    return r.refuse(node, f"reads {name!r}, which matches several fields", f"Spark cannot distinguish: {same}")


def name_parts(r: Renderer, node: exp.Column) -> tuple[str, ...]:
    """Return the parts of a column reference, outermost first."""
    parts = [node.args.get(part) for part in ("catalog", "db", "table", "this")]
    given = [part for part in parts if part is not None]
    if not all(isinstance(part, exp.Identifier) for part in given):
        raise r.refuse(node, "selects all columns", "* is allowed only in count(*); name the columns")
    return tuple(part.name for part in given)


def _resolve_path(outside: Renderer, node: Any) -> ResolvedPath:
    if not isinstance(node, (exp.Column, exp.Dot, exp.Bracket)):
        sql = outside.sql(node)
        return ResolvedPath(sql if isinstance(node, exp.Identifier) else f"({sql})")
    outside.known(node)
    r = outside.deeper(node)
    if isinstance(node, exp.Column):
        return _resolve_column_path(r, node)
    if isinstance(node, exp.Dot):
        if not isinstance(node.expression, exp.Identifier):
            raise r.refuse(node, "calls a qualified function", "use the plain name of a function")
        return _step(r, node, _resolve_path(r, node.this), node.expression.name)
    return _element(r, node, _resolve_path(r, node.this))


def _resolve_column_path(r: Renderer, node: exp.Column) -> ResolvedPath:
    match = resolve_column(r, node)
    if match is None:
        first, *rest = name_parts(r, node)
        resolved = ResolvedPath(_variable(r, node, first) if first.lower() in r.variables else r.name(node, first))
    else:
        if r.must_aggregate:
            raise r.refuse(node, "reads a column next to an aggregate", "put it inside one, such as max(…)")
        source, field = match.column
        name, rest = column_name(field), list(match.steps)
        _note_growth(r, node, name, is_grown=name in source.grown)
        if source.object is r.facts.target.object:
            r.facts.columns[name] = None
        path = (
            FieldPath(object=_object_name(r, source)).field(field.name or name) if source.object is not None else None
        )
        sql = r.name(node, name)
        resolved = ResolvedPath(sql if source.alias is None else f"{r.name(node, source.alias)}.{sql}", field, path)
    for step in rest:
        resolved = _step(r, node, resolved, step)
    return resolved


def _object_name(r: Renderer, source: RuleSource) -> str | None:
    return source.object.name if source.object is not None and source.object is not r.facts.target.object else None


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
    matches = matching_fields(name, inside)
    if not matches:
        what = f"reads {name!r} inside {at.sql}, which has no such field"
        raise r.refuse(node, what, suggest_fields(name, [column_name(field) for field in inside]))
    if len(matches) > 1:
        same = ", ".join(column_name(field) for field in matches)
        raise r.refuse(node, f"reads {name!r}, which matches several fields", f"Spark cannot distinguish: {same}")
    field = matches[0]
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
    _note_growth(r, node, name, is_grown=r.variables[name.lower()])
    return r.name(node, name)


def _note_growth(r: Renderer, node: Any, name: str, *, is_grown: bool) -> None:
    """Refuse to concatenate a value that is concatenated itself: a few such steps would exhaust the memory."""
    if is_grown and r.is_growing:
        raise r.refuse(
            node,
            f"builds a text or list from {name!r}, which is built from other values itself",
            "build it in one step",
        )
    r.facts.growth += is_grown


def find_field(r: Renderer, node: Any) -> Field | None:
    """Return the field that a node refers to, if it is a plain path."""
    if not isinstance(node, (exp.Column, exp.Dot, exp.Bracket)):
        return None
    is_plain = all(
        isinstance(part, (exp.Column, exp.Dot, exp.Bracket, exp.Identifier, exp.Literal)) for part in node.walk()
    )
    return _resolve_path(r, node).field if is_plain else None


def _path(r: Renderer, node: exp.Column | exp.Dot | exp.Bracket) -> str:
    resolved = _resolve_path(r, node)
    if resolved.path is not None:
        r.facts.paths.add(resolved.path)
    return resolved.sql


def _all_columns(r: Renderer, node: exp.Star) -> str:
    raise r.refuse(node, "selects all columns", "* is allowed only in count(*); name the columns")


def _identifier(r: Renderer, node: exp.Identifier) -> str:
    return _variable(r, node, node.name)


def shape_of(field: Field | None) -> Shape:
    """Return what can be inside a field's value."""
    if field is None:
        return Shape.UNKNOWN
    if field.properties:
        return Shape.FIELDS
    if field.items is not None:
        return Shape.ELEMENTS
    if field.map_value is not None:
        return Shape.ENTRIES
    return Shape.UNKNOWN if field.type is None else _SHAPES.get(field.type.name, Shape.NOTHING)


def element_of(field: Field | None, path: FieldPath | None) -> tuple[Field | None, FieldPath | None]:
    """Return the element or map value of a field, and its path."""
    inside = (field.items or field.map_value) if field is not None else None
    mark = MAP_VALUES if field is not None and shape_of(field) is Shape.ENTRIES else ITEMS
    return inside, path.into(mark) if path is not None else None


def suggest_fields(name: str, known: Sequence[str]) -> str:
    """List the closest names."""
    close = similar_names(name, known) or list(known)[:_MAX_SUGGESTED_FIELDS]
    return f"it has: {', '.join(close)}" if close else "it has no fields"


COLUMN_RENDERERS: dict[type[exp.Expr], NodeRenderer] = {
    exp.Column: node_renderer(_path, "this table db catalog"),
    exp.Dot: node_renderer(_path, "this expression"),
    exp.Bracket: node_renderer(_path, "this expressions"),
    exp.Identifier: node_renderer(_identifier, "this quoted"),
    exp.Star: node_renderer(_all_columns),
}
