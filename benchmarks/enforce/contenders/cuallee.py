"""cuallee: one check with a rule for each; it has none for a number of rows or for freshness."""

from __future__ import annotations

import cuallee as library  # type: ignore[import-not-found]

from benchmarks.enforce.rules import CROSSED, ENUMS, PATTERNS, RANGES, REQUIRED
from benchmarks.enforce.task import Answer, Work

_COUNTED_AS = {
    "is_complete": "required",
    "is_unique": "unique",
    "is_contained_in": "enum",
    "has_pattern": "pattern",
    "is_between": "range",
}


def check(work: Work) -> Answer:
    """Validate the frame."""
    asked = library.Check(library.CheckLevel.WARNING, "orders")
    for column in REQUIRED:
        asked.is_complete(column)
    asked.is_unique("order_id")
    for column, values in ENUMS.items():
        asked.is_contained_in(column, values)
    for column, pattern in PATTERNS.items():
        asked.has_pattern(column, pattern)
    for column, (low, high) in RANGES.items():
        asked.is_between(column, (float(low), float(high)))
    for one, other in CROSSED.values():
        asked.satisfies(one, f"coalesce({one} >= {other}, true)")
    return {_name(row["rule"], row["column"]): row["violations"] for row in asked.validate(work.orders).collect()}


def _name(rule: str, column: str) -> str:
    crossed = {one: f"sql:{name}" for name, (one, _) in CROSSED.items()}
    return crossed[column] if rule == "satisfies" else f"{_COUNTED_AS[rule]}:{column}"


CASES = {"check": check}
