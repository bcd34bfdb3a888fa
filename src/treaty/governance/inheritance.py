"""Policy inheritance: a contract may strengthen the terms of its policies, but never weaken them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from treaty.compatibility import Change, Direction, describe
from treaty.compatibility.diff import object_changes
from treaty.compatibility.kinds import KINDS, kind_for
from treaty.compatibility.kinds.data_policy import mask_weakened
from treaty.compatibility.kinds.meaning import field_classification_changed
from treaty.compatibility.kinds.objects import primary_key_changed
from treaty.compatibility.terms import CONTRACT_TERMS
from treaty.compatibility.terms.data_policies import mask_rules
from treaty.compatibility.terms.service_levels import compare_levels, level_name, parse_level
from treaty.contracts.findings import Severity
from treaty.contracts.model import Contract
from treaty.contracts.paths import FieldPath
from treaty.contracts.versions import Bump
from treaty.governance.effective import INHERITED_BLOCKS, effective_contract, policy_key, required_object
from treaty.governance.policy_chain import is_policy
from treaty.governance.policy_rules import VIOLATED, find_breaches
from treaty.policy.strictness import strictness

_WEAKER = frozenset({Direction.LOOSENED, Direction.REMOVED, Direction.REPLACED})
INHERITED = frozenset(f"contract.{name}" for name in INHERITED_BLOCKS)
"""Contract terms that children inherit; service levels and objects have ways of their own."""

_LIMITS = frozenset({"data_policy.purposes", "data_policy.residency", "data_policy.retention"})

_RANK = {label: rank for rank, label in enumerate(("public", "internal", "confidential", "restricted"))}
_RANK |= {"pii: false": 0, "pii: true": 1}
"""Classifications in their order: a later one strengthens an earlier one. Any other label has no order, and binds."""


@dataclass(frozen=True, slots=True)
class Violation:
    """A term that a contract weakens, and the policy that states it."""

    policy: str
    kind: str
    path: str
    message: str
    severity: Severity = Severity.ERROR

    def __str__(self) -> str:
        return f"{self.message} (from {self.policy})"


def find_weakened_terms(child: Contract, policies: Sequence[Contract]) -> tuple[Violation, ...]:
    """Return every term that a contract weakens, each with the policy that states it.

    A contract inherits what it does not state, so only what it states itself can be weaker. The rules of the policies
    are evaluated on contracts about data.
    """
    effective = effective_contract(child, policies).contract
    violations = [violation for policy in policies for violation in _against(effective, policy)]
    if not is_policy(child):
        violations += [violation for policy in policies for violation in _breaches(effective, policy)]
    return tuple(dict.fromkeys(violations))


def _breaches(child: Contract, policy: Contract) -> Iterator[Violation]:
    """Yield each part of a contract that violates a rule of a policy."""
    for breach in find_breaches(child, policy):
        rule = breach.requirement
        path = breach.path or f"require.{rule.name}"
        yield Violation(f"{policy.id} {policy.version}", VIOLATED, path, breach.message, rule.severity)


def _against(child: Contract, policy: Contract) -> Iterator[Violation]:
    name = f"{policy.id} {policy.version}"
    if policy.owners and not child.owners:
        yield Violation(name, "owner_missing", "owners", "the contract has no owner")
    found = (*_levels(child, policy), *_promises(child, policy), *_objects(child, policy), *_data_policy(child, policy))
    for change in found:
        yield Violation(name, change.kind, change.path, describe(change))


def _levels(child: Contract, policy: Contract) -> Iterator[Change]:
    """Compare service levels by name, because a child may state them for its own elements."""
    for entry in policy.sla or ():
        name = level_name({**entry, "element": None})
        own = [one for one in child.sla or () if level_name({**one, "element": None}) == name]
        kind = "retention_shortened" if name == "retention" else "sla_relaxed"
        for promise in own:
            for difference in compare_levels(parse_level(entry), parse_level(promise)):
                if difference.direction in _WEAKER:
                    yield Change(kind, difference.direction, difference.before, difference.after, subject=f"sla.{name}")


def _promises(child: Contract, policy: Contract) -> Iterator[Change]:
    for term in CONTRACT_TERMS:
        if term.name not in INHERITED:
            continue
        for difference in term.compare(term.read(policy), term.read(child)):
            if difference.direction in _WEAKER:
                kind = next(
                    one for one in KINDS.values() if one.term == term.name and difference.direction in one.grades
                )
                subject = difference.subject or term.name.rpartition(".")[2]
                yield Change(kind.id, difference.direction, difference.before, difference.after, subject=subject)


def _data_policy(child: Contract, policy: Contract) -> Iterator[Change]:
    """Compare the parts of the data policy that both state: the stricter one holds, so a weaker one misleads."""
    rules, own_rules = mask_rules(policy), mask_rules(child)
    for path in sorted(rules.keys() & own_rules.keys()):
        required, own = rules[path], own_rules[path]
        weaker = strictness(own.mask) < strictness(required.mask) or not {*own.clear_for} <= {*required.clear_for}
        if weaker:
            yield Change(mask_weakened.id, Direction.LOOSENED, str(required), str(own), subject=path)
    for term in CONTRACT_TERMS:
        stated = (term.read(policy), term.read(child)) if term.name in _LIMITS else ()
        if None in stated or not stated:
            continue
        for difference in term.compare(*stated):
            if difference.direction is not Direction.TIGHTENED:
                kind = kind_for(term.name, Direction.LOOSENED).id
                yield Change(kind, Direction.LOOSENED, difference.before, difference.after, subject=difference.subject)


def _objects(child: Contract, policy: Contract) -> Iterator[Change]:
    """Check every object of the child against the fields, rules and key of the policy."""
    for item in child.schema if policy.schema else ():
        wanted = required_object(policy, item)
        root = FieldPath(object=item.name if len(child.schema) > 1 else None)
        for change in object_changes(wanted, item, root):
            if _weakens(change) and (change.kind != primary_key_changed.id or policy_key(policy)):
                yield change


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
