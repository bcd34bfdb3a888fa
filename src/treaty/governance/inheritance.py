"""Policy inheritance: a contract may strengthen the terms of its policies, but never weaken them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from treaty.compatibility import Change, Direction, describe
from treaty.compatibility.diff import object_changes
from treaty.compatibility.kinds import KINDS
from treaty.compatibility.kinds.meaning import field_classification_changed
from treaty.compatibility.kinds.objects import primary_key_changed
from treaty.compatibility.terms import CONTRACT_TERMS
from treaty.compatibility.terms.service_levels import compare_levels, level_name, parse_level
from treaty.contracts.model import Contract, Field, SchemaObject
from treaty.contracts.paths import FieldPath
from treaty.contracts.values import FrozenMap
from treaty.contracts.versions import Bump
from treaty.errors import InvalidDocument

POLICY_TIERS = ("enterprise", "domain")
_WEAKER = frozenset({Direction.LOOSENED, Direction.REMOVED, Direction.REPLACED})
INHERITED = frozenset(
    {
        "contract.ordering",
        "contract.delivery",
        "contract.latency",
        "contract.change_policy",
        "contract.content",
        "contract.exclusions",
        "contract.source_authority",
    }
)
"""Promises of the contract as a whole that children inherit; service levels and objects have ways of their own."""

_RANK = {label: rank for rank, label in enumerate(("public", "internal", "confidential", "restricted"))}
"""Classifications in their order: a later one strengthens an earlier one. Any other label has no order, and binds."""


@dataclass(frozen=True, slots=True)
class Violation:
    """A term that a contract weakens, and the policy that states it."""

    policy: str
    kind: str
    path: str
    message: str

    def __str__(self) -> str:
        return f"{self.message} (from {self.policy})"


def is_policy(contract: Contract) -> bool:
    """Return whether a contract is a policy, whose terms bind the contracts that inherit from it."""
    return contract.treaty.tier in POLICY_TIERS


def ancestors(contract: Contract, policies: Mapping[str, Contract]) -> tuple[Contract, ...]:
    """Return the policies that a contract inherits from, nearest first."""
    found: list[Contract] = []
    seen = {contract.id}
    parent = contract.treaty.parent
    while parent is not None:
        if parent in seen:
            raise InvalidDocument(f"{contract.id} inherits from itself through {parent}; remove one of these parents")
        if parent not in policies:
            raise InvalidDocument(f"{contract.id} inherits from {parent!r}, which is not registered; register it first")
        seen.add(parent)
        found.append(policies[parent])
        parent = policies[parent].treaty.parent
    return tuple(found)


def find_weakened_terms(child: Contract, policies: Sequence[Contract]) -> tuple[Violation, ...]:
    """Return every term that a contract weakens, each with the policy that states it."""
    violations = [violation for policy in policies for violation in _against(child, policy)]
    return tuple(dict.fromkeys(violations))


def _against(child: Contract, policy: Contract) -> Iterator[Violation]:
    name = f"{policy.id} {policy.version}"
    if policy.owners and not child.owners:
        yield Violation(name, "owner_missing", "owners", "the contract has no owner")
    for change in (*_levels(child, policy), *_promises(child, policy), *_objects(child, policy)):
        # a policy inherits the terms that it does not state
        if change.direction is not Direction.REMOVED or not is_policy(child):
            yield Violation(name, change.kind, change.path, describe(change))


def _levels(child: Contract, policy: Contract) -> Iterator[Change]:
    """Compare service levels by name, because a child may state them for its own elements."""
    for entry in policy.sla or ():
        name = level_name({**entry, "element": None})
        own = [one for one in child.sla or () if level_name({**one, "element": None}) == name]
        kind = "retention_shortened" if name == "retention" else "sla_relaxed"
        if not own:
            yield Change(kind, Direction.REMOVED, str(parse_level(entry)), None, subject=f"sla.{name}")
        for promise in own:
            for difference in compare_levels(parse_level(entry), parse_level(promise)):
                if difference.direction in _WEAKER:
                    yield Change(kind, difference.direction, difference.before, difference.after, subject=f"sla.{name}")


def _promises(child: Contract, policy: Contract) -> Iterator[Change]:
    for term in CONTRACT_TERMS:
        if term.name not in INHERITED or (is_policy(child) and not _says(child, term.name)):
            continue
        for difference in term.compare(term.read(policy), term.read(child)):
            if difference.direction in _WEAKER:
                kind = next(
                    one for one in KINDS.values() if one.term == term.name and difference.direction in one.grades
                )
                subject = difference.subject or term.name.rpartition(".")[2]
                yield Change(kind.id, difference.direction, difference.before, difference.after, subject=subject)


def _says(child: Contract, term: str) -> bool:
    return bool(getattr(child.treaty, term.removeprefix("contract.")))


def _objects(child: Contract, policy: Contract) -> Iterator[Change]:
    """Check every object of the child against the fields, rules and key of the policy."""
    held = child.schema if is_policy(child) else child.schema or (SchemaObject(child.id),)
    for item in held if policy.schema else ():
        wanted = _wanted(policy, item)
        root = FieldPath(object=item.name if len(child.schema) > 1 else None)
        for change in object_changes(wanted, item, root):
            if _weakens(change) and (change.kind != primary_key_changed.id or _keys_count(policy, child, item)):
                yield change


def _wanted(policy: Contract, schema_object: SchemaObject) -> SchemaObject:
    """Return the object that a policy requires: the terms of all its objects, under the name of the child's object.

    If several objects of the policy have a field of the same name, the first one counts.
    """
    fields: dict[str | None, Field] = {}
    for field in (field for policy_object in policy.schema for field in policy_object.fields):
        fields.setdefault(field.name, field)
    return replace(
        schema_object,
        properties=tuple(fields.values()),
        quality=tuple(rule for policy_object in policy.schema for rule in policy_object.quality or ()),
        relationships=tuple(
            _about(schema_object, policy_object, rule)
            for policy_object in policy.schema
            for rule in policy_object.relationships or ()
        ),
    )


def _about(schema_object: SchemaObject, required: SchemaObject, reference: FrozenMap) -> FrozenMap:
    """Return a relationship of the policy's object as one of the child's object."""
    origin = reference.get("from")
    if origin is None:
        return reference
    prefix = f"{required.name}."
    named = [
        f"{schema_object.name}.{url.removeprefix(prefix)}" for url in ([origin] if isinstance(origin, str) else origin)
    ]
    return FrozenMap({**reference, "from": named[0] if isinstance(origin, str) else named})


def _keys_count(policy: Contract, child: Contract, schema_object: SchemaObject) -> bool:
    """Return whether the policy requires a key: if its objects have different keys, none applies to every child."""
    required_keys = {policy_object.primary_key for policy_object in policy.schema if policy_object.primary_key}
    return len(required_keys) == 1 and (bool(schema_object.primary_key) or not is_policy(child))


def _weakens(change: Change) -> bool:
    if change.direction not in _WEAKER:
        return False
    if change.kind == field_classification_changed.id:  # needs no bump, but protects data
        return not _is_as_strict(change.after, change.before)
    grade = KINDS[change.kind].grades[change.direction]
    return bool(grade.bump is Bump.MAJOR or grade.breaks)


def _is_as_strict(label: Any, required: Any) -> bool:
    one, other = (str(text).strip().casefold() for text in (label, required))
    return one == other or (one in _RANK and other in _RANK and _RANK[one] > _RANK[other])
