"""The effective views of the consumers of registered contracts, and what a candidate changes for them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import date

from treaty.compatibility import Change
from treaty.compatibility.judge import FurtherChanges
from treaty.consumers.subscriptions import Subscription
from treaty.consumers.view_changes import below_policy, view_changes
from treaty.contracts.model import Contract
from treaty.contracts.versions import Line
from treaty.governance.effective import effective_contract
from treaty.governance.policy_chain import is_policy
from treaty.registry.rules import RegistryRules
from treaty.registry.service.policies import lines_below, policies_above
from treaty.registry.store import Connection, subscriptions
from treaty.registry.store.visibility import Sight

HIDDEN_CONSUMER = "a consumer that you may not see"


def find_view_changes(connection: Connection, sight: Sight, rules: RegistryRules, today: date) -> FurtherChanges:
    """Return the function that finds what consumers read differently: of a contract, or of those below a policy."""

    def find(before: Contract, after: Contract) -> Iterator[Change]:
        if is_policy(after):
            yield from _changes_below(connection, sight, rules, before, after, today)
            return
        readers = _readers(connection, sight, before)
        if readers:
            old = policies_above(connection, sight, before, rules.default_policies, today)
            new = policies_above(connection, sight, after, rules.default_policies, today)
            views = effective_contract(before, old).contract, effective_contract(after, new).contract
            yield from view_changes(*views, readers, old, new)

    return find


def _changes_below(
    connection: Connection, sight: Sight, rules: RegistryRules, before: Contract, after: Contract, today: date
) -> Iterator[Change]:
    for child in lines_below(connection, after, rules.default_policies):
        readers = _readers(connection, sight, child) if sight.sees(child.id) else []
        if not readers:
            continue
        above = policies_above(connection, sight, child, rules.default_policies, today)
        old = tuple(before if policy.id == before.id else policy for policy in above)
        new = tuple(after if policy.id == after.id else policy for policy in above)
        views = effective_contract(child, old).contract, effective_contract(child, new).contract
        for change in view_changes(*views, readers, old, new):
            yield below_policy(change, child)


def _readers(connection: Connection, sight: Sight, contract: Contract) -> list[Subscription]:
    version = contract.semantic_version
    if version is None:
        return []
    listed = [one.subscription for one in subscriptions.subscribers(connection, Line(contract.id, version.major))]
    return [one if sight.sees(one.consumer) else replace(one, consumer=HIDDEN_CONSUMER) for one in listed]
