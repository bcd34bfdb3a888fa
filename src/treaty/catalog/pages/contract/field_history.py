"""History of each field, from the differences between consecutive versions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from treaty.catalog.pages.contract.contract_data import ContractData, parse_contract
from treaty.compatibility.changes import Change, Direction
from treaty.compatibility.diff import diff
from treaty.compatibility.kinds import KINDS, describe
from treaty.contracts.loader import contract_from
from treaty.contracts.model import Contract
from treaty.errors import InvalidDocument
from treaty.registry.model import DocumentAnswer

_MAX_VERSIONS = 20
_TERMS = {
    "field.type": "type",
    "field.physical_type": "stored type",
    "field.physical_name": "stored name",
    "field.required": "required",
    "field.name": "name",
    "field.enum": "values",
    "field.range": "range",
    "field.length": "length",
    "field.item_count": "elements",
    "field.pattern": "pattern",
    "field.format": "format",
    "field.unique": "uniqueness",
    "field.constraint": "rules",
    "field.default": "default",
    "field.unit": "unit",
    "field.time_zone": "time zone",
    "field.semantic_type": "semantic type",
    "definition": "definition",
    "quality": "quality rule",
    "relationship": "reference",
    "field.description": "meaning",
    "field.classification": "classification",
    "field.metadata": "details",
}
_DIRECTION_WORDS = {Direction.TIGHTENED: "tightened", Direction.LOOSENED: "loosened"}


@dataclass(frozen=True, slots=True)
class FieldChange:
    """What one version changed about one field: a short text, and the full messages."""

    before: str
    after: str
    text: str
    messages: tuple[str, ...]
    is_new: bool = False


def field_history(data: ContractData, version: DocumentAnswer) -> dict[str, tuple[FieldChange, ...]]:
    """Return the changes of each field up to the shown version, latest first."""
    history: dict[str, list[FieldChange]] = {}
    for before, after in _pairs(data, version):
        names, steps = _changes_between(_Pair(before.digest, after.digest, before, after))
        history = {rename_path(path, names): changes for path, changes in history.items()}
        for path, step in steps:
            history.setdefault(path, []).insert(0, step)
    return {path: tuple(steps) for path, steps in history.items()}


def _pairs(data: ContractData, version: DocumentAnswer) -> list[tuple[DocumentAnswer, DocumentAnswer]]:
    """Return the pairs of consecutive versions up to one, earliest first."""
    pairs: list[tuple[DocumentAnswer, DocumentAnswer]] = []
    after = version
    while len(pairs) < _MAX_VERSIONS and (number := data.previous_versions.get(after.version)) is not None:
        before = data.at(number)
        pairs.append((before, after))
        after = before
    return pairs[::-1]


@dataclass(frozen=True)
class _Pair:
    """Two versions. Cached by their digests."""

    one: str
    other: str
    before: DocumentAnswer = field(compare=False)
    after: DocumentAnswer = field(compare=False)


@lru_cache(maxsize=512)
def _changes_between(pair: _Pair) -> tuple[dict[str, str], tuple[tuple[str, FieldChange], ...]]:
    """Return the renamed fields and the changes of each field."""
    changes = [change for change in diff(*without_shared_fields(pair.before, pair.after)) if change.field is not None]
    names = {str(change.before): str(change.after) for change in changes if change.kind == "field_renamed"}
    grouped: defaultdict[str, list[Change]] = defaultdict(list)
    for difference in changes:
        grouped[rename_path(difference.field or "", names)].append(difference)
    versions = pair.before.version, pair.after.version
    return names, tuple((path, _step(*versions, group)) for path, group in grouped.items())


def _step(before: str, after: str, changes: list[Change]) -> FieldChange:
    messages = tuple(describe(difference) for difference in changes)
    if any(_is_added_field(difference) for difference in changes):
        return FieldChange(before, after, f"added in {after}", messages, is_new=True)
    return FieldChange(before, after, f"{', '.join(_change_texts(changes))} in {after}", messages)


def _is_added_field(change: Change) -> bool:
    return change.direction is Direction.ADDED and change.kind in ("field_added", "field_required_added")


def _change_texts(changes: list[Change]) -> Iterator[str]:
    texts = list(dict.fromkeys(map(_change_text, changes)))
    yield from texts[:3]
    if len(texts) > 3:
        yield "and more"


def _change_text(change: Change) -> str:
    term = KINDS[change.kind].term
    if term == "field.deprecated":
        return "deprecated" if change.after else "no longer deprecated"
    if term == "field.required":
        return "required" if change.after else "optional"
    if term == "field.name":
        return f"renamed from {change.before}"
    if term == "field.presence":
        return "removed"
    return f"{_TERMS.get(term, 'details')} {_DIRECTION_WORDS.get(change.direction, 'changed')}"


def rename_path(path: str, names: Mapping[str, str]) -> str:
    """Return a path after renames."""
    for old, new in names.items():
        if path == old or (path.startswith(old) and path[len(old)] in ".[{"):
            return new + path[len(old) :]
    return path


def without_shared_fields(before: DocumentAnswer, after: DocumentAnswer) -> tuple[Contract, Contract]:
    """Return two versions without the fields that are equal in both, which makes the diff of large contracts cheap."""
    try:
        one, other = (dict(answer.document) for answer in (before, after))
        if "fields" in one and "fields" in other:
            key_fields = frozenset((*_string_list(one.get("primary_key")), *_string_list(other.get("primary_key"))))
            one["fields"], other["fields"] = _without_shared(one["fields"], other["fields"], key_fields)
        elif _names(one) == _names(other):
            pairs = zip(one["schema"], other["schema"], strict=True)
            objects = [_objects(*pair) for pair in pairs]
            one["schema"], other["schema"] = (
                [object_path for object_path, _ in objects],
                [object_path for _, object_path in objects],
            )
        return contract_from(one), contract_from(other)
    except (InvalidDocument, AttributeError, KeyError, TypeError):
        return parse_contract(before), parse_contract(after)  # a document that cannot be shortened


def _objects(one: dict[str, Any], other: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    before, after = _without_shared(one.get("properties") or [], other.get("properties") or [], frozenset())
    return {**one, "properties": before}, {**other, "properties": after}


def _without_shared(before: list[Any], after: list[Any], always_kept: frozenset[str]) -> tuple[list[Any], list[Any]]:
    """Drop the fields that are equal on both sides. The first field stays, because a schema needs one."""
    known = {field["name"]: field for field in before}
    shared = {
        field["name"] for field in after if known.get(field["name"]) == field and field["name"] not in always_kept
    }
    shared -= {field["name"] for field in after[:1]}
    return ([one for one in before if one["name"] not in shared], [one for one in after if one["name"] not in shared])


def _names(document: dict[str, Any]) -> list[Any]:
    return [schema_object["name"] for schema_object in document["schema"]]


def _string_list(value: Any) -> list[str]:
    return value if isinstance(value, list) else []
