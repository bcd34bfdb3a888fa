"""JSON Schema: a reader accepts every document that the writer's schema accepts, judged by the content model.

An object is open if it allows properties that it does not declare, closed if it allows none, and partially open if
they must satisfy a schema. A property can be added to what is not open and removed from what is open.
"""

from __future__ import annotations

from collections.abc import Mapping

from treaty.compatibility.schemas.differences import MAX_DIFFERENCES, SchemaDifference, too_deep
from treaty.compatibility.schemas.json_schema_combinations import (
    compare_combinations,
    compare_conditions,
    compare_negations,
)
from treaty.compatibility.schemas.json_schema_comparison import Comparer, Comparison
from treaty.compatibility.schemas.json_schema_containers import compare_arrays, compare_objects
from treaty.compatibility.schemas.json_schema_nodes import Document, NodeKind
from treaty.compatibility.schemas.json_schema_values import (
    compare_enums,
    compare_numbers,
    compare_same_type,
    compare_strings,
)
from treaty.contracts.values import Json

_COMPARERS: Mapping[NodeKind, Comparer] = {
    NodeKind.STRING: compare_strings,
    NodeKind.NUMBER: compare_numbers,
    NodeKind.BOOLEAN: compare_same_type,
    NodeKind.NULL: compare_same_type,
    NodeKind.NOTHING: compare_same_type,
    NodeKind.ENUM: compare_enums,
    NodeKind.NOT: compare_negations,
    NodeKind.CONDITION: compare_conditions,
    NodeKind.COMBINED: compare_combinations,
    NodeKind.OBJECT: compare_objects,
    NodeKind.ARRAY: compare_arrays,
}


def compare(
    reader: Json, writer: Json, drafts: tuple[int, int] = (7, 7), documents: tuple[Mapping[str, Json], ...] = ({}, {})
) -> list[SchemaDifference]:
    """Return why a reader rejects documents that the writer's schema accepts.

    `drafts` and `documents` are the drafts and the referenced documents, by name, of the reader and of the writer.
    """
    try:
        new, old = (
            Document(data, draft, others)
            for data, draft, others in zip((reader, writer), drafts, documents, strict=True)
        )
        found = Comparison(drafts[1], drafts[0], _COMPARERS).differences(old.root, new.root)
    except RecursionError:
        raise too_deep() from None
    places = ((kind, f"#{path or '/'}", text) for kind, path, text in found[:MAX_DIFFERENCES])
    return [SchemaDifference(kind, path, text.format(path=path)) for kind, path, text in places]
