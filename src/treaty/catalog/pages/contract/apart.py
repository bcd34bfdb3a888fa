"""Two documents without the fields they share, so that telling them apart does not cost what reading them does."""

from __future__ import annotations

from typing import Any

from treaty.catalog.pages.contract.dossier import contract_of
from treaty.contracts.loading import contract_from
from treaty.contracts.model import Contract
from treaty.errors import InvalidDocument
from treaty.registry.answers import DocumentAnswer


def apart(before: DocumentAnswer, after: DocumentAnswer) -> tuple[Contract, Contract]:
    """Return two versions whose fields differ just as those of the whole documents do."""
    try:
        one, other = (dict(answer.document) for answer in (before, after))
        if "fields" in one and "fields" in other:
            kept = frozenset((*_words(one.get("primary_key")), *_words(other.get("primary_key"))))
            one["fields"], other["fields"] = _without_shared(one["fields"], other["fields"], kept)
        elif _names(one) == _names(other):
            pairs = zip(one["schema"], other["schema"], strict=True)
            objects = [_objects(*pair) for pair in pairs]
            one["schema"], other["schema"] = [item for item, _ in objects], [item for _, item in objects]
        return contract_from(one), contract_from(other)
    except (InvalidDocument, AttributeError, KeyError, TypeError):
        return contract_of(before), contract_of(after)  # a document of a shape that cannot be shortened like this


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


def _words(value: Any) -> list[str]:
    return value if isinstance(value, list) else []
