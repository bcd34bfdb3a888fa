"""What changed when, by field: from the differences of the versions that followed one another."""

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

_MOST_VERSIONS = 20
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
_WAYS = {Direction.TIGHTENED: "tightened", Direction.LOOSENED: "loosened"}


@dataclass(frozen=True, slots=True)
class Step:
    """What one version did to one field, in a few words, and in full."""

    before: str
    after: str
    words: str
    messages: tuple[str, ...]
    is_new: bool = False


def field_history(dossier: ContractData, shown: DocumentAnswer) -> dict[str, tuple[Step, ...]]:
    """Return by field path what the versions that led to the shown one did, the latest first."""
    found: dict[str, list[Step]] = {}
    for before, after in _pairs(dossier, shown):
        names, steps = _between(_Pair(before.digest, after.digest, before, after))
        found = {renamed(path, names): said for path, said in found.items()}
        for path, step in steps:
            found.setdefault(path, []).insert(0, step)
    return {path: tuple(steps) for path, steps in found.items()}


def _pairs(dossier: ContractData, shown: DocumentAnswer) -> list[tuple[DocumentAnswer, DocumentAnswer]]:
    """Return the versions that led to one, pair by pair, the earliest first."""
    pairs: list[tuple[DocumentAnswer, DocumentAnswer]] = []
    after = shown
    while len(pairs) < _MOST_VERSIONS and (number := dossier.came_after.get(after.version)) is not None:
        before = dossier.at(number)
        pairs.append((before, after))
        after = before
    return pairs[::-1]


@dataclass(frozen=True)
class _Pair:
    """Two versions, known by their digests."""

    one: str
    other: str
    before: DocumentAnswer = field(compare=False)
    after: DocumentAnswer = field(compare=False)


@lru_cache(maxsize=512)
def _between(pair: _Pair) -> tuple[dict[str, str], tuple[tuple[str, Step], ...]]:
    """Return which fields have a new name, and what happened to which."""
    changes = [one for one in diff(*without_shared_fields(pair.before, pair.after)) if one.field is not None]
    names = {str(one.before): str(one.after) for one in changes if one.kind == "field_renamed"}
    grouped: defaultdict[str, list[Change]] = defaultdict(list)
    for one in changes:
        grouped[renamed(one.field or "", names)].append(one)
    versions = pair.before.version, pair.after.version
    return names, tuple((path, _step(*versions, group)) for path, group in grouped.items())


def _step(before: str, after: str, changes: list[Change]) -> Step:
    messages = tuple(describe(one) for one in changes)
    if any(_is_arrival(one) for one in changes):
        return Step(before, after, f"added in {after}", messages, is_new=True)
    return Step(before, after, f"{', '.join(_words(changes))} in {after}", messages)


def _is_arrival(change: Change) -> bool:
    return change.direction is Direction.ADDED and change.kind in ("field_added", "field_required_added")


def _words(changes: list[Change]) -> Iterator[str]:
    told: dict[str, None] = {}
    for one in changes:
        told[_said(one)] = None
    yield from list(told)[:3]
    if len(told) > 3:
        yield "and more"


def _said(change: Change) -> str:
    term = KINDS[change.kind].term
    if term == "field.deprecated":
        return "deprecated" if change.after else "no longer deprecated"
    if term == "field.required":
        return "required" if change.after else "optional"
    if term == "field.name":
        return f"renamed from {change.before}"
    if term == "field.presence":
        return "removed"
    return f"{_TERMS.get(term, 'details')} {_WAYS.get(change.direction, 'changed')}"


def renamed(path: str, names: Mapping[str, str]) -> str:
    """Return what a path is called after fields got new names."""
    for old, new in names.items():
        if path == old or (path.startswith(old) and path[len(old)] in ".[{"):
            return new + path[len(old) :]
    return path


def without_shared_fields(before: DocumentAnswer, after: DocumentAnswer) -> tuple[Contract, Contract]:
    """Return two versions whose fields differ just as those of the whole documents do."""
    try:
        one, other = (dict(answer.document) for answer in (before, after))
        if "fields" in one and "fields" in other:
            kept = frozenset((*_words_apart(one.get("primary_key")), *_words_apart(other.get("primary_key"))))
            one["fields"], other["fields"] = _without_shared(one["fields"], other["fields"], kept)
        elif _names(one) == _names(other):
            pairs = zip(one["schema"], other["schema"], strict=True)
            objects = [_objects(*pair) for pair in pairs]
            one["schema"], other["schema"] = [item for item, _ in objects], [item for _, item in objects]
        return contract_from(one), contract_from(other)
    except (InvalidDocument, AttributeError, KeyError, TypeError):
        return parse_contract(before), parse_contract(after)  # a document of a shape that cannot be shortened like this


def _objects(one: dict[str, Any], other: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    before, after = _without_shared(one.get("properties") or [], other.get("properties") or [], frozenset())
    return {**one, "properties": before}, {**other, "properties": after}


def _without_shared(before: list[Any], after: list[Any], kept: frozenset[str]) -> tuple[list[Any], list[Any]]:
    """Leave out fields that both sides have alike; one stays, for there must be one."""
    known = {field["name"]: field for field in before}
    shared = {field["name"] for field in after if known.get(field["name"]) == field and field["name"] not in kept}
    shared -= {field["name"] for field in after[:1]}
    return ([one for one in before if one["name"] not in shared], [one for one in after if one["name"] not in shared])


def _names(document: dict[str, Any]) -> list[Any]:
    return [item["name"] for item in document["schema"]]


def _words_apart(value: Any) -> list[str]:
    return value if isinstance(value, list) else []
