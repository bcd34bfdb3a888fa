"""The tables of contract terms and object terms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from treaty.compatibility.changes import Direction
from treaty.compatibility.terms import data_policies, event_lifecycles, guarantees, quality_rules, service_levels
from treaty.compatibility.terms.annotations import (
    UniqueNames,
    custom_metadata,
    definition_notes,
    definitions,
    foreign_constructs,
    relationship_notes,
    relationships,
    rule_annotations,
)
from treaty.compatibility.terms.comparison import (
    Compare,
    Difference,
    Term,
    alternatives,
    flag,
    in_both,
    keyed,
    presence,
    replaced,
    swapped,
)
from treaty.contracts.model import Contract, SchemaObject
from treaty.contracts.values import EMPTY


def _levels(contract: Contract) -> dict[str, Any]:
    return _named_levels(entry for entry in contract.sla or () if not service_levels.is_retention(entry))


def _retention(contract: Contract) -> dict[str, Any]:
    return _named_levels(entry for entry in contract.sla or () if service_levels.is_retention(entry))


def _named_levels(entries: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return service levels by name; levels with the same name are distinguished by their driver."""
    listed = list(entries)
    names = Counter(map(service_levels.level_name, listed))
    named = UniqueNames()
    for entry in listed:
        name = service_levels.level_name(entry)
        driven = f" for {entry['driver']}" if names[name] > 1 and entry.get("driver") else ""
        named.put(f"sla.{name}{driven}", service_levels.parse_level(entry))
    return named


def _owners(contract: Contract) -> dict[str, Any]:
    """Return owners by team; contacts count only if they are declared, not if they are support channels."""
    declared = contract.treaty.owners is not None
    return {f"owners.{owner.team}": str(owner) if declared else owner.team for owner in contract.owners}


def _team_notes(team: Any) -> Any:
    """Return the keys of the team other than its owners."""
    if not isinstance(team, Mapping):
        return _member_notes(team)
    notes = {key: value for key, value in team.items() if key not in ("name", "members")}
    if members := team.get("members"):
        notes["members"] = members if team.get("name") else _member_notes(members)
    return notes


def _member_notes(members: Iterable[Mapping[str, Any]] | None) -> tuple[dict[str, Any], ...]:
    return tuple(
        {key: value for key, value in member.items() if key not in ("name", "username")} for member in members or ()
    )


def _servers(contract: Contract) -> dict[str, Any]:
    named = UniqueNames()
    for server in contract.servers or ():
        named.put(f"servers.{server.get('server')}", server)
    return named


def _descriptions(contract: Contract) -> dict[str, Any]:
    return {f"description.{key}": value for key, value in (contract.description or EMPTY).items()}


def _contract_metadata(contract: Contract) -> dict[str, Any]:
    other: dict[str, Any] = dict(contract.more)
    for name in ("name", "status", "domain", "support"):
        other[name] = getattr(contract, name)
    other |= {"team": _team_notes(contract.team), "apiVersion": contract.api_version}
    other |= custom_metadata(contract.custom_properties, _blocks_graded(contract))
    return {key: value for key, value in other.items() if value not in (None, {}, (), EMPTY)}


def _blocks_graded(contract: Contract) -> frozenset[str]:
    """Return the blocks of the contract that other terms read."""
    graded: frozenset[str] = frozenset().union(*(term.depends_on for term in CONTRACT_TERMS))
    return frozenset(name for name in graded if getattr(contract.treaty, name) not in (None, ()))


def _contract_notes(contract: Contract) -> dict[str, Any]:
    """Return explanations of promises, which are not promises themselves."""
    blocks = contract.treaty
    notes: dict[str, Any] = {
        f"{name}.statement": getattr(block, "statement", None)
        for name in ("ordering", "delivery", "latency", "change_policy")
        if (block := getattr(blocks, name)) is not None
    }
    if blocks.delivery:
        notes["delivery.channels"] = blocks.delivery.channels
    notes |= {f"intended_consumers.{one.name}": (one.purpose, one.consumer_class) for one in blocks.intended_consumers}
    notes |= {f"exclusions.{one.what}": one.why for one in blocks.exclusions}
    notes |= {f"require.{one.name}": one.message for one in blocks.require}
    notes |= {f"measures.{one.name}": (one.meaning, one.owner) for one in blocks.measures}
    notes |= event_lifecycles.meanings(contract)
    notes |= {
        f"sla.{service_levels.level_name(entry)}": service_levels.level_annotations(entry)
        for entry in contract.sla or ()
    }
    return notes | definition_notes(contract)


def _requirements(contract: Contract) -> dict[str, Any]:
    return {f"require.{one.name}": one for one in contract.treaty.require}


def _exclusions(contract: Contract) -> dict[str, Any]:
    return {f"exclusions.{one.what}": one.what for one in contract.treaty.exclusions}


def _measures(contract: Contract) -> dict[str, Any]:
    return {f"measures.{one.name}": one for one in contract.treaty.measures}


def _consumers(contract: Contract) -> dict[str, Any]:
    return {f"intended_consumers.{one.name}": one.name for one in contract.treaty.intended_consumers}


