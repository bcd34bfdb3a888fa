"""Values in a rule's SQL: literals, casts, intervals, parts of dates, and choices by CASE."""

from __future__ import annotations

import re

from sqlglot import exp

from treaty.contracts.sql_quoting import quote_string
from treaty.sql.operators import refuse_no_time
from treaty.sql.rendering import NodeRenderer, Renderer, node_renderer

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
_MOST_DIGITS = 38
UNITS = ("YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND")
_INTERVAL_UNITS = {spelt: unit for unit in UNITS if unit != "QUARTER" for spelt in (unit, f"{unit}S")}
_AMOUNT = re.compile(r"-?[0-9]{1,9}(?:\.[0-9]{1,6})?")
_PARTS_OF_TIME = frozenset({*UNITS, "YEAROFWEEK", "DAYOFWEEK", "DOW", "DAYOFWEEK_ISO", "DOW_ISO", "DOY"})


def render_type(w: Renderer, node: exp.DataType) -> str:
    """Write the type that a value is cast to."""
    name = _TYPES.get(node.this) if isinstance(node.this, exp.DType) else None
    sizes = [size.this.name for size in node.expressions if isinstance(size, exp.DataTypeParam)]
    if name == "DECIMAL" and sizes:
        is_fit = len(sizes) <= 2 and all(size.isdigit() and len(size) <= 2 for size in sizes)
        digits = [int(size) for size in sizes] if is_fit else []
        if is_fit and 0 < digits[0] <= _MOST_DIGITS and digits[-1] <= digits[0]:
            return f"DECIMAL({', '.join(map(str, digits))})"
    elif name is not None and not node.expressions:
        return name
    known = ", ".join(sorted(set(_TYPES.values())))
    raise w.refuse(node.parent or node, "casts to an unsupported type", f"use one of: {known}")


def _cast(w: Renderer, node: exp.Cast) -> str:
    """Write a cast that gives null where a value does not fit; a literal must fit."""
    name = render_type(w, node.args["to"])
    inner = node.this
    if isinstance(inner, exp.Literal) and inner.is_string and name in _TIMES:
        refuse_no_time(w, inner, _TIMES[name])
    is_certain = isinstance(inner, (exp.Literal, exp.HexString))
    return f"{'CAST' if is_certain else 'TRY_CAST'}({w.sql(inner)} AS {name})"


def _literal(w: Renderer, node: exp.Literal) -> str:
    return quote_string(node.name) if node.is_string else node.name


def _bytes(w: Renderer, node: exp.HexString) -> str:
    return f"X'{node.name}'"


def _boolean(w: Renderer, node: exp.Boolean) -> str:
    return "true" if node.this else "false"


def _null(w: Renderer, node: exp.Null) -> str:
    return "NULL"


def _interval(w: Renderer, node: exp.Interval) -> str:
    amount, unit = node.this, node.args.get("unit")
    sign = "-" if isinstance(amount, exp.Neg) else ""
    amount = amount.this if isinstance(amount, exp.Neg) else amount
    number = sign + amount.name if isinstance(amount, exp.Literal) else ""
    name = _INTERVAL_UNITS.get(unit.name.upper()) if isinstance(unit, exp.Var) else None
    if name is None or not _AMOUNT.fullmatch(number):
        raise w.refuse(node, "has an unsupported interval", "write it like INTERVAL 2 DAYS")
    return f"INTERVAL '{number}' {name}"


def _extract(w: Renderer, node: exp.Extract) -> str:
    part = node.this.name.upper() if isinstance(node.this, exp.Var) else ""
    if part not in _PARTS_OF_TIME:
        raise w.refuse(
            node, "extracts an unknown part of a timestamp", f"use one of: {', '.join(sorted(_PARTS_OF_TIME))}"
        )
    return f"extract({part} FROM {w.sql(node.expression)})"


def _case(w: Renderer, node: exp.Case) -> str:
    start = f"CASE {w.sql(node.this)}" if node.this is not None else "CASE"
    branches = [f"WHEN {w.sql(item.this)} THEN {w.sql(item.args['true'])}" for item in node.args["ifs"]]
    default = node.args.get("default")
    last = [f"ELSE {w.sql(default)}"] if default is not None else []
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
