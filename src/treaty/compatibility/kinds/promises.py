"""Promises of the contract as a whole: service levels, ordering, delivery, retention, owners, change policy."""

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

    Consumers gain by it. Units are understood: 240 min is the same promise as 4 h.

    Example: freshness 4 h, before 6 h.
    """
    return f"service level {change.subject} is stricter: {change.before or 'none'} -> {change.after}"


@kind("sla", {Direction.LOOSENED: _WEAKER, Direction.REMOVED: _WEAKER, Direction.REPLACED: _WEAKER})
def sla_relaxed(change: Change) -> str:
    """A service level promises less than before, or no longer anything, or something that cannot be compared.

    Why it hurts: reports and decisions are scheduled on the old promise and will run on stale or missing data.

    Example: freshness 8 h, before 4 h.

    Instead: agree it with the consumers, and publish it as a MAJOR version with a migration window.
    """
    return f"service level {change.subject} is relaxed: {change.before} -> {change.after or 'none'}"


@kind("retention", {Direction.TIGHTENED: _STRONGER, Direction.ADDED: _STRONGER})
def retention_extended(change: Change) -> str:
    """Data is kept longer than before, or for a promised time at last.

    Example: 3 years, before 1 year. Check that the law allows it for personal data.
    """
    return f"retention extended: {change.before or 'none'} -> {change.after}"


@kind("retention", {Direction.LOOSENED: _WEAKER, Direction.REMOVED: _WEAKER, Direction.REPLACED: _WEAKER})
def retention_shortened(change: Change) -> str:
    """Data is kept for less time than before, or for no promised time.

    Why it hurts: year-on-year reports and audits find their history gone.

    Example: 90 days, before 2 years.

    Instead: tell the consumers early enough to copy what they need; a MAJOR version with a migration window.
    """
    return f"retention shortened: {change.before} -> {change.after or 'none'}"


@kind("contract.ordering", _GUARANTEE)
def ordering_changed(change: Change) -> str:
    """The order in which events arrive is promised by another key or sequence, or came, or went.

    Why it hurts: a consumer that folds events into a state trusts their order; out of order, an old event overwrites
    a newer one. A new promise of order is MINOR; a weaker or different one is MAJOR.

    Example: ordered by `class_id` and `sequence`; now not ordered at all.
    """
    return f"ordering changed: {change.before or 'none'} -> {change.after or 'none'}"


@kind("contract.delivery", _GUARANTEE)
def delivery_changed(change: Change) -> str:
    """How often a row or event may arrive is promised differently.

    Why it hurts: from exactly once to at least once, every consumer must deduplicate; to at most once, data may be
    missing. A stronger promise is MINOR.

    Example: `exactly_once` becomes `at_least_once`.
    """
    return f"delivery changed: {change.before or 'none'} -> {change.after or 'none'}"


@kind("contract.latency", _GUARANTEE)
def latency_changed(change: Change) -> str:
    """The latency profile promises more, less or something else.

    Why it hurts: consumers chose this contract for how soon it tells them.

    Example: within 5 minutes, before within 30 seconds.
    """
    return f"latency changed: {change.before or 'none'} -> {change.after or 'none'}"


@kind("contract.change_policy", _GUARANTEE)
def change_policy_changed(change: Change) -> str:
    """The contract promises to change in another way: its pinned compatibility mode or its notice period.

    Why it hurts: consumers subscribed under the old policy. A stricter mode or a longer notice is MINOR; less is
    MAJOR.

    Example: `compatibility: full` becomes `compatibility: backward`.
    """
    return f"{change.subject} changed: {change.before or 'none'} -> {change.after or 'none'}"


@kind("contract.content", {Direction.TIGHTENED: Grade(Bump.MAJOR, DATA)})
def content_closed(change: Change) -> str:
    """Rows may no longer have fields that the contract does not know.

    Why it hurts: rows that were accepted with a field beside the contract's now go to quarantine.

    Example: `content: closed`, before open.

    Instead: look at what schema drift reports first; name the fields that are there.
    """
    return "content closed: fields the contract does not know are refused"


@kind("contract.content", {Direction.LOOSENED: Grade(Bump.MINOR, READERS)})
def content_opened(change: Change) -> str:
    """Rows may now have fields that the contract does not know.

    A reader that refuses unknown fields fails when one comes; others see no difference.

    Example: `content: closed` is struck out.
    """
    return "content opened: fields the contract does not know are let through"


@kind(
    "contract.exclusions",
    {Direction.ADDED: Grade(Bump.MINOR), Direction.REMOVED: Grade(Bump.MINOR, caution=True)},
)
def exclusion_changed(change: Change) -> str:
    """Something is newly promised not to be in the contract, or may be in it again.

    Example: "no coach contact details" is struck out. Whoever must not receive them should look.
    """
    if change.direction is Direction.ADDED:
        return f"now excludes {abbreviate(change.after)!r}"
    return f"no longer excludes {abbreviate(change.before)!r}; it may appear"


@kind(
    "contract.intended_consumers",
    {Direction.ADDED: Grade(Bump.PATCH), Direction.REMOVED: Grade(Bump.MINOR, caution=True)},
)
def intended_consumer_changed(change: Change) -> str:
    """Someone is newly named, or no longer named, as a consumer the contract is made for.

    Example: marketing is struck out. Ask whether they know.
    """
    if change.direction is Direction.ADDED:
        return f"now made for {change.after!r} too"
    return f"no longer made for {change.before!r}"


@kind("contract.owners", _NOTE)
def owner_changed(change: Change) -> str:
    """An owner came, went or has another contact.

    The data stays as it is: PATCH. A contract without any owner is `owner_missing`.

    Example: the dataset moves from team-checkout to team-orders.
    """
    if change.direction is Direction.ADDED:
        return f"owner {change.after} added"
    if change.direction is Direction.REMOVED:
        return f"owner {change.before} removed"
    return f"owner contact changed: {change.before} -> {change.after}"


@kind(
    "contract.deprecation",
    {Direction.ADDED: Grade(Bump.MINOR, caution=True), Direction.REPLACED: Grade(Bump.MINOR, caution=True)},
)
def deprecation_announced(change: Change) -> str:
    """The contract's end is announced, or its dates or replacement changed.

    Nothing breaks yet. Consumers have until the sunset date to move to the replacement.

    Example: `sunset_date: 2026-02-03`, `replacement: sales-customers-v4`.
    """
    return f"deprecation announced: {abbreviate(change.after)}"


@kind("contract.deprecation", {Direction.REMOVED: Grade(Bump.PATCH)})
def deprecation_withdrawn(change: Change) -> str:
    """The contract's end is called off.

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
    """Where the data is served came, went or changed.

    Why it hurts: consumers connect there. If the old place stops serving, tell them before.

    Example: the warehouse moves to another account.
    """
    return f"{change.subject} changed: {abbreviate(change.before or 'none')} -> {abbreviate(change.after or 'none')}"


@kind("contract.metadata", _NOTE)
def contract_metadata_changed(change: Change) -> str:
    """Something about the contract changed that no consumer's code depends on: name, tags, price, lineage, status.

    Example: the status goes from draft to active.
    """
    return f"{change.subject} changed{format_before_after(change)}"
