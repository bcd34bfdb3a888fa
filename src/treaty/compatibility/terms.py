"""The terms of a field, an object and a contract: what is read, and how two readings are compared.

A term's name leads to its kinds in the catalogue. Adding a term is one row here and one function there.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from treaty.compatibility import guarantees, levels, rules
from treaty.compatibility.changes import Direction
from treaty.compatibility.comparing import (
    Bounds,
    Compare,
    Difference,
    alternatives,
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


_AROUND_SIGNS = re.compile(r" ?([(),<>:]) ?")
_TEXT_LENGTH = re.compile(r"^((?:n?var)?char2?|character varying|character)\(([0-9]{1,9})\)$")


def _stored(field: Field) -> tuple[DataType | None, str | None]:
    """Read the stored type, spelt one way, beside the type it amounts to; the length of a text is a term of its own."""
    if not field.physical_type:
        return field.type, None
    spelt = _AROUND_SIGNS.sub(r"\1", " ".join(field.physical_type.lower().split()))
    return field.type, _TEXT_LENGTH.sub(r"\1", spelt)


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
    if field.logical_type == "integer":  # above 0 and from 1 on are the same whole numbers
        low, low_open = (low + 1, False) if low_open and isinstance(low, int) else (low, low_open)
        high, high_open = (high - 1, False) if high_open and isinstance(high, int) else (high, high_open)
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


def _length(field: Field) -> Bounds:
    options = field.options or EMPTY
    stored = _TEXT_LENGTH.match("".join((field.physical_type or "").lower().split()))
    longest = options.get("maxLength")
    return Bounds(low=options.get("minLength") or None, high=int(stored[2]) if longest is None and stored else longest)


def _item_count(field: Field) -> Bounds:
    options = field.options or EMPTY
    return Bounds(low=options.get("minItems") or None, high=options.get("maxItems"))


def _option(name: str) -> Callable[[Field], Any]:
    return lambda field: (field.options or EMPTY).get(name)


def _format(field: Field) -> Any:
    """Read the format, where it is not the width of a number."""
    return None if field.logical_type in ("integer", "number") else _option("format")(field)


def allowed_values(field: Field) -> tuple[Any, ...] | None:
    """Return the values a field may hold: its enum, or a rule that no other value may occur."""
    if field.enum is not None:
        return tuple(item["value"] for item in field.enum)
    return next(filter(None, map(_listed_values, field.quality or ())), None)


def _listed_values(rule: Mapping[str, Any]) -> tuple[Any, ...] | None:
    """Return the values that a rule lists, as documents before 3.2 do."""
    arguments = rule.get("arguments")
    if rule.get("metric") != "invalidValues" or not isinstance(arguments, Mapping) or len(arguments) != 1:
        return None
    none_may_be_bad = (rule.get("mustBe"), rule.get("mustBeLessThan")) in ((0, None), (None, 1))
    listed = arguments.get("validValues")
    is_strict = none_may_be_bad and rule.get("mustBe") is not False
    return listed if is_strict and isinstance(listed, tuple) else None


def _field_rules(field: Field) -> tuple[Any, ...]:
    """Return the quality rules of a field, without one that only lists its values."""
    allowed = allowed_values(field)
    return tuple(rule for rule in field.quality or () if allowed is None or _listed_values(rule) != allowed)


def _definitions(owner: Field | SchemaObject | Contract) -> dict[str, tuple[str, ...]]:
    """Return authoritative definitions by their type."""
    by_type: dict[str, tuple[str, ...]] = {}
    for entry in owner.authoritative_definitions or ():
        kind = str(entry.get("type"))
        by_type[kind] = (*by_type.get(kind, ()), str(entry.get("url")))
    return by_type


def _definition_notes(owner: Field | SchemaObject | Contract) -> dict[str, Any]:
    return {
        f"definition.{entry.get('type')}.{entry.get('url')}": entry.get("description")
        for entry in owner.authoritative_definitions or ()
    }


def _relationships(owner: Field | SchemaObject) -> dict[str, Any]:
    return {_target(entry): entry for entry in owner.relationships or ()}


def _target(entry: Mapping[str, Any]) -> str:
    to = entry.get("to")
    text = ", ".join(to) if isinstance(to, tuple) else str(to)
    origin = entry.get("from")
    return f"{', '.join(origin) if isinstance(origin, tuple) else origin} -> {text}" if origin else text


def _time_zone(field: Field) -> Any:
    options = field.options or EMPTY
    if options.get("timezone") is False and not field.treaty.get("time_zone"):
        return "no time zone"
    named = (
        field.treaty.get("time_zone") or options.get("defaultTimezone") or ("UTC" if options.get("timezone") else None)
    )
    return "UTC" if named in ("Etc/UTC", "Etc/GMT", "GMT", "Z") else named


def _role(field: Field) -> Any:
    """Read ODCS's semantic type, which is `column` unless said otherwise."""
    role = field.more.get("semanticType")
    return None if role == "column" else role


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
    return {key: value for key, value in (field.options or EMPTY).items() if key not in _GRADED_OPTIONS and value != 0}


