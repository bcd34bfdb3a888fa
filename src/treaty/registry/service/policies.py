"""The policies above a contract, weakened terms, and the children in breach of a policy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date

from treaty.contracts.findings import Finding, Severity
from treaty.contracts.model import Contract
from treaty.errors import InvalidDocument
from treaty.governance.inheritance import Violation, ancestors, find_weakened_terms, is_policy
from treaty.governance.lifecycle import Status
from treaty.governance.waivers import Waiver
from treaty.registry.store import Connection, governance_records, search, versions

_GONE = frozenset({Status.RETIRED, Status.ARCHIVED})


@dataclass(frozen=True, slots=True)
class WeakenedTerm:
    """A violation, and the waiver that covers it, if any."""

    violation: Violation
    waiver: Waiver | None

    @property
    def stands(self) -> bool:
        """Whether no waiver covers it."""
        return self.waiver is None


@dataclass(frozen=True, slots=True)
class Child:
    """A contract below a policy, with its violations."""

    contract: str
    version: str
    teams: frozenset[str]
    violations: tuple[Violation, ...]


def policies_above(connection: Connection, contract: Contract) -> tuple[Contract, ...]:
    """Return the policies a contract inherits from, nearest first; a parent that is missing or no policy is refused."""
    parent = contract.treaty.parent
    if parent is None:
        return ()
    result: dict[str, Contract] = {}
    while parent is not None and parent not in result and parent != contract.id:
        policy = in_force(connection, parent)
        if policy is None:
            break
        if not is_policy(policy):
            raise InvalidDocument(f"{contract.id} inherits from {parent!r}, which is no policy; its tier says so")
        result[parent] = policy
        parent = policy.treaty.parent
    return ancestors(contract, result)


def in_force(connection: Connection, name: str) -> Contract | None:
    """Return the version of a contract that binds: the highest active one, else the highest that is not gone."""
    registered = versions.list_versions(connection, name)
    active = [version for version in registered if version.status is Status.ACTIVE]
    binding = active or [version for version in registered if version.status not in _GONE]
    return versions.contract_of(connection, binding[0]) if binding else None


def weakened_terms(
    connection: Connection, contract: Contract, policies: tuple[Contract, ...], today: date
) -> list[WeakenedTerm]:
    """Return every term that is weaker than a policy allows, each with its waiver."""
    violations = find_weakened_terms(contract, policies)
    if not violations:
        return []
    in_place = governance_records.waivers_in_force(connection, today)
    return [WeakenedTerm(violation, _waiver_for(violation, contract.id, in_place)) for violation in violations]


def children_in_breach(connection: Connection, policy: Contract) -> list[Child]:
    """Return the contracts below a policy, at any depth, that violate it."""
    return [child for child in _children(connection, policy) if child.violations]


def _children(connection: Connection, policy: Contract) -> Iterator[Child]:
    if not is_policy(policy):
        return
    seen = {policy.id}
    pending = [policy.id]
    while pending:
        for name in search.children_of(connection, pending.pop()):
            if name in seen:
                continue
            seen.add(name)
            pending.append(name)
            for line in _live_heads(connection, name):
                child = versions.contract_of(connection, line)
                yield Child(name, line.version, line.teams, find_weakened_terms(child, (policy,)))


def _live_heads(connection: Connection, name: str) -> list[versions.StoredVersion]:
    """Return the highest version of each line that is still in use."""
    heads: dict[int, versions.StoredVersion] = {}
    for version in versions.list_versions(connection, name):
        if version.status not in _GONE:
            heads.setdefault(version.major, version)
    return list(heads.values())


def _waiver_for(violation: Violation, contract: str, in_place: list[Waiver]) -> Waiver | None:
    finding = Finding(violation.kind, Severity.ERROR, violation.message, violation.path)
    return next((waiver for waiver in in_place if waiver.covers(finding, contract)), None)
