"""Functions over the rows beside a row, and the order of rows."""

from __future__ import annotations

from sqlglot import exp

from treaty.spark.guarded_sql.calls import windowed
from treaty.spark.guarded_sql.writing import May, Writer, Writing, writer


def order_sql(w: Writing, node: exp.Order) -> str:
    """Write ORDER BY."""
    items = []
    for item in node.expressions:
        if not isinstance(item, exp.Ordered) or item.args.get("with_fill") or node.args.get("siblings"):
            raise w.refuse(node, "has an odd ORDER BY", "write it like ORDER BY a DESC")
        direction = "DESC" if item.args.get("desc") else "ASC"
        nulls = "FIRST" if item.args.get("nulls_first") else "LAST"
        items.append(f"{w.sql(item.this)} {direction} NULLS {nulls}")
    return f"ORDER BY {', '.join(items)}"


def _window(w: Writing, node: exp.Window) -> str:
    if not w.may & May.WINDOW:
        raise w.refuse(node, "has OVER where it cannot stand", "write it in SELECT, and filter in a query around it")
    inner = w.inside(may=May.NOTHING, only_rows=None)
    parts = [f"PARTITION BY {inner.several(node.args['partition_by'])}"] if node.args.get("partition_by") else []
    order, spec = node.args.get("order"), node.args.get("spec")
    parts += [order_sql(inner, order)] if order is not None else []
    parts += [_span(w, spec)] if spec is not None else []
    return f"{windowed(w, node.this)} OVER ({' '.join(parts)})"


def _span(w: Writing, node: exp.WindowSpec) -> str:
    kind = str(node.args.get("kind")).upper()
    ends = [_end(w, node, "start"), _end(w, node, "end") if node.args.get("end") else "CURRENT ROW"]
    if kind not in ("ROWS", "RANGE") or node.args.get("exclude"):
        raise w.refuse(node, "has an odd window", "write it like ROWS BETWEEN 1 PRECEDING AND CURRENT ROW")
    return f"{kind} BETWEEN {ends[0]} AND {ends[1]}"


def _end(w: Writing, node: exp.WindowSpec, which: str) -> str:
    value, side = node.args.get(which), str(node.args.get(f"{which}_side") or "").upper()
    number = value.name if isinstance(value, exp.Literal) else str(value).upper()
    if number == "CURRENT ROW":
        return number
    if (number != "UNBOUNDED" and not (number.isdigit() and len(number) < 8)) or side not in ("PRECEDING", "FOLLOWING"):
        raise w.refuse(node, "has an odd window", "write it like ROWS BETWEEN 1 PRECEDING AND CURRENT ROW")
    return f"{number} {side}"


WRITERS: dict[type[exp.Expr], Writer] = {
    exp.Window: writer(_window, "this partition_by order spec over"),
}
