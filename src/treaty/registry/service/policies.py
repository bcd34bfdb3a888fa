"""The policies that bind a contract in a registry: its chain, its effective contract, and the children of a policy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date

from treaty.contracts.findings import Finding, Severity
from treaty.contracts.model import Contract
from treaty.governance.effective import EffectiveContract, effective_contract
from treaty.governance.inheritance import Violation, find_weakened_terms
from treaty.governance.lifecycle import Status
from treaty.governance.policy_chain import DefaultPolicies, FoundPolicy, binding_policy, is_policy, policy_chain
from treaty.governance.waivers import Waiver
from treaty.registry.rules import RegistryRules
from treaty.registry.store import Connection, governance_records, search, versions
from treaty.registry.store.versions import StoredVersion
from treaty.registry.store.visibility import EVERYTHING_VISIBLE, Sight

_GONE = frozenset({Status.RETIRED, Status.ARCHIVED})


@dataclass(frozen=True, slots=True)
class WeakenedTerm:
    """A violation, and the waiver that covers it, if any."""

    violation: Violation
    waiver: Waiver | None


@dataclass(frozen=True, slots=True)
class Child:
    """A contract below a policy, with its violations."""

    contract: str
    version: str
    teams: frozenset[str]
    violations: tuple[Violation, ...]


def policies_above(
    connection: Connection, sight: Sight, contract: Contract, defaults: DefaultPolicies, today: date
) -> tuple[Contract, ...]:
    """Return the policies that bind a contract on a day, nearest first; an invalid parent is refused."""
    if contract.treaty.parent is None and not defaults:
        return ()

    def find(name: str) -> FoundPolicy | None:
        return find_policy(connection, name, today) if sight.sees(name) else None

    return policy_chain(contract, find, defaults)


def missing_defaults(connection: Connection, contract: Contract, defaults: DefaultPolicies) -> tuple[str, ...]:
    """Return the default policies of a contract that are not registered, and therefore bind no contract."""
    names = defaults.policies_for(contract.id, contract.domain)
    return tuple(name for name in names if name != contract.id and not versions.list_versions(connection, name))


def find_policy(connection: Connection, name: str, today: date) -> FoundPolicy | None:
    """Return the version of a policy that is in force on a day."""
    registered = versions.list_versions(connection, name)
    in_use = [version for version in registered if version.status not in _GONE]
    return binding_policy(((versions.contract_of(connection, one), one.status) for one in in_use), today)


def effective_of(
    connection: Connection, rules: RegistryRules, version: StoredVersion, today: date
) -> EffectiveContract:
    """Return a registered version with everything it inherits on a day."""
    contract = versions.contract_of(connection, version)
    return effective_contract(
        contract, policies_above(connection, EVERYTHING_VISIBLE, contract, rules.default_policies, today)
    )


def weakened_terms(
    connection: Connection, contract: Contract, policies: tuple[Contract, ...], today: date
) -> list[WeakenedTerm]:
    """Return every term that is weaker than a policy allows, each with its waiver."""
    violations = find_weakened_terms(contract, policies)
    if not violations:
        return []
    in_place = governance_records.waivers_in_force(connection, today)
    return [WeakenedTerm(violation, _waiver_for(violation, contract.id, in_place)) for violation in violations]


def children_in_breach(
    connection: Connection, sight: Sight, policy: Contract, defaults: DefaultPolicies
) -> list[Child]:
    """Return the contracts below a policy, at any depth or by default, that violate it."""
    children = (
        Child(contract.id, version.version, version.teams, find_weakened_terms(contract, (policy,)))
        for contract, version in _lines_below(connection, policy, defaults)
    )
    return [child for child in children if child.violations and sight.sees(child.contract)]


def lines_below(connection: Connection, policy: Contract, defaults: DefaultPolicies) -> Iterator[Contract]:
    """Yield the newest version of each line in use below a policy, at any depth or by default."""
    for contract, _ in _lines_below(connection, policy, defaults):
        yield contract


def _lines_below(
    connection: Connection, policy: Contract, defaults: DefaultPolicies
) -> Iterator[tuple[Contract, StoredVersion]]:
    if not is_policy(policy):
        return
    seen = {policy.id}
    pending = [policy.id]
    while pending:
        above = pending.pop()
        for name in (*search.children_of(connection, above), *_default_children(connection, above, defaults)):
            if name in seen:
                continue
            seen.add(name)
            pending.append(name)
            for line in _live_heads(connection, name):
                yield versions.contract_of(connection, line), line


def _default_children(connection: Connection, policy: str, defaults: DefaultPolicies) -> list[str]:
    """Return the contracts that a policy binds by default."""
    if not defaults:
        return []
    return [
        name
        for name, domain in search.ids_and_domains(connection)
        if policy in defaults.policies_for(name, domain) and name != policy
    ]


def _live_heads(connection: Connection, name: str) -> list[StoredVersion]:
    """Return the highest version of each line that is still in use."""
    heads: dict[int, StoredVersion] = {}
    for version in versions.list_versions(connection, name):
        if version.status not in _GONE:
            heads.setdefault(version.major, version)
    return list(heads.values())


def _waiver_for(violation: Violation, contract: str, in_place: list[Waiver]) -> Waiver | None:
    finding = Finding(violation.kind, Severity.ERROR, violation.message, violation.path)
    return next((waiver for waiver in in_place if waiver.covers(finding, contract)), None)
