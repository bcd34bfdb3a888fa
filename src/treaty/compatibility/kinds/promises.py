"""Promises of the contract: service levels, ordering, delivery, measures, retention, owners, change policy."""

from __future__ import annotations

from treaty.compatibility.changes import Change, Direction
from treaty.compatibility.kinds.table import DATA, READERS, Grade, format_before_after, kind
from treaty.contracts.values import abbreviate
from treaty.contracts.versions import Bump

_STRONGER = Grade(Bump.MINOR)
_WEAKER = Grade(Bump.MAJOR, READERS)
_NOTE = {direction: Grade(Bump.PATCH) for direction in (Direction.REPLACED, Direction.ADDED, Direction.REMOVED)}
_GUARANTEE = {
    Direction.TIGHTENED: _STRONGER,
    Direction.ADDED: _STRONGER,
    Direction.LOOSENED: _WEAKER,
    Direction.REMOVED: _WEAKER,
    Direction.REPLACED: _WEAKER,
}


@kind("sla", {Direction.TIGHTENED: _STRONGER, Direction.ADDED: _STRONGER})
def sla_tightened(change: Change) -> str:
    """A service level promises more than before, or is promised for the first time.

    Consumers benefit from it. Units are converted: 240 min is the same promise as 4 h.

    Example: freshness goes from 6 h to 4 h.
    """
    return f"service level {change.subject} is stricter: {change.before or 'none'} -> {change.after}"


@kind("sla", {Direction.LOOSENED: _WEAKER, Direction.REMOVED: _WEAKER, Direction.REPLACED: _WEAKER})
def sla_relaxed(change: Change) -> str:
    """A service level was relaxed or removed, or replaced by one that cannot be compared.

    Why it hurts: reports and decisions are scheduled around the old promise and will use stale or missing data.

    Example: freshness goes from 4 h to 8 h.

    Instead: agree on the change with the consumers, and publish a MAJOR version with a migration window.
    """
    return f"service level {change.subject} is relaxed: {change.before} -> {change.after or 'none'}"


@kind("retention", {Direction.TIGHTENED: _STRONGER, Direction.ADDED: _STRONGER})
def retention_extended(change: Change) -> str:
    """Data is retained longer than before, or retention is promised for the first time.

    Example: 3 years instead of 1 year. Check that this is legal for personal data.
    """
    return f"retention extended: {change.before or 'none'} -> {change.after}"


@kind("retention", {Direction.LOOSENED: _WEAKER, Direction.REMOVED: _WEAKER, Direction.REPLACED: _WEAKER})
def retention_shortened(change: Change) -> str:
    """Data is retained for a shorter time than before, or retention is no longer promised.

    Why it hurts: year-on-year reports and audits lose their history.

    Example: 90 days instead of 2 years.

    Instead: give consumers time to copy what they need, and publish a MAJOR version with a migration window.
    """
    return f"retention shortened: {change.before} -> {change.after or 'none'}"


@kind("contract.ordering", _GUARANTEE)
def ordering_changed(change: Change) -> str:
    """The ordering guarantee of events was added, removed or changed.

    Why it hurts: a consumer that derives state from events relies on their order; out of order, an old event
    overwrites a newer one. A new guarantee is MINOR; a weaker or different one is MAJOR.

    Example: events were ordered by `class_id` and `sequence`, and now have no guaranteed order.
    """
    return f"ordering changed: {change.before or 'none'} -> {change.after or 'none'}"


@kind("contract.delivery", _GUARANTEE)
def delivery_changed(change: Change) -> str:
    """The delivery guarantee of rows or events was added, removed or changed.

    Why it hurts: after a change from exactly once to at least once, every consumer must deduplicate; at most once
    means that data may be missing. A stronger guarantee is MINOR.

    Example: `exactly_once` becomes `at_least_once`.
    """
    return f"delivery changed: {change.before or 'none'} -> {change.after or 'none'}"


@kind("contract.latency", _GUARANTEE)
def latency_changed(change: Change) -> str:
    """The latency profile was added, removed or changed.

    Why it hurts: consumers chose this contract for its latency.

    Example: within 5 minutes instead of within 30 seconds.
    """
    return f"latency changed: {change.before or 'none'} -> {change.after or 'none'}"


