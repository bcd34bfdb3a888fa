"""What a change means for the effective views of consumers, field by field."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from treaty.compatibility.changes import Change, Direction
from treaty.compatibility.kinds.data_policy import effective_view_changed
from treaty.consumers.subscriptions import Subscription
from treaty.contracts.data_policies import Mask
from treaty.contracts.model import Contract
from treaty.policy import Decision, EffectiveView, FieldView, effective_view
from treaty.policy.strictness import is_comparable, strictness

_SUBJECT = "effective_view"


def view_changes(
    before: Contract,
    after: Contract,
    subscriptions: Iterable[Subscription],
    policies_before: Sequence[Contract] = (),
    policies_after: Sequence[Contract] | None = None,
) -> Iterator[Change]:
    """Yield a change for each field that consumers read differently, with the consumers that do.

    Both contracts are effective contracts. Fields that only one of them has are left to the diff.
    """
    later = policies_before if policies_after is None else policies_after
    if not any(contract.treaty.data_policy for contract in (before, after, *policies_before, *later)):
        return
    found: defaultdict[tuple[str, Direction, str, str], list[str]] = defaultdict(list)
    for subscription in subscriptions:
        old = effective_view(before, subscription, policies=policies_before)
        new = effective_view(after, subscription, policies=later)
        for field, direction, one, other in _differences(old, new):
            found[field, direction, one, other].append(subscription.consumer)
    for (field, direction, one, other), consumers in found.items():
        names = tuple(sorted(set(consumers)))
        yield Change(effective_view_changed.id, direction, one, other, field, _SUBJECT, consumers=names)


def below_policy(change: Change, contract: Contract) -> Change:
    """Return a change of a contract below a policy as a change of the policy, which has no such field itself."""
    return replace(change, field=None, subject=f"{contract.line or contract.id} {change.field}")


def _differences(old: EffectiveView, new: EffectiveView) -> Iterator[tuple[str, Direction, str, str]]:
    later = {field.path: field for field in new.fields}
    for field in old.fields:
        other = later.get(field.path)
        if other is None or (field.decision, field.mask) == (other.decision, other.mask):
            continue
        yield str(field.path), _direction(field, other), _words(field), _words(other)


def _words(field: FieldView) -> str:
    return str(field.mask) if field.mask else field.decision.value


def _direction(before: FieldView, after: FieldView) -> Direction:
    if after.decision is Decision.FORBIDDEN:
        return Direction.TIGHTENED
    if before.decision is Decision.FORBIDDEN:
        return Direction.LOOSENED
    if _is_matched(before.mask) or not _is_comparable(before.mask, after.mask):
        return Direction.REPLACED  # stored hashes and tokens no longer match
    one, other = strictness(before.mask), strictness(after.mask)
    if one == other:
        return Direction.REPLACED
    return Direction.TIGHTENED if other > one else Direction.LOOSENED


def _is_matched(mask: Mask | None) -> bool:
    return mask is not None and mask.method.needs_key


def _is_comparable(one: Mask | None, other: Mask | None) -> bool:
    return one is None or other is None or is_comparable(one, other)
