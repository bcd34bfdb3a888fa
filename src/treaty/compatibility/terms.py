"""The terms of a field, an object and a contract: what is read, and how two readings are compared.

A term's name leads to its kinds in the catalogue. Adding a term is one row here and one function there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from treaty.compatibility import guarantees, levels, rules
from treaty.compatibility.changes import Direction
from treaty.compatibility.comparing import (
    Bounds,
    Compare,
    Difference,
    bounds,
    flag,
    in_both,
    keyed,
    mark,
    presence,
    replaced,
    swapped,
    value_set,
)
from treaty.contracts.model import Contract, Field, SchemaObject
from treaty.contracts.schemas import block_names
from treaty.contracts.types import DataType, widens
from treaty.contracts.values import EMPTY, brief


@dataclass(frozen=True, slots=True)
class Term:
    """One promise: how to read it, how to compare two of it, and the attributes it rests on (all, if none is named)."""

    name: str
    read: Callable[[Any], Any]
    compare: Compare
    rests_on: frozenset[str] = frozenset()


def _types(before: DataType | None, after: DataType | None) -> list[Difference]:
    if before == after:
        return []
    direction = Direction.REPLACED
    if before is None or after is None:
        direction = Direction.ADDED if before is None else Direction.REMOVED
    elif widens(before, after):
        direction = Direction.LOOSENED
    elif widens(after, before):
        direction = Direction.TIGHTENED
    return [Difference(direction, _text(before), _text(after))]


def _stored(field: Field) -> tuple[DataType | None, str | None]:
    """Read the stored type, spelt one way, beside the type it amounts to."""
    return field.type, " ".join(field.physical_type.lower().split()) if field.physical_type else None


def _storage(before: tuple[Any, str | None], after: tuple[Any, str | None]) -> Iterator[Difference]:
    """Compare stored types, where the difference is not one of types already."""
    if before[0] == after[0]:
        yield from replaced(before[1], after[1])


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def _range(field: Field) -> Bounds:
    options = field.options or EMPTY
    low, low_open = _bound(options, "minimum", "exclusiveMinimum", max)
    high, high_open = _bound(options, "maximum", "exclusiveMaximum", min)
    return Bounds(low, low_open, high, high_open)


def _bound(options: Mapping[str, Any], closed: str, opened: str, stricter: Any) -> tuple[Any, bool]:
    """Read a bound in either notation: a value of its own, or a flag beside the closed bound."""
    value, extra = options.get(closed), options.get(opened)
    if isinstance(extra, bool):
        return value, extra and value is not None
    if value is None or extra is None:
        return (extra, True) if extra is not None else (value, False)
    try:
        tighter = stricter(value, extra)
    except TypeError:
        return value, False
    return tighter, tighter == extra


def _option_bounds(low: str, high: str) -> Callable[[Field], Bounds]:
    def read(field: Field) -> Bounds:
        options = field.options or EMPTY
        return Bounds(options.get(low) or None, False, options.get(high), False)

    return read


def _option(name: str) -> Callable[[Field], Any]:
    return lambda field: (field.options or EMPTY).get(name)


def _format(field: Field) -> Any:
    """Read the format, where it is not the width of a number."""
    return None if field.logical_type in ("integer", "number") else _option("format")(field)


def allowed_values(field: Field) -> tuple[Any, ...] | None:
    """Return the values a field may hold: its enum, or a rule that no other value may occur."""
    if field.enum is not None:
        return tuple(item["value"] for item in field.enum)
    listing = _value_listing(field)
    return tuple(listing["arguments"]["validValues"]) if listing is not None else None


def _value_listing(field: Field) -> Mapping[str, Any] | None:
    """Return the rule by which documents before 3.2 list a field's values."""
    for rule in field.quality or ():
        arguments = rule.get("arguments")
        if rule.get("metric") == "invalidValues" and isinstance(arguments, Mapping) and "validValues" in arguments:
            allowed_bad = (rule.get("mustBe"), rule.get("mustBeLessThan"))
            if allowed_bad in ((0, None), (None, 1)) and len(arguments) == 1:
                return rule
    return None