@kind("contract.change_policy", _GUARANTEE)
def change_policy_changed(change: Change) -> str:
    """The change policy is different: the pinned compatibility mode or the notice period.

    Why it hurts: consumers subscribed under the old policy. A stricter mode or a longer notice period is MINOR; a
    weaker one is MAJOR.

    Example: `compatibility: full` becomes `compatibility: backward`.
    """
    return f"{change.subject} changed: {change.before or 'none'} -> {change.after or 'none'}"


@kind("contract.content", {Direction.TIGHTENED: Grade(Bump.MAJOR, DATA)})
def content_closed(change: Change) -> str:
    """Rows may no longer have fields that the contract does not declare.

    Why it hurts: rows with undeclared fields were accepted before and now go to quarantine.

    Example: `content: closed` is added.

    Instead: check the schema drift report first, and declare the fields that the data has.
    """
    return "content closed: rows with undeclared fields are refused"


@kind("contract.content", {Direction.LOOSENED: Grade(Bump.MINOR, READERS)})
def content_opened(change: Change) -> str:
    """Rows may now have fields that the contract does not declare.

    A reader that rejects unknown fields fails on such a row; other readers see no difference.

    Example: `content: closed` is removed.
    """
    return "content opened: rows with undeclared fields are accepted"


@kind("contract.measures", {Direction.TIGHTENED: _STRONGER, Direction.ADDED: _STRONGER})
def measure_tightened(change: Change) -> str:
    """A semantic measure was added, or its target is stricter than before.

    Consumers benefit from it. Check that the data meets the target now.

    Example: `orders_with_unresolved_payment_pct` is at most 2 % instead of 3 %.
    """
    return f"measure {_measure(change)} is stricter: {change.before or 'none'} -> {change.after}"


@kind("contract.measures", {Direction.LOOSENED: _WEAKER, Direction.REMOVED: _WEAKER})
def measure_relaxed(change: Change) -> str:
    """A semantic measure was removed, or its target was relaxed or removed.

    Why it hurts: consumers judge by the measure whether the data is good enough for their decisions, and their alerts
    depend on it.

    Example: `availability_confidence` is at least 90 % instead of 95 %.

    Instead: agree on the change with the consumers, and publish a MAJOR version with a migration window.
    """
    return f"measure {_measure(change)} is relaxed: {change.before} -> {change.after or 'none'}"


@kind("contract.measures", {Direction.REPLACED: _WEAKER})
def measure_redefined(change: Change) -> str:
    """A semantic measure is computed in another way, has another unit, or its target has another bound.

    Why it hurts: the number has the same name and another meaning, so that its history cannot be compared.

    Example: `revenue_recognized_after_sla_pct` counts entries instead of amounts.

    Instead: add a measure with a new name beside it.
    """
    return f"measure {_measure(change)} is redefined: {change.before} -> {change.after}"


@kind(
    "contract.exclusions",
    {Direction.ADDED: Grade(Bump.MINOR), Direction.REMOVED: Grade(Bump.MINOR, caution=True)},
)
def exclusion_changed(change: Change) -> str:
    """An exclusion was added or removed.

    Example: "no coach contact details" is removed. Consumers that must not receive them should check.
    """
    if change.direction is Direction.ADDED:
        return f"now excludes {abbreviate(change.after)!r}"
    return f"no longer excludes {abbreviate(change.before)!r}; it may appear"


@kind(
    "contract.intended_consumers",
    {Direction.ADDED: Grade(Bump.PATCH), Direction.REMOVED: Grade(Bump.MINOR, caution=True)},
)
def intended_consumer_changed(change: Change) -> str:
    """An intended consumer was added or removed.

    Example: marketing is removed. Check that the team knows.
    """
    if change.direction is Direction.ADDED:
        return f"intended consumer {change.after!r} added"
    return f"intended consumer {change.before!r} removed"


@kind("contract.owners", _NOTE)
def owner_changed(change: Change) -> str:
    """An owner was added or removed, or has a different contact.

    The data is unchanged: PATCH. A contract without an owner is reported as `owner_missing`.

    Example: the contract moves from team-checkout to team-orders.
    """
    if change.direction is Direction.ADDED:
        return f"owner {change.after} added"
    if change.direction is Direction.REMOVED:
        return f"owner {change.before} removed"
    return f"owner contact changed: {change.before} -> {change.after}"


