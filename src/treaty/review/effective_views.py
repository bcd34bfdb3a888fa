"""What a branch changes for the effective views of the consumers that the repository declares."""

from __future__ import annotations

from collections.abc import Iterator

from treaty.compatibility import Change
from treaty.compatibility.judge import FurtherChanges
from treaty.consumers.subscriptions import Subscription
from treaty.consumers.view_changes import below_policy, view_changes
from treaty.contracts.model import Contract
from treaty.governance.effective import effective_contract
from treaty.governance.policy_chain import is_policy
from treaty.review.checks import is_below, policies_above
from treaty.review.context import ReviewContext


def find_view_changes(context: ReviewContext) -> FurtherChanges:
    """Return the function that finds what consumers read differently: of a contract, or of those below a policy."""

    def find(before: Contract, after: Contract) -> Iterator[Change]:
        if is_policy(after):
            yield from _changes_below(before, after, context)
            return
        readers = _readers(before, context)
        if readers:
            old, _ = policies_above(before, context.policies, context.rules)
            new, _ = policies_above(after, context.policies, context.rules)
            views = effective_contract(before, old).contract, effective_contract(after, new).contract
            yield from view_changes(*views, readers, old, new)

    return find


def _changes_below(before: Contract, after: Contract, context: ReviewContext) -> Iterator[Change]:
    for document in context.documents:
        child = document.contract
        readers = _readers(child, context)
        if not readers or not is_below(child, after.id, context.policies, context.rules):
            continue
        above, _ = policies_above(child, context.policies, context.rules)
        old = tuple(before if policy.id == before.id else policy for policy in above)
        new = tuple(after if policy.id == after.id else policy for policy in above)
        views = effective_contract(child, old).contract, effective_contract(child, new).contract
        for change in view_changes(*views, readers, old, new):
            yield below_policy(change, child)


def _readers(contract: Contract, context: ReviewContext) -> list[Subscription]:
    declared = [one.subscription for one in context.declared]
    return [one for one in declared if str(one.line) == contract.line]