def _rules(owner: Field | SchemaObject) -> dict[str, Any]:
    """Return quality rules by name, without the one that stands for an enum."""
    listing = _value_listing(owner) if isinstance(owner, Field) and owner.enum is None else None
    named: dict[str, Any] = {}
    for rule in owner.quality or ():
        if rule is listing:
            continue
        name = rules.rule_name(rule)
        while name in named:
            name += "'"
        named[name] = rule
    return named


def _definitions(owner: Field | SchemaObject | Contract) -> dict[str, str]:
    """Return authoritative definitions by their type."""
    by_type: dict[str, list[str]] = {}
    for entry in owner.authoritative_definitions or ():
        by_type.setdefault(str(entry.get("type")), []).append(str(entry.get("url")))
    return {name: ", ".join(sorted(urls)) for name, urls in by_type.items()}


def _relationships(owner: Field | SchemaObject) -> dict[str, Any]:
    return {_target(entry): entry for entry in owner.relationships or ()}


def _target(entry: Mapping[str, Any]) -> str:
    to = entry.get("to")
    text = ", ".join(to) if isinstance(to, tuple) else str(to)
    origin = entry.get("from")
    return f"{', '.join(origin) if isinstance(origin, tuple) else origin} -> {text}" if origin else text


def _time_zone(field: Field) -> Any:
    options = field.options or EMPTY
    if field.treaty.get("time_zone"):
        return field.treaty["time_zone"]
    if options.get("timezone") is False:
        return "no time zone"
    return options.get("defaultTimezone") or ("Etc/UTC" if options.get("timezone") else None)


def _is_unique(field: Field) -> bool:
    return bool(field.unique) or bool(_option("uniqueItems")(field))


def _semantic_type(field: Field) -> Any:
    return field.treaty.get("semantic_type") or field.more.get("semanticType")


_GRADED_OPTIONS = frozenset(
    [
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "minLength",
        "maxLength",
        "minItems",
        "maxItems",
        "uniqueItems",
        "pattern",
        "format",
        "timezone",
        "defaultTimezone",
        "dimensions",
        "elementType",
    ]
)
_GRADED_FIELD_KEYS = frozenset({"unit", "default", "semantic_type", "time_zone"})


def _other_options(field: Field) -> dict[str, Any]:
    return {key: value for key, value in (field.options or EMPTY).items() if key not in _GRADED_OPTIONS}


def _field_metadata(field: Field) -> dict[str, Any]:
    other = {key: value for key, value in field.more.items() if key != "semanticType"}
    other |= {"id": field.id, "businessName": field.business_name}
    other |= _custom(field.custom_properties, _GRADED_FIELD_KEYS & field.treaty.keys())
    return {key: value for key, value in other.items() if value not in (None, (), EMPTY)}


def _field_notes(field: Field) -> dict[str, Any]:
    """Return the words beside values and rules, which mean something only where both versions have them."""
    values = {
        f"enum.{brief(item['value'])}": {key: word for key, word in item.items() if key != "value"}
        for item in field.enum or ()
    }
    return values | _rule_words(field.quality)


def _rule_words(entries: Any) -> dict[str, Any]:
    """Return what rules say besides what they check."""
    words = rules.WORDS_OF_A_RULE - {"id", "name"}
    return {
        f"quality.{rules.rule_name(rule)}": {key: value for key, value in rule.items() if key in words}
        for rule in entries or ()
    }


def _custom(entries: Any, graded: Any) -> dict[str, Any]:
    """Return the custom properties that no other term reads, by name."""
    found: dict[str, Any] = {}
    for index, entry in enumerate(entries or ()):
        name = entry.get("property")
        if name in graded:
            continue
        key = name if name in block_names() else f"customProperties.{name if name is not None else index}"
        while key in found:
            key += "'"
        found[key] = entry.get("value")
    return found


_TYPE = ("logical_type", "physical_type", "options")
_OWN = ("custom_properties",)


def _field_term(name: str, read: Callable[[Field], Any], compare: Compare, *rests_on: str) -> Term:
    return Term(name, read, compare, frozenset(rests_on))


