"""Read columns, their constraints and CHECK conditions as fields."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from sqlglot import exp
from sqlglot.errors import SqlglotError

from treaty.contracts.foreign import ForeignConstruct, add_constructs, foreign_constructs_in
from treaty.contracts.model import Field
from treaty.contracts.patterns import PatternCheck
from treaty.contracts.values import EMPTY, FrozenMap
from treaty.formats.sql.types import read_type

ReportLoss = Callable[[str, str, str], None]
"""Records a loss: field, what was lost, and why."""


NO_EQUIVALENT_RULE = "contracts have no equivalent rule"


def render_sql(node: Any, dialect: str) -> str:
    """Return the text of an expression; its kind if sqlglot cannot write it."""
    try:
        text = str(node.sql(dialect=dialect))
    except (ValueError, SqlglotError):
        text = ""
    return text or str(node.key).upper().removesuffix("COLUMNCONSTRAINT")


def _rule(field: Field, text: str) -> ForeignConstruct:
    """Return a CHECK that contracts cannot express as a construct, so that a change of it is detected."""
    count = len(foreign_constructs_in(field.custom_properties))
    return ForeignConstruct("sql", f"check ({count + 1})" if count else "check", text)


def read_column(node: exp.ColumnDef, dialect: str, report_loss: ReportLoss | None = None) -> Field:
    """Read a column or a member of a struct."""
    kind = node.args.get("kind")
    field = read_type(kind, dialect) if isinstance(kind, exp.DataType) else Field()
    field = replace(field, name=node.name)
    if dialect == "clickhouse" and isinstance(kind, exp.DataType) and not kind.args.get("nullable"):
        field = replace(field, required=True)
    for constraint in node.args.get("constraints") or ():
        field = apply_constraint(field, constraint.args.get("kind"), dialect, report_loss)
    return field


def apply_constraint(field: Field, kind: Any, dialect: str, report_loss: ReportLoss | None = None) -> Field:
    """Return the field with one constraint applied."""
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
            return _apply_default(field, kind, dialect, report_loss)
        case exp.CheckColumnConstraint():
            narrowed = apply_check(field, kind.this)
            if narrowed is not None:
                return narrowed
            text = render_sql(kind.this, dialect)
            if report_loss:
                report_loss(field.name or "", f"CHECK ({text})", NO_EQUIVALENT_RULE)
            return replace(field, custom_properties=add_constructs(field.custom_properties, [_rule(field, text)]))
        case exp.Reference():
            return apply_reference(field, kind, report_loss)
        case _:
            if report_loss and kind is not None:
                report_loss(
                    field.name or "", render_sql(kind, dialect), "a contract does not state how values are generated"
                )
            return field


def apply_reference(field: Field, reference: exp.Reference, report_loss: ReportLoss | None) -> Field:
    """Return the field with a reference to a column of another table."""
    target = reference.this
    table = target.find(exp.Table) if target is not None else None
    columns = [one.name for one in target.expressions] if isinstance(target, exp.Schema) else []
    if table is None or len(columns) != 1 or not is_valid_reference(to := f"{table.name}.{columns[0]}"):
        if report_loss:
            report_loss(field.name or "", reference.sql(), "a contract refers to one named column")
        return field
    relation = FrozenMap({"type": "foreignKey", "to": to})
    if relation in (field.relationships or ()):  # ALTER TABLE may state it again
        return field
    return replace(field, relationships=(*(field.relationships or ()), relation))


def is_valid_reference(text: str) -> bool:
    """Whether a text is a valid reference in ODCS."""
    return all(part.replace("_", "a").isalnum() and part.isascii() for part in text.split("."))


def _apply_default(
    field: Field, kind: exp.DefaultColumnConstraint, dialect: str, report_loss: ReportLoss | None
) -> Field:
    known, value = read_literal(kind.this)
    if not known:
        if report_loss:
            report_loss(
                field.name or "",
                f"default {render_sql(kind.this, dialect)}",
                "a default in a contract is a literal value",
            )
        return field
    entry = FrozenMap({"property": "default", "value": _as_value_of(field, value)})
    return field if value is None else replace(field, custom_properties=(*(field.custom_properties or ()), entry))


_BOUNDS: dict[type[exp.Expression], tuple[str, str]] = {
    exp.GTE: ("minimum", "minLength"),
    exp.GT: ("exclusiveMinimum", ""),
    exp.LTE: ("maximum", "maxLength"),
    exp.LT: ("exclusiveMaximum", ""),
}
"""The options that a comparison sets: for a value, and for its length."""


def apply_check(field: Field, condition: Any) -> Field | None:
    """Return the field with a condition applied; None if a contract cannot express it."""
    match condition:
        case exp.Paren():
            return apply_check(field, condition.this)
        case exp.And():
            left = apply_check(field, condition.left)
            return apply_check(left, condition.right) if left else None
        case exp.In() if _is_column(condition.this):
            values = [read_literal(one) for one in condition.expressions]
            if not values or not all(known for known, _ in values):
                return None
            listed = tuple(FrozenMap({"value": _as_value_of(field, value)}) for _, value in values)
            return replace(field, enum=listed)
        case exp.Between() if _is_column(condition.this):
            low = _bounded(field, "minimum", condition.args["low"])
            return _bounded(low, "maximum", condition.args["high"]) if low else None
        case exp.RegexpLike() if _is_column(condition.this):
            known, pattern = read_literal(condition.expression)
            usable = known and isinstance(pattern, str) and PatternCheck().problem(pattern) is None
            return _with_option(field, "pattern", pattern) if usable and field.logical_type == "string" else None
        case exp.Not() if isinstance(condition.this, exp.Is) and isinstance(condition.this.expression, exp.Null):
            return replace(field, required=True)
        case _ if type(condition) in _BOUNDS:
            bound, length = _BOUNDS[type(condition)]
            if isinstance(condition.this, exp.Length) and _is_column(condition.this.this) and length:
                return _bounded(field, length, condition.expression)
            return _bounded(field, bound, condition.expression) if _is_column(condition.this) else None
        case _:
            return None


def referenced_columns(condition: exp.Expression) -> set[str]:
    """Return the names of the columns in a condition."""
    return {one.name for one in condition.find_all(exp.Column)}


def _is_column(node: Any) -> bool:
    return isinstance(node, exp.Column)


def _bounded(field: Field, option: str, node: Any) -> Field | None:
    known, value = read_literal(node)
    is_numeric = field.logical_type in ("integer", "number") or option.endswith("Length")
    is_temporal = field.logical_type in ("date", "timestamp", "time") and not option.endswith("Length")
    wanted: tuple[type, ...] = (int, float) if is_numeric else (str,) if is_temporal else ()
    if option.endswith("Length") and field.logical_type != "string":
        return None
    if not known or type(value) not in wanted:
        return None
    before = (field.options or EMPTY).get(option)
    if type(before) in wanted:  # of two bounds, keep the stricter one
        value = (max if "min" in option.lower() else min)(before, value)
    return _with_option(field, option, value)


def _with_option(field: Field, option: str, value: Any) -> Field:
    return replace(field, options=FrozenMap({**(field.options or EMPTY), option: value}))


def _as_value_of(field: Field, value: Any) -> Any:
    """Return a literal as a value of the column: 1 of a BIT column is true, '1' of an INT column is 1."""
    if field.logical_type == "boolean" and value in (0, 1, "0", "1"):
        return bool(int(value))
    if field.logical_type in ("integer", "number") and isinstance(value, str):
        try:
            return int(value) if field.logical_type == "integer" else float(value)
        except ValueError:
            return value
    return value


def read_literal(node: Any) -> tuple[bool, Any]:
    """Return whether an expression is a literal, and its value."""
    if isinstance(node, exp.Paren | exp.Cast):
        return read_literal(node.this)
    if isinstance(node, exp.Neg):
        known, value = read_literal(node.this)
        return known and isinstance(value, int | float), -value if isinstance(value, int | float) else None
    if isinstance(node, exp.Boolean):
        return True, bool(node.this)
    if isinstance(node, exp.Null):
        return True, None
    if not isinstance(node, exp.Literal):
        return False, None
    if node.is_string:
        return True, node.this
    return True, int(node.this) if node.this.isdigit() else float(node.this)
