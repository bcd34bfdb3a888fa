"""The terms of a schema object, as a table."""

from __future__ import annotations

from typing import Any

from treaty.compatibility import quality
from treaty.compatibility.comparing import alternatives, in_both, keyed, presence, replaced, swapped
from treaty.compatibility.terms.annotations import custom, definition_notes, definitions, relationships, rule_words
from treaty.compatibility.terms.term import Term
from treaty.contracts.model import SchemaObject
from treaty.contracts.values import EMPTY


def _object_metadata(item: SchemaObject) -> dict[str, Any]:
    other = {**item.more, "id": item.id, "physicalType": item.physical_type}
    other |= custom(item.custom_properties)
    return {key: value for key, value in other.items() if value not in (None, (), EMPTY)}


def _object_notes(item: SchemaObject) -> dict[str, Any]:
    return rule_words(item.quality) | definition_notes(item)


OBJECT_TERMS: tuple[Term, ...] = (
    Term("object.physical_name", lambda item: item.physical_name or item.name, swapped),
    Term("object.granularity", lambda item: item.granularity, replaced),
    Term("definition", definitions, keyed(alternatives)),
    Term("quality", lambda item: item.quality or (), quality.quality_rules),
    Term("relationship", relationships, keyed(presence)),
    Term("contract.description", lambda item: item.description, replaced),
    Term("object.metadata", _object_metadata, keyed(replaced)),
    Term("object.metadata", _object_notes, in_both(replaced)),
)