@kind(
    "contract.visibility",
    {direction: Grade(Bump.MINOR, caution=True) for direction in (Direction.TIGHTENED, Direction.REPLACED)},
)
def visibility_narrowed(change: Change) -> str:
    """Fewer teams may read the contract in the registry, or other teams than before.

    The data is unchanged. Teams with a subscription can still read the contract; everyone else gets the same answer
    as for a contract that does not exist.

    Example: `visibility: private` is added.
    """
    return f"visible to fewer readers: {change.before} -> {change.after}"


@kind("contract.visibility", {Direction.LOOSENED: Grade(Bump.MINOR, caution=True)})
def visibility_widened(change: Change) -> str:
    """More teams may read the contract in the registry.

    Its earlier versions and their history become visible as well. Check that they contain nothing that these readers
    must not know.

    Example: `visibility: private` is removed.
    """
    return f"visible to more readers: {change.before} -> {change.after}"


@kind(
    "contract.deprecation",
    {Direction.ADDED: Grade(Bump.MINOR, caution=True), Direction.REPLACED: Grade(Bump.MINOR, caution=True)},
)
def deprecation_announced(change: Change) -> str:
    """The contract was deprecated, or the dates or replacement of its deprecation changed.

    Nothing breaks yet. Consumers have until the sunset date to move to the replacement.

    Example: `sunset_date: 2026-02-03`, `replacement: sales-customers-v4`.
    """
    return f"deprecation announced: {abbreviate(change.after)}"


@kind("contract.deprecation", {Direction.REMOVED: Grade(Bump.PATCH)})
def deprecation_withdrawn(change: Change) -> str:
    """The deprecation of the contract was withdrawn.

    Example: the replacement was not ready.
    """
    return "deprecation withdrawn"


@kind(
    "contract.servers",
    {
        direction: Grade(Bump.MINOR, caution=True)
        for direction in (Direction.REPLACED, Direction.ADDED, Direction.REMOVED)
    },
)
def server_changed(change: Change) -> str:
    """A server was added, removed or changed.

    Why it hurts: consumers connect to it. Tell them before the old server stops.

    Example: the warehouse moves to another account.
    """
    return f"{change.subject} changed: {abbreviate(change.before or 'none')} -> {abbreviate(change.after or 'none')}"


@kind("contract.metadata", _NOTE)
def contract_metadata_changed(change: Change) -> str:
    """Metadata of the contract changed that no consumer depends on: name, tags, price, lineage, status.

    Example: the status goes from draft to active.
    """
    return f"{change.subject} changed{format_before_after(change)}"


@kind(
    "contract.require",
    {direction: Grade(Bump.MINOR, caution=True) for direction in (Direction.TIGHTENED, Direction.ADDED)},
)
def policy_rule_tightened(change: Change) -> str:
    """A rule of a policy was added, applies to more, or is more severe than before.

    Contracts below the policy may violate it: `policy_breaks_child` names them before the policy is registered.

    Example: `pii-classified` becomes an error instead of a warning.
    """
    return f"policy rule {_rule(change)} is stricter: {change.before or 'none'} -> {change.after}"


@kind(
    "contract.require",
    dict.fromkeys((Direction.LOOSENED, Direction.REMOVED, Direction.REPLACED), _WEAKER),
)
def policy_rule_relaxed(change: Change) -> str:
    """A rule of a policy was removed, applies to less, is less severe, or was replaced by another demand.

    Why it hurts: readers of the contracts below the policy rely on what it guarantees, for example that personal data
    is classified.

    Example: the rule that amounts need a currency is removed.

    Instead: add a rule beside it, or publish a MAJOR version with a migration plan.
    """
    return f"policy rule {_rule(change)} is relaxed: {change.before} -> {change.after or 'none'}"


def _measure(change: Change) -> str:
    return repr((change.subject or "").removeprefix("measures."))


def _rule(change: Change) -> str:
    return repr((change.subject or "").removeprefix("require."))