def _field_metadata(field: Field) -> dict[str, Any]:
    other = {key: value for key, value in field.more.items() if key != "semanticType"}
    other |= {"id": field.id, "businessName": field.business_name}
    other |= _custom(field.custom_properties, _GRADED_FIELD_KEYS & field.treaty.keys())
    return {key: value for key, value in other.items() if value not in (None, (), EMPTY)}


def _field_notes(field: Field) -> dict[str, Any]:
    """Return the words beside values, rules and definitions: they count only where both versions have them."""
    values = {
        f"enum.{brief(item['value'])}": {key: word for key, word in item.items() if key != "value"}
        for item in field.enum or ()
    }
    return values | _rule_words(field.quality) | _definition_notes(field)


def _rule_words(entries: Any) -> dict[str, Any]:
    """Return what rules say besides what they check."""
    words: dict[str, Any] = {}
    for rule in entries or ():
        checked = rules.essence(rule)
        said = {key: value for key, value in rule.items() if key in rules.WORDS_OF_A_RULE and key not in checked}
        words[_free(f"quality.{rules.measure(rule)}", words)] = said
    return words


def _free(name: str, taken: Mapping[str, Any]) -> str:
    """Return the name, or one beside it where it is taken."""
    while name in taken:
        name += "'"
    return name


def _custom(entries: Any, graded: Any) -> dict[str, Any]:
    """Return the custom properties that no other term reads, by name."""
    found: dict[str, Any] = {}
    for index, entry in enumerate(entries or ()):
        name = entry.get("property")
        if name in graded:
            continue
        key = name if name in block_names() else f"customProperties.{name if name is not None else index}"
        words = {word: value for word, value in entry.items() if word != "property"}
        found[_free(key, found)] = words.get("value") if words.keys() <= {"value"} else words
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
    _field_term("field.range", _range, bounds, "options", "logical_type"),
    _field_term("field.length", _length, bounds, "options", "physical_type"),
    _field_term("field.item_count", _item_count, bounds, "options"),
    _field_term("field.pattern", _option("pattern"), replaced, "options"),
    _field_term("field.format", _format, replaced, "options", "logical_type"),
    _field_term("field.unique", lambda field: bool(field.unique), flag, "unique"),
    _field_term("field.unique", lambda field: bool(_option("uniqueItems")(field)), flag, "options"),
    _field_term("field.constraint", _other_options, keyed(replaced), "options"),
    _field_term("field.default", lambda field: field.treaty.get("default"), replaced, *_OWN),
    _field_term("field.unit", lambda field: field.treaty.get("unit"), replaced, *_OWN),
    _field_term("field.time_zone", _time_zone, replaced, "options", *_OWN),
    _field_term("field.semantic_type", lambda field: field.treaty.get("semantic_type"), replaced, *_OWN),
    _field_term("field.semantic_type", _role, replaced, "more"),
    _field_term("definition", _definitions, keyed(alternatives), "authoritative_definitions"),
    _field_term("quality", _field_rules, rules.quality_rules, "quality", "enum"),
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
    _field_term("field.metadata", _field_notes, in_both(replaced), "enum", "quality", "authoritative_definitions"),
)


