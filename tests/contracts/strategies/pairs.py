"""Pairs of contracts a few edits apart."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import TypeAlias

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from tests.contracts.strategies.blocks import blocks
from tests.contracts.strategies.documents import versions
from tests.contracts.strategies.fields import PLAIN_FIELD_KEYS, field_keys, logical_type_options
from tests.contracts.strategies.judged import (
    NAMES,
    distinct_ids,
    judged_documents,
    judged_field,
    judged_fields,
    judged_levels,
)
from tests.contracts.strategies.values import Document
from tests.contracts.strategies.versions import V3_2
from treaty.contracts import Contract, contract_from

Edit: TypeAlias = Callable[[DrawFn, Document], None]
"""Changes a document in place, where there is something to change."""


def _some_fields(document: Document) -> list[list[Document]]:
    """Every list of named fields in a document, at any depth."""
    found: list[list[Document]] = []
    pending: list[Document] = list(document["schema"])
    while pending:
        element = pending.pop()
        if "properties" in element:
            found.append(element["properties"])
            pending += element["properties"]
        pending += [element["items"]] if "items" in element else []
        pending += element.get("map", {}).values()
    return found


def _pick(draw: DrawFn, document: Document) -> Document | None:
    """One field from anywhere in the document."""
    every = [field for columns in _some_fields(document) for field in columns]
    return draw(st.sampled_from(every)) if every else None


def _add_field(draw: DrawFn, document: Document) -> None:
    lists = _some_fields(document)
    if lists:
        columns = draw(st.sampled_from(lists))
        field = draw(judged_field(0)) | {"name": draw(st.sampled_from(_free_names(columns)))}
        columns.insert(draw(st.integers(0, len(columns))), field)
        distinct_ids(columns)


def _free_names(columns: list[Document]) -> list[str]:
    return sorted({*NAMES, "renamed", "neu"} - {field["name"] for field in columns})


def _remove_field(draw: DrawFn, document: Document) -> None:
    lists = [columns for columns in _some_fields(document) if columns]
    if lists:
        columns = draw(st.sampled_from(lists))
        columns.pop(draw(st.integers(0, len(columns) - 1)))


def _rename_field(draw: DrawFn, document: Document) -> None:
    lists = [columns for columns in _some_fields(document) if columns]
    if lists:
        columns = draw(st.sampled_from(lists))
        draw(st.sampled_from(columns))["name"] = draw(st.sampled_from(_free_names(columns)))


def _retype_field(draw: DrawFn, document: Document) -> None:
    if field := _pick(draw, document):
        for key in ("logicalTypeOptions", "properties", "items", "map", "physicalType"):
            field.pop(key, None)
        field |= {key: value for key, value in draw(judged_field(0)).items() if key.startswith(("logical", "physical"))}


def _change_options(draw: DrawFn, document: Document) -> None:
    if field := _pick(draw, document):
        field["logicalTypeOptions"] = draw(logical_type_options(V3_2, field["logicalType"]))


def _flip(*keys: str) -> Edit:
    """Turn one of the yes-or-no keys of a field around."""

    def edit(draw: DrawFn, document: Document) -> None:
        if field := _pick(draw, document):
            key = draw(st.sampled_from(keys))
            field[key] = not field.get(key, False)

    return edit


def _change_key(*keys: str) -> Edit:
    """Give one of the keys of a field another value, or take it away."""

    def edit(draw: DrawFn, document: Document) -> None:
        if field := _pick(draw, document):
            key = draw(st.sampled_from(keys))
            if key in field and draw(st.booleans()):
                del field[key]
            else:
                field[key] = draw({**field_keys(V3_2), **PLAIN_FIELD_KEYS}[key])
            for columns in _some_fields(document):
                distinct_ids(columns)

    return edit


def _change_enum(draw: DrawFn, document: Document) -> None:
    """Shrink, widen or begin the values of a field."""
    if field := _pick(draw, document):
        values = field.setdefault("enum", [])
        if len(values) > 1 and draw(st.booleans()):
            values.pop()
        elif {"value": "one more"} not in values:
            values.append({"value": "one more"})


def _change_levels(draw: DrawFn, document: Document) -> None:
    document["slaProperties"] = draw(judged_levels())


def _change_level(draw: DrawFn, document: Document) -> None:
    if document["slaProperties"]:
        draw(st.sampled_from(document["slaProperties"]))["value"] = draw(st.integers(1, 99))


def _change_block(*names: str) -> Edit:
    """Give one of the blocks another value, or take it away."""

    def edit(draw: DrawFn, document: Document) -> None:
        name = draw(st.sampled_from(names))
        if name in document and draw(st.booleans()):
            del document[name]
        else:
            document[name] = draw(blocks()[name])

    return edit


def _change_object(draw: DrawFn, document: Document) -> None:
    schema = document["schema"]
    if len(schema) > 1:
        schema.pop(draw(st.integers(0, 1)))
    else:
        schema.append({"name": "more", "properties": draw(judged_fields(0, 2))})


def _reorder_fields(draw: DrawFn, document: Document) -> None:
    if lists := _some_fields(document):
        columns = draw(st.sampled_from(lists))
        columns[:] = draw(st.permutations(columns))


def _change_version(draw: DrawFn, document: Document) -> None:
    document["version"] = draw(versions())


EDITS: Sequence[Edit] = (
    _add_field,
    _remove_field,
    _rename_field,
    _retype_field,
    _change_options,
    _flip("required", "unique", "primaryKey", "deprecated"),
    _change_key("description", "classification", "authoritativeDefinitions", "quality", "enum", "id"),
    _change_key("unit", "default", "semantic_type", "time_zone"),
    _change_enum,
    _change_levels,
    _change_level,
    _change_block("ordering", "delivery", "latency", "measures"),
    _change_block("owners", "change_policy", "deprecation", "visibility"),
    _change_block("tier", "parent", "expires", "exclusions", "content", "event", "source_authority", "lineage"),
    _change_block("intended_consumers", "migration", "lifecycle"),
    _change_object,
    _reorder_fields,
    _change_version,
)


@st.composite
def related_documents(draw: DrawFn, most_edits: int = 4) -> tuple[Document, Document]:
    """Two documents, the second a few edits after the first."""
    before = draw(judged_documents())
    after = copy.deepcopy(before)
    for edit in draw(st.lists(st.sampled_from(EDITS), min_size=1, max_size=most_edits, unique=True)):
        edit(draw, after)
    return before, after


def contract_pairs(most_edits: int = 4) -> SearchStrategy[tuple[Contract, Contract]]:
    """Two contracts, the second a few edits after the first."""
    return related_documents(most_edits).map(lambda pair: (contract_from(pair[0]), contract_from(pair[1])))