FIELD_TERMS: tuple[Term, ...] = (
    _field_term("field.type", lambda field: field.type, _types, *_TYPE),
    _field_term("field.physical_type", _stored, _storage, *_TYPE),
    _field_term("field.required", lambda field: field.is_required, flag, "required", "primary_key"),
    _field_term("field.enum", allowed_values, value_set, "enum", "quality"),
    _field_term("field.range", _range, bounds, "options"),
    _field_term("field.length", _option_bounds("minLength", "maxLength"), bounds, "options"),
    _field_term("field.item_count", _option_bounds("minItems", "maxItems"), bounds, "options"),
    _field_term("field.pattern", _option("pattern"), replaced, "options"),
    _field_term("field.format", _format, replaced, "options", "logical_type"),
    _field_term("field.unique", _is_unique, flag, "unique", "options"),
    _field_term("field.constraint", _other_options, keyed(replaced), "options"),
    _field_term("field.default", lambda field: field.treaty.get("default"), replaced, *_OWN),
    _field_term("field.unit", lambda field: field.treaty.get("unit"), replaced, *_OWN),
    _field_term("field.time_zone", _time_zone, replaced, "options", *_OWN),
    _field_term("field.semantic_type", _semantic_type, replaced, "more", *_OWN),
    _field_term("definition", _definitions, keyed(replaced), "authoritative_definitions"),
    _field_term("quality", _rules, keyed(rules.quality_rule), "quality", "enum"),
    _field_term("relationship", _relationships, keyed(presence), "relationships"),
    _field_term("field.description", lambda field: field.description, replaced, "description"),
    _field_term("field.classification", lambda field: field.classification, replaced, "classification"),
    _field_term(
        "field.physical_name",
        lambda field: field.physical_name or field.name,
        swapped,
        "physical_name",
        "name",
    ),
    _field_term("field.deprecated", lambda field: bool(field.deprecated), mark, "deprecated"),
    _field_term("field.metadata", _field_metadata, keyed(replaced), "id", "business_name", "more", *_OWN),
    _field_term("field.metadata", _field_notes, in_both(replaced), "enum", "quality"),
)


def _object_metadata(item: SchemaObject) -> dict[str, Any]:
    other = {f"{item.name}.{key}": value for key, value in item.more.items()}
    other[f"{item.name}.physicalType"] = item.physical_type
    other |= {f"{item.name}.{key}": value for key, value in _custom(item.custom_properties, ()).items()}
    return {key: value for key, value in other.items() if value not in (None, (), EMPTY)}


def _object_notes(item: SchemaObject) -> dict[str, Any]:
    return {f"{item.name}.{key}": value for key, value in _rule_words(item.quality).items()}


OBJECT_TERMS: tuple[Term, ...] = (
    Term("object.primary_key", lambda item: item.primary_key, swapped),
    Term("object.physical_name", lambda item: item.physical_name or item.name, swapped),
    Term("object.granularity", lambda item: item.granularity, replaced),
    Term("definition", _definitions, keyed(replaced)),
    Term("quality", _rules, keyed(rules.quality_rule)),
    Term("relationship", _relationships, keyed(presence)),
    Term("contract.description", lambda item: item.description, replaced),
    Term("object.metadata", _object_metadata, keyed(replaced)),
    Term("object.metadata", _object_notes, in_both(replaced)),
)


def _levels(contract: Contract) -> dict[str, Any]:
    entries = (entry for entry in contract.sla or () if not levels.is_retention(entry))
    return {f"sla.{levels.level_name(entry)}": levels.level_of(entry) for entry in entries}


def _retention(contract: Contract) -> dict[str, Any]:
    entries = (entry for entry in contract.sla or () if levels.is_retention(entry))
    return {f"sla.{levels.level_name(entry)}": levels.level_of(entry) for entry in entries}


def _owners(contract: Contract) -> dict[str, Any]:
    """Return owners by team; a contact counts where the owner names it, not where it is a support channel."""
    declared = contract.treaty.owners is not None
    return {owner.team: str(owner) if declared else owner.team for owner in contract.owners}