def _object_metadata(item: SchemaObject) -> dict[str, Any]:
    other = {**item.more, "id": item.id, "physicalType": item.physical_type}
    other |= _custom(item.custom_properties, ())
    return {key: value for key, value in other.items() if value not in (None, (), EMPTY)}


def _object_notes(item: SchemaObject) -> dict[str, Any]:
    return _rule_words(item.quality) | _definition_notes(item)


OBJECT_TERMS: tuple[Term, ...] = (
    Term("object.physical_name", lambda item: item.physical_name or item.name, swapped),
    Term("object.granularity", lambda item: item.granularity, replaced),
    Term("definition", _definitions, keyed(alternatives)),
    Term("quality", lambda item: item.quality or (), rules.quality_rules),
    Term("relationship", _relationships, keyed(presence)),
    Term("contract.description", lambda item: item.description, replaced),
    Term("object.metadata", _object_metadata, keyed(replaced)),
    Term("object.metadata", _object_notes, in_both(replaced)),
)


def _levels(contract: Contract) -> dict[str, Any]:
    return _named_levels(entry for entry in contract.sla or () if not levels.is_retention(entry))


def _retention(contract: Contract) -> dict[str, Any]:
    return _named_levels(entry for entry in contract.sla or () if levels.is_retention(entry))


def _named_levels(entries: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Name service levels; where several have one name, the driver tells them apart."""
    listed = list(entries)
    names = Counter(map(levels.level_name, listed))
    named: dict[str, Any] = {}
    for entry in listed:
        name = levels.level_name(entry)
        driven = f" for {entry['driver']}" if names[name] > 1 and entry.get("driver") else ""
        named[_free(f"sla.{name}{driven}", named)] = levels.level_of(entry)
    return named


def _owners(contract: Contract) -> dict[str, Any]:
    """Return owners by team; a contact counts where the owner names it, not where it is a support channel."""
    declared = contract.treaty.owners is not None
    return {f"owners.{owner.team}": str(owner) if declared else owner.team for owner in contract.owners}


def _team_notes(team: Any) -> Any:
    """Return what the team says besides who owns the contract."""
    if isinstance(team, Mapping):
        return {key: value for key, value in team.items() if key != "name" and (key != "members" or team.get("name"))}
    return tuple(
        {key: value for key, value in member.items() if key not in ("name", "username")} for member in team or ()
    )


def _servers(contract: Contract) -> dict[str, Any]:
    named: dict[str, Any] = {}
    for server in contract.servers or ():
        named[_free(f"servers.{server.get('server')}", named)] = server
    return named


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
    said |= {f"sla.{levels.level_name(entry)}": levels.level_words(entry) for entry in contract.sla or ()}
    return said | _definition_notes(contract)


CONTRACT_TERMS: tuple[Term, ...] = (
    Term("sla", _levels, keyed(levels.level)),
    Term("retention", _retention, keyed(levels.level)),
    Term("contract.ordering", lambda contract: contract.treaty.ordering, guarantees.ordering),
    Term("contract.delivery", lambda contract: contract.treaty.delivery, guarantees.delivery),
    Term("contract.latency", lambda contract: contract.treaty.latency, guarantees.latency),
    Term("contract.change_policy", lambda contract: contract.treaty.change_policy, guarantees.change_policy),
    Term(
        "contract.exclusions",
        lambda contract: {f"exclusions.{one.what}": one.what for one in contract.treaty.exclusions},
        keyed(replaced),
    ),
    Term(
        "contract.intended_consumers",
        lambda contract: {f"intended_consumers.{one.name}": one.name for one in contract.treaty.intended_consumers},
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
    Term("definition", _definitions, keyed(alternatives)),
    Term("contract.metadata", _contract_metadata, keyed(replaced)),
    Term("contract.metadata", _contract_notes, in_both(replaced)),
)
