"""A column of a CREATE TABLE as a field of a contract, and what its constraints say."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from sqlglot import exp

from treaty.contracts.model import Field
from treaty.contracts.values import FrozenMap
from treaty.formats.sql.checks import checked_by
from treaty.formats.sql.literals import literal
from treaty.formats.sql.types import field_of

Lose = Callable[[str, str, str], None]
"""Notes a loss: field, what, why."""


def column(node: exp.ColumnDef, dialect: str, lose: Lose | None = None) -> Field:
    """Read a column, or a member of a struct."""
    kind = node.args.get("kind")
    field = field_of(kind, dialect) if isinstance(kind, exp.DataType) else Field()
    field = replace(field, name=node.name)
    for constraint in node.args.get("constraints") or ():
        field = constrained(field, constraint.args.get("kind"), dialect, lose)
    return field


def constrained(field: Field, kind: Any, dialect: str, lose: Lose | None = None) -> Field:
    """Return the field under one constraint."""
    match kind:
        case exp.NotNullColumnConstraint():
            return field if kind.args.get("allow_null") else replace(field, required=True)
        case exp.PrimaryKeyColumnConstraint():
            return replace(field, primary_key=True)
        case exp.UniqueColumnConstraint():
            return replace(field, unique=True)
        case exp.CommentColumnConstraint():
            return replace(field, description=kind.name or None)
        case exp.Properties():
            texts = [one.args["value"].name for one in kind.expressions if one.name.lower() == "description"]
            return replace(field, description=texts[0] or None) if texts else field
        case exp.DefaultColumnConstraint():
            return _defaulted(field, kind, dialect, lose)
        case exp.CheckColumnConstraint():
            narrowed = checked_by(field, kind.this)
            if narrowed is None and lose:
                lose(field.name or "", f"CHECK ({kind.this.sql(dialect=dialect)})", "a contract has no such rule")
            return narrowed or field
        case exp.Reference():
            return referring(field, kind, lose)
        case _:
            if lose and kind is not None:
                lose(field.name or "", kind.sql(dialect=dialect), "a contract does not say how values come about")
            return field


def referring(field: Field, reference: exp.Reference, lose: Lose | None) -> Field:
    """Return the field as referring to another table's column."""
    target = reference.this
    table = target.find(exp.Table) if target is not None else None
    columns = [one.name for one in target.expressions] if isinstance(target, exp.Schema) else []
    if table is None or len(columns) != 1 or not is_reference(to := f"{table.name}.{columns[0]}"):
        if lose:
            lose(field.name or "", reference.sql(), "a contract refers to one named column")
        return field
    relation = FrozenMap({"type": "foreignKey", "to": to})
    return replace(field, relationships=(*(field.relationships or ()), relation))


def is_reference(text: str) -> bool:
    """Tell whether ODCS can write a reference so."""
    return all(part.replace("_", "a").isalnum() and part.isascii() for part in text.split("."))


def _defaulted(field: Field, kind: exp.DefaultColumnConstraint, dialect: str, lose: Lose | None) -> Field:
    known, value = literal(kind.this)
    if not known:
        if lose:
            lose(field.name or "", f"default {kind.this.sql(dialect=dialect)}", "a contract's default is a value")
        return field
    entry = FrozenMap({"property": "default", "value": value})
    return field if value is None else replace(field, custom_properties=(*(field.custom_properties or ()), entry))
