"""Values that SQL writes out."""

from __future__ import annotations

from typing import Any

from sqlglot import exp


def literal(node: Any) -> tuple[bool, Any]:
    """Return the value that an expression is, if it is one."""
    if isinstance(node, exp.Paren | exp.Cast):
        return literal(node.this)
    if isinstance(node, exp.Neg):
        known, value = literal(node.this)
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
