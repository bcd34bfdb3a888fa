"""The chain of policies above a contract: named parents, default policies, and the versions that are in force."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any, TypeAlias

from treaty.contracts.model import Contract
from treaty.errors import InvalidDocument
from treaty.governance.lifecycle import Status, day_of

POLICY_TIERS = ("enterprise", "domain")


def is_policy(contract: Contract) -> bool:
    """Return whether a contract is a policy, whose terms bind the contracts that inherit from it."""
    return contract.treaty.tier in POLICY_TIERS


@dataclass(frozen=True, slots=True)
class FoundPolicy:
    """A policy by name: the version to inherit from, and whether it binds; a draft or a later date does not."""

    contract: Contract
    binds: bool = True


FindPolicy: TypeAlias = Callable[[str], FoundPolicy | None]
"""Finds a policy by its id; None if there is none."""

_BINDING = frozenset({Status.ACTIVE, Status.DEPRECATED, Status.SUNSET})
_ENDED = frozenset({Status.RETIRED, Status.ARCHIVED})


def binding_policy(versions: Iterable[tuple[Contract, Status]], today: date) -> FoundPolicy | None:
    """Return the version of a policy that is in force on a day; without one, the highest, which binds no contract.

    A version is in force if it is active, else deprecated or in sunset, and its `effective_from` has come.
    """
    in_use = [(contract, status) for contract, status in versions if status not in _ENDED]
    holding = [
        (status is Status.ACTIVE, _order(contract), contract)
        for contract, status in in_use
        if status in _BINDING and in_force_from(contract) <= today
    ]
    if holding:
        return FoundPolicy(max(holding, key=lambda one: one[:2])[2])
    return FoundPolicy(max((one for one, _ in in_use), key=_order), binds=False) if in_use else None


def in_force_from(policy: Contract) -> date:
    """Return the day from which a policy is in force; without `effective_from`, it always is."""
    text = policy.treaty.effective_from
    return day_of(text, "effective_from") if text else date.min


def _order(contract: Contract) -> tuple[int, int, int]:
    version = contract.semantic_version
    return (version.major, version.minor, version.patch) if version else (-1, -1, -1)


@dataclass(frozen=True)
class DefaultPolicies:
    """The policies of contracts that do not inherit from them anyway: by prefix of the id, by domain, or for all."""

    prefixes: Mapping[str, str] = field(default_factory=dict)
    domains: Mapping[str, str] = field(default_factory=dict)
    everything: str | None = None

    def policies_for(self, contract_id: str, domain: str | None) -> tuple[str, ...]:
        """Return the default policies of a contract, the most specific first."""
        matching = sorted((prefix for prefix in self.prefixes if contract_id.startswith(prefix)), key=len, reverse=True)
        names = [self.prefixes[prefix] for prefix in matching]
        names += [self.domains[domain]] if domain is not None and domain in self.domains else []
        names += [self.everything] if self.everything else []
        return tuple(dict.fromkeys(names))

    def __bool__(self) -> bool:
        """Whether there is any."""
        return bool(self.prefixes or self.domains or self.everything)


NO_DEFAULTS = DefaultPolicies()
_DOMAIN = "domain:"
_EVERYTHING = "*"


def parse_default_policies(data: Mapping[str, Any]) -> DefaultPolicies:
    """Parse `policies.defaults`: a prefix of ids, `domain:NAME` or `*`, each with the id of a policy."""
    prefixes: dict[str, str] = {}
    domains: dict[str, str] = {}
    for scope, name in data.items():
        if not isinstance(name, str) or not name.strip() or not scope.strip():
            raise InvalidDocument(f"policies.defaults: {scope!r} needs the id of a policy, not {name!r}")
        if scope.startswith(_DOMAIN):
            domains[scope.removeprefix(_DOMAIN).strip()] = name
        elif scope != _EVERYTHING:
            prefixes[scope] = name
    return DefaultPolicies(prefixes, domains, data.get(_EVERYTHING))


def policy_chain(contract: Contract, find: FindPolicy, defaults: DefaultPolicies = NO_DEFAULTS) -> tuple[Contract, ...]:
    """Return the policies that bind a contract, nearest first: those above it, then its default policies.

    A parent that is unknown, no policy or the contract itself is refused; an unknown default policy binds no contract.
    """
    chain: dict[str, FoundPolicy] = {}
    parent = contract.treaty.parent
    while parent is not None:
        if parent in chain or parent == contract.id:
            raise InvalidDocument(f"{contract.id} inherits from itself through {parent}; remove one of these parents")
        policy = find(parent)
        if policy is None:
            raise InvalidDocument(f"{contract.id} inherits from {parent!r}, which is not registered; register it first")
        if not is_policy(policy.contract):
            raise InvalidDocument(f"{contract.id} inherits from {parent!r}, which is no policy; its tier says so")
        chain[parent] = policy
        parent = policy.contract.treaty.parent
    return with_defaults(contract, chain, find, defaults)


def with_defaults(
    contract: Contract, parents: Mapping[str, FoundPolicy], find: FindPolicy, defaults: DefaultPolicies
) -> tuple[Contract, ...]:
    """Return the policies above a contract and its most specific default policy, without those that do not bind.

    Policies of domains come before those of the enterprise, so that the nearer value is inherited.
    """
    chain = dict(parents)
    for name in defaults.policies_for(contract.id, contract.domain):
        chain |= _default_chain(contract, name, find, chain)
        if name in chain:
            break
    binding = [policy.contract for policy in chain.values() if policy.binds]
    return tuple(sorted(binding, key=lambda policy: policy.treaty.tier == "enterprise"))


def _default_chain(
    contract: Contract, name: str, find: FindPolicy, known: Mapping[str, FoundPolicy]
) -> dict[str, FoundPolicy]:
    """Return a default policy and the policies above it that are not known yet; none for these policies themselves."""
    chain: dict[str, FoundPolicy] = {}
    above: str | None = name
    while above is not None and above not in chain:
        policy = find(above)
        if above == contract.id:
            return {}
        if policy is None or not is_policy(policy.contract):
            break
        chain[above] = policy
        above = policy.contract.treaty.parent
    return {above: policy for above, policy in chain.items() if above not in known}
