"""Validation of the rules of a policy (`require`) when a document is read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from treaty.contracts.findings import Finding, PlaceOf, Pointer
from treaty.contracts.quantities import parse_quantity
from treaty.contracts.requirements import Scope
from treaty.contracts.schemas import fits_block
from treaty.contracts.validation import finding_at
from treaty.contracts.values import Json

WHERE = {
    Scope.CONTRACT: frozenset({"name", "tag", "property", "domain"}),
    Scope.OBJECT: frozenset({"name", "tag", "property", "type", "domain"}),
    Scope.FIELD: frozenset({"name", "tag", "property", "type", "classification", "domain"}),
    Scope.CONSUMER: frozenset({"name", "class", "purpose", "classification", "tag", "domain", "layer"}),
}
MUST = {
    Scope.CONTRACT: frozenset(
        {"owner", "sla", "block", "description", "tag", "property", "name", "domain", "certificate"}
    ),
    Scope.OBJECT: frozenset({"primary_key", "description", "tag", "property", "name", "type"}),
    Scope.FIELD: frozenset(
        {
            *("classification", "unit", "semantic_type", "description", "type", "name", "tag", "property"),
            *("beside", "required", "unique"),
        }
    ),
    Scope.CONSUMER: frozenset({"name", "class", "purpose", "contact", "latency", "layer", "fields"}),
}
"""The conditions and demands that make sense for each scope."""

LAYERS = frozenset({"raw", "change_feed", "product", "reconciliation", "publication", "legacy"})
"""The layers that a consumer may read: those of a pipeline, and legacy feeds."""

BLOCKS = frozenset(
    {
        *("ordering", "delivery", "latency", "change_policy", "intended_consumers", "exclusions", "event", "lifecycle"),
        *("measures", "source_authority", "lineage", "content", "expires"),
    }
)


def check_requirements(document: Mapping[str, Json], place_of: PlaceOf) -> Iterator[Finding]:
    """Yield a finding for each rule that cannot be evaluated: wrong keys for its scope, or a name of another rule."""
    pointer, entries = _find_entries(document)
    seen: set[str] = set()
    for number, entry in enumerate(entries):
        at = (*pointer, number)
        if entry["name"] in seen:
            yield finding_at(f"the rule {entry['name']!r} is declared twice", (*at, "name"), place_of, "rename one")
        seen.add(entry["name"])
        for key, message, hint in _problems(entry):
            yield finding_at(message, (*at, *key), place_of, hint)


def _find_entries(document: Mapping[str, Json]) -> tuple[Pointer, list[dict[str, Json]]]:
    """Return the position and the entries: under the plain key, or among the custom properties."""
    if "require" in document:
        return ("require",), document["require"]
    for index, item in enumerate(document.get("customProperties") or ()):
        if item.get("property") == "require" and _is_list_of_rules(item.get("value")):
            return ("customProperties", index, "value"), item["value"]
    return (), []


def _is_list_of_rules(value: Json) -> bool:
    return fits_block("require", value)


def _problems(entry: Mapping[str, Json]) -> Iterator[tuple[Pointer, str, str]]:
    scope = Scope(entry["for"])
    must = entry["must"]
    if "from" in entry and scope is not Scope.CONSUMER:
        yield ("from",), f"a rule for {scope}s has no 'from'", "use effective_from of the policy"
    for part, layers in (("where", entry.get("where", {})), ("must", must)):
        unknown = sorted(set(_texts(layers.get("layer", ()))) - LAYERS)
        if unknown and scope is Scope.CONSUMER:
            yield (part, "layer"), f"there is no layer {unknown[0]!r}", _use(LAYERS)
    if set(entry.get("where", ())) - WHERE[scope]:
        unknown = sorted(set(entry["where"]) - WHERE[scope])[0]
        yield ("where", unknown), f"a rule for {scope}s has no condition {unknown!r}", _use(WHERE[scope])
    for key, options in (((), must), *((("any_of", number), one) for number, one in enumerate(must.get("any_of", ())))):
        for name, wanted in options.items():
            if name == "any_of":
                continue
            if name not in MUST[scope]:
                yield ("must", *key, name), f"a rule for {scope}s cannot require {name!r}", _use(MUST[scope])
            elif name == "sla":
                yield from _level_problems(("must", *key, name), wanted)
            elif name == "block":
                unknown = [one for one in ([wanted] if isinstance(wanted, str) else wanted) if one not in BLOCKS]
                if unknown:
                    yield ("must", *key, name), f"there is no block {unknown[0]!r} to require", _use(BLOCKS)


def _level_problems(pointer: Pointer, levels: Mapping[str, Json]) -> Iterator[tuple[Pointer, str, str]]:
    for name, amount in levels.items():
        if parse_quantity(amount, None) is None:
            yield (*pointer, name), f"{amount!r} is not an amount of {name}", "write it like 24 h or 99.9 %"


def _texts(value: Json) -> list[str]:
    return [value] if isinstance(value, str) else list(value)


def _use(names: frozenset[str]) -> str:
    return f"use one of: {', '.join(sorted(names))}"
