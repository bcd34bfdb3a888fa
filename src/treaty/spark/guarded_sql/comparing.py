"""Comparisons that would fail a run over one value: texts with numbers, and times with texts that are none."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

from sqlglot import exp

from treaty.spark.guarded_sql.naming import field_of
from treaty.spark.guarded_sql.writing import Writing

_EXAMPLES = {"date": "2026-01-31", "timestamp": "2026-01-31 12:30:00"}
_TIME = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[ T][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,6})?)?(?: ?Z|[+-][0-9]{2}:[0-9]{2})?)?"
)


def refuse_unlike(w: Writing, *sides: Any) -> None:
    """Refuse to compare a field with literals that its type says it can never be like."""
    bare = [side.unnest() for side in sides if isinstance(side, exp.Expr)]
    literals = [side for side in bare if isinstance(side, exp.Literal)]
    for side in bare:
        field = field_of(w, side) if literals else None
        if field is None or field.type is None:
            continue
        for literal in literals:
            if field.type.name == "string" and not literal.is_string:
                then = "write the number as a text, or CAST the field"
                raise w.refuse(literal, f"compares the text {field.name!r} with a number", then)
            if field.type.name in _EXAMPLES and literal.is_string:
                refuse_no_time(w, literal, field.type.name)


def refuse_no_time(w: Writing, literal: exp.Literal, kind: str) -> None:
    """Refuse a text that is no date or timestamp."""
    text = literal.name.strip()
    try:
        is_time = _TIME.fullmatch(text) is not None and bool(datetime.fromisoformat(text.replace(" Z", "Z")))
    except ValueError:
        is_time = False
    if not is_time:
        raise w.refuse(literal, f"has a text that is no {kind}", f"write it like '{_EXAMPLES[kind]}'")
