"""Render the values of rules: literals, casts, intervals, EXTRACT and CASE."""

from __future__ import annotations

import re

from sqlglot import exp

from treaty.contracts.sql_quoting import quote_string
from treaty.sql.operators import refuse_invalid_time
from treaty.sql.rule_renderer import NodeRenderer, Renderer, node_renderer

_TYPES = {
    exp.DType.BOOLEAN: "BOOLEAN",
    exp.DType.TINYINT: "TINYINT",
    exp.DType.SMALLINT: "SMALLINT",
    exp.DType.INT: "INT",
    exp.DType.BIGINT: "BIGINT",
    exp.DType.FLOAT: "FLOAT",
    exp.DType.DOUBLE: "DOUBLE",
    exp.DType.DECIMAL: "DECIMAL",
    exp.DType.TEXT: "STRING",
    exp.DType.BINARY: "BINARY",
    exp.DType.DATE: "DATE",
    exp.DType.TIMESTAMPTZ: "TIMESTAMP",
    exp.DType.TIMESTAMPLTZ: "TIMESTAMP_LTZ",
    exp.DType.TIMESTAMPNTZ: "TIMESTAMP_NTZ",
}
_TIMES = {"DATE": "date", "TIMESTAMP": "timestamp", "TIMESTAMP_LTZ": "timestamp", "TIMESTAMP_NTZ": "timestamp"}
_MAX_DIGITS = 38
UNITS = ("YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND")
_INTERVAL_UNITS = {spelt: unit for unit in UNITS if unit != "QUARTER" for spelt in (unit, f"{unit}S")}
_AMOUNT = re.compile(r"-?[0-9]{1,9}(?:\.[0-9]{1,6})?")
_EXTRACTABLE_PARTS = frozenset({*UNITS, "YEAROFWEEK", "DAYOFWEEK", "DOW", "DAYOFWEEK_ISO", "DOW_ISO", "DOY"})


def render_type(r: Renderer, node: exp.DataType) -> str:
    """Render the target type of a cast."""
    name = _TYPES.get(node.this) if isinstance(node.this, exp.DType) else None
    sizes = [size.this.name for size in node.expressions if isinstance(size, exp.DataTypeParam)]
    if name == "DECIMAL" and sizes:
        is_fit = len(sizes) <= 2 and all(size.isdigit() and len(size) <= 2 for size in sizes)
        digits = [int(size) for size in sizes] if is_fit else []
        if is_fit and 0 < digits[0] <= _MAX_DIGITS and digits[-1] <= digits[0]:
            return f"DECIMAL({', '.join(map(str, digits))})"
    elif name is not None and not node.expressions:
        return name
    known = ", ".join(sorted(set(_TYPES.values())))
    raise r.refuse(node.parent or node, "casts to an unsupported type", f"use one of: {known}")


def _cast(r: Renderer, node: exp.Cast) -> str:
    """Render a cast that returns null for values that do not fit; a literal must fit."""
    name = render_type(r, node.args["to"])
    inner = node.this
    if isinstance(inner, exp.Literal) and inner.is_string and name in _TIMES:
        refuse_invalid_time(r, inner, _TIMES[name])
    is_certain = isinstance(inner, (exp.Literal, exp.HexString))
    return f"{'CAST' if is_certain else 'TRY_CAST'}({r.sql(inner)} AS {name})"


def _literal(r: Renderer, node: exp.Literal) -> str:
    return quote_string(node.name) if node.is_string else node.name


def _bytes(r: Renderer, node: exp.HexString) -> str:
    return f"X'{node.name}'"


def _boolean(r: Renderer, node: exp.Boolean) -> str:
    return "true" if node.this else "false"


def _null(r: Renderer, node: exp.Null) -> str:
    return "NULL"


def _interval(r: Renderer, node: exp.Interval) -> str:
    amount, unit = node.this, node.args.get("unit")
    sign = "-" if isinstance(amount, exp.Neg) else ""
    amount = amount.this if isinstance(amount, exp.Neg) else amount
    number = sign + amount.name if isinstance(amount, exp.Literal) else ""
    name = _INTERVAL_UNITS.get(unit.name.upper()) if isinstance(unit, exp.Var) else None
    if name is None or not _AMOUNT.fullmatch(number):
        raise r.refuse(node, "has an unsupported interval", "write it like INTERVAL 2 DAYS")
    return f"INTERVAL '{number}' {name}"


def _extract(r: Renderer, node: exp.Extract) -> str:
    part = node.this.name.upper() if isinstance(node.this, exp.Var) else ""
    if part not in _EXTRACTABLE_PARTS:
        raise r.refuse(
            node, "extracts an unknown part of a timestamp", f"use one of: {', '.join(sorted(_EXTRACTABLE_PARTS))}"
        )
    return f"extract({part} FROM {r.sql(node.expression)})"


def _case(r: Renderer, node: exp.Case) -> str:
    start = f"CASE {r.sql(node.this)}" if node.this is not None else "CASE"
    branches = [f"WHEN {r.sql(branch.this)} THEN {r.sql(branch.args['true'])}" for branch in node.args["ifs"]]
    default = node.args.get("default")
    last = [f"ELSE {r.sql(default)}"] if default is not None else []
    return " ".join([start, *branches, *last, "END"])


VALUE_RENDERERS: dict[type[exp.Expr], NodeRenderer] = {
    exp.Literal: node_renderer(_literal, "this is_string"),
    exp.HexString: node_renderer(_bytes, "this"),
    exp.Boolean: node_renderer(_boolean, "this"),
    exp.Null: node_renderer(_null),
    exp.Cast: node_renderer(_cast, "this to safe"),
    exp.TryCast: node_renderer(_cast, "this to safe"),
    exp.Interval: node_renderer(_interval, "this unit"),
    exp.Extract: node_renderer(_extract, "this expression"),
    exp.Case: node_renderer(_case, "this ifs default"),
}