def _event(part: str) -> Callable[[Contract], Any]:
    return lambda contract: getattr(contract.treaty.event, part, None)


def _block(name: str, compare: Compare) -> Term:
    """Return the term of an extension block."""
    return Term(f"contract.{name}", lambda contract: getattr(contract.treaty, name), compare, frozenset({name}))


_PARTS = ("protobuf rpc ", "protobuf enum ", "protobuf extension ", "avro message ")
"""Foreign constructs beside the data of a contract, so that one more of them breaks nothing."""


def _construct_changes(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[Difference]:
    """Compare foreign constructs, except for parts that are new."""
    new_parts = _new_parts(before, after)
    yield from keyed(replaced)(before, {key: text for key, text in after.items() if key not in new_parts})


def _added_parts(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[Difference]:
    for key in _new_parts(before, after):
        yield Difference(Direction.ADDED, None, after[key], key)


def _new_parts(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    return sorted(key for key in after.keys() - before.keys() if key.startswith(_PARTS))


_POLICY_BLOCK = frozenset({"data_policy"})
_DATA_POLICY = (
    Term("data_policy.masks", data_policies.mask_rules, keyed(data_policies.compare_rules), _POLICY_BLOCK),
    Term("data_policy.purposes", data_policies.allowed_purposes, data_policies.compare_purposes, _POLICY_BLOCK),
    Term("data_policy.residency", data_policies.residency, data_policies.compare_residency, _POLICY_BLOCK),
    Term("data_policy.retention", data_policies.row_retention, data_policies.compare_retention, _POLICY_BLOCK),
)

_LIFECYCLE_BLOCK = frozenset({"lifecycle"})

CONTRACT_TERMS: tuple[Term, ...] = (
    Term("contract.id", lambda contract: contract.id, swapped),
    Term("sla", _levels, keyed(service_levels.compare_levels)),
    Term("retention", _retention, keyed(service_levels.compare_levels)),
    _block("ordering", guarantees.ordering),
    _block("delivery", guarantees.delivery),
    _block("latency", guarantees.latency),
    _block("change_policy", guarantees.change_policy),
    Term("contract.content", lambda contract: contract.treaty.content == "closed", flag, frozenset({"content"})),
    _block("source_authority", replaced),
    _block("deprecation", guarantees.deprecation),
    Term("contract.require", _requirements, keyed(guarantees.requirement), frozenset({"require"})),
    Term("contract.measures", _measures, keyed(guarantees.measure), frozenset({"measures"})),
    Term("contract.exclusions", _exclusions, keyed(replaced), frozenset({"exclusions"})),
    Term("contract.intended_consumers", _consumers, keyed(replaced), frozenset({"intended_consumers"})),
    Term("contract.event_type", _event("type"), replaced, frozenset({"event"})),
    Term("contract.event_meaning", _event("meaning"), replaced, frozenset({"event"})),
    Term("contract.lifecycle", event_lifecycles.stream, replaced, _LIFECYCLE_BLOCK),
    Term("contract.lifecycle_moves", event_lifecycles.moves, event_lifecycles.compare_moves, _LIFECYCLE_BLOCK),
    Term(
        "contract.lifecycle_invariants",
        event_lifecycles.invariants,
        keyed(event_lifecycles.compare_invariant),
        _LIFECYCLE_BLOCK,
    ),
    Term("contract.owners", _owners, keyed(replaced), frozenset({"owners"})),
    _block("visibility", guarantees.visibility),
    *_DATA_POLICY,
    Term("contract.servers", _servers, keyed(replaced)),
    Term("contract.description", _descriptions, keyed(replaced)),
    Term("definition", definitions, keyed(alternatives)),
    Term("foreign", foreign_constructs, _construct_changes),
    Term("foreign.part", foreign_constructs, _added_parts),
    Term("contract.metadata", _contract_metadata, keyed(replaced)),
    Term("contract.metadata", _contract_notes, in_both(replaced)),
)


def _object_metadata(item: SchemaObject) -> dict[str, Any]:
    other = {**item.more, "id": item.id, "physicalType": item.physical_type}
    other |= custom_metadata(item.custom_properties)
    return {key: value for key, value in other.items() if value not in (None, (), EMPTY)}


def _object_notes(item: SchemaObject) -> dict[str, Any]:
    return rule_annotations(item.quality) | definition_notes(item) | relationship_notes(item)


OBJECT_TERMS: tuple[Term, ...] = (
    Term("object.physical_name", lambda item: item.physical_name or item.name, swapped),
    Term("object.granularity", lambda item: item.granularity, replaced),
    Term("definition", definitions, keyed(alternatives)),
    Term("quality", lambda item: item.quality or (), quality_rules.quality_rules),
    Term("relationship", relationships, keyed(presence)),
    Term("contract.description", lambda item: item.description, replaced),
    Term("foreign", foreign_constructs, keyed(replaced)),
    Term("object.metadata", _object_metadata, keyed(replaced)),
    Term("object.metadata", _object_notes, in_both(replaced)),
)