def _team_notes(team: Any) -> Any:
    """Return what the team says besides who owns the contract."""
    if isinstance(team, Mapping):
        return {key: value for key, value in team.items() if key != "name" and (key != "members" or team.get("name"))}
    return tuple(
        {key: value for key, value in member.items() if key not in ("name", "username")} for member in team or ()
    )


def _servers(contract: Contract) -> dict[str, Any]:
    return {str(server.get("server")): server for server in contract.servers or ()}


def _descriptions(contract: Contract) -> dict[str, Any]:
    return {f"description.{key}": value for key, value in (contract.description or EMPTY).items()}


_GRADED_BLOCKS = frozenset(
    [
        "owners",
        "deprecation",
        "change_policy",
        "intended_consumers",
        "delivery",
        "ordering",
        "latency",
        "exclusions",
        "event",
        "source_authority",
    ]
)


def _contract_metadata(contract: Contract) -> dict[str, Any]:
    other: dict[str, Any] = dict(contract.more)
    for name in ("name", "status", "domain", "support"):
        other[name] = getattr(contract, name)
    other |= {"team": _team_notes(contract.team), "apiVersion": contract.api_version}
    other |= _custom(contract.custom_properties, _GRADED_BLOCKS & _blocks_read(contract))
    return {key: value for key, value in other.items() if value not in (None, {}, (), EMPTY)}


def _blocks_read(contract: Contract) -> frozenset[str]:
    return frozenset(name for name in _GRADED_BLOCKS if getattr(contract.treaty, name) not in (None, ()))


def _contract_notes(contract: Contract) -> dict[str, Any]:
    """Return the words beside graded promises: they explain, they do not promise."""
    blocks = contract.treaty
    said: dict[str, Any] = {
        f"{name}.statement": getattr(block, "statement", None)
        for name in ("ordering", "delivery", "latency", "change_policy")
        if (block := getattr(blocks, name)) is not None
    }
    if blocks.delivery:
        said["delivery.channels"] = blocks.delivery.channels
    said |= {f"intended_consumers.{one.name}": (one.purpose, one.consumer_class) for one in blocks.intended_consumers}
    said |= {f"exclusions.{one.what}": one.why for one in blocks.exclusions}
    return said | {f"sla.{levels.level_name(entry)}": levels.level_words(entry) for entry in contract.sla or ()}


CONTRACT_TERMS: tuple[Term, ...] = (
    Term("sla", _levels, keyed(levels.level)),
    Term("retention", _retention, keyed(levels.level)),
    Term("contract.ordering", lambda contract: contract.treaty.ordering, guarantees.ordering),
    Term("contract.delivery", lambda contract: contract.treaty.delivery, guarantees.delivery),
    Term("contract.latency", lambda contract: contract.treaty.latency, guarantees.latency),
    Term("contract.change_policy", lambda contract: contract.treaty.change_policy, guarantees.change_policy),
    Term(
        "contract.exclusions",
        lambda contract: {one.what: one.what for one in contract.treaty.exclusions},
        keyed(replaced),
    ),
    Term(
        "contract.intended_consumers",
        lambda contract: {one.name: one.name for one in contract.treaty.intended_consumers},
        keyed(replaced),
    ),
    Term("contract.event_type", lambda contract: contract.treaty.event and contract.treaty.event.type, replaced),
    Term(
        "contract.event_meaning",
        lambda contract: contract.treaty.event and contract.treaty.event.meaning,
        replaced,
    ),
    Term("contract.source_authority", lambda contract: contract.treaty.source_authority, replaced),
    Term("contract.deprecation", lambda contract: contract.treaty.deprecation, guarantees.deprecation),
    Term("contract.owners", _owners, keyed(replaced)),
    Term("contract.servers", _servers, keyed(replaced)),
    Term("contract.description", _descriptions, keyed(replaced)),
    Term("definition", _definitions, keyed(replaced)),
    Term("contract.metadata", _contract_metadata, keyed(replaced)),
    Term("contract.metadata", _contract_notes, in_both(replaced)),
)
