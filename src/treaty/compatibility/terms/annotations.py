"""Annotations that fields, objects and contracts share: definitions, relationships, custom properties."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from typing import Any

from treaty.compatibility.terms import quality_rules
from treaty.contracts.foreign import carries_constructs
from treaty.contracts.model import Contract, Field, SchemaObject
from treaty.contracts.schemas import block_names


def definitions(owner: Field | SchemaObject | Contract) -> dict[str, tuple[str, ...]]:
    """Return authoritative definitions by type."""
    by_type: dict[str, tuple[str, ...]] = {}
    for entry in owner.authoritative_definitions or ():
        kind = str(entry.get("type"))
        by_type[kind] = (*by_type.get(kind, ()), str(entry.get("url")))
    return by_type


def definition_notes(owner: Field | SchemaObject | Contract) -> dict[str, Any]:
    """Return the descriptions of definitions."""
    return {
        f"definition.{entry.get('type')}.{entry.get('url')}": entry.get("description")
        for entry in owner.authoritative_definitions or ()
    }


def foreign_constructs(owner: Field | SchemaObject | Contract) -> dict[str, str]:
    """Return the texts of foreign constructs by format and name."""
    named = UniqueNames()
    for construct in owner.foreign:
        named.put(f"{construct.format} {construct.name}", construct.text)
    return named


def relationships(owner: Field | SchemaObject) -> dict[str, Any]:
    """Return relationships by their target."""
    return {_target(entry): entry for entry in owner.relationships or ()}


def relationship_notes(owner: Field | SchemaObject) -> dict[str, Any]:
    """Return the annotations of relationships by their target."""
    return {
        f"relationship.{_target(entry)}": {key: entry[key] for key in entry if key not in ("from", "to", "type")}
        for entry in owner.relationships or ()
    }


def _target(entry: Mapping[str, Any]) -> str:
    to = entry.get("to")
    text = ", ".join(to) if isinstance(to, tuple) else str(to)
    origin = entry.get("from")
    return f"{', '.join(origin) if isinstance(origin, tuple) else origin} -> {text}" if origin else text


def rule_annotations(entries: Any) -> dict[str, Any]:
    """Return the annotations of quality rules, which do not affect what is checked."""
    words = UniqueNames()
    for rule in entries or ():
        checked = quality_rules.normalize_rule(rule)
        annotations = {
            key: value for key, value in rule.items() if key in quality_rules.RULE_ANNOTATIONS and key not in checked
        }
        words.put(f"quality.{quality_rules.describe_rule(rule)}", annotations)
    return words


class UniqueNames(dict[str, Any]):
    """Values by name; a repeated name is numbered, in document order."""

    def __init__(self) -> None:
        super().__init__()
        self._taken: Counter[str] = Counter()

    def put(self, name: str, value: Any) -> None:
        """Add a value under its name."""
        self._taken[name] += 1
        self[name if self._taken[name] == 1 else f"{name} ({self._taken[name]})"] = value


def custom_metadata(entries: Any, graded: Collection[str] = ()) -> dict[str, Any]:
    """Return the custom properties that no other term reads, by name."""
    found = UniqueNames()
    for index, entry in enumerate(entries or ()):
        name = entry.get("property")
        if (isinstance(name, str) and name in graded) or carries_constructs(entry):
            continue
        key = (
            str(name)
            if isinstance(name, str) and name in block_names()
            else f"customProperties.{name if name is not None else index}"
        )
        words = {word: value for word, value in entry.items() if word != "property"}
        found.put(key, words.get("value") if words.keys() <= {"value"} else words)
    return found
