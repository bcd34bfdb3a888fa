"""What one line asks of a field's values that the other does not promise."""

from __future__ import annotations

from collections.abc import Iterator

from treaty.compatibility.changes import Breaks
from treaty.compatibility.kinds import kind_for
from treaty.compatibility.terms import FIELD_TERMS
from treaty.contracts.model import Field
from treaty.contracts.values import brief, thaw
from treaty.contracts.versions import Bump

_ELSEWHERE = frozenset({"field.type", "field.physical_type", "field.enum", "field.physical_name", "field.required"})
"""Told by casts, mappings, names and defaults."""
_NOUNS = {
    "field.item_count": "number of items",
    "field.time_zone": "time zone",
    "field.semantic_type": "meaning",
    "definition": "definition",
    "quality": "quality rule",
    "relationship": "reference",
}


def unmet_terms(source: Field, target: Field) -> Iterator[str]:
    """Yield what the target asks of its values, or means by them, that holds for the source's values only by luck."""
    for term in FIELD_TERMS:
        if term.name in _ELSEWHERE:
            continue
        for difference in term.compare(term.read(source), term.read(target)):
            grade = kind_for(term.name, difference.direction).grades[difference.direction]
            if grade.bump is not Bump.MAJOR and Breaks.EXISTING_DATA not in grade.breaks:
                continue
            noun = _NOUNS.get(term.name, term.name.removeprefix("field."))
            subject = f" {difference.subject}" if difference.subject else ""
            yield f"{noun}{subject} {_said(difference.before)} → {_said(difference.after)}: passed on as it is"


def _said(value: object) -> str:
    return "none" if value is None else brief(thaw(value), 40) if not isinstance(value, bool) else str(value).lower()
