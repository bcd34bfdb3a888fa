"""Quality rules and relationships that a contract promises."""

from __future__ import annotations

from treaty.compatibility.changes import Change, Direction
from treaty.compatibility.kinds.table import READERS, Grade, kind
from treaty.contracts.versions import Bump


def _where(change: Change) -> str:
    return f" of field {change.field!r}" if change.field else ""


@kind("quality", {Direction.ADDED: Grade(Bump.MINOR, caution=True)})
def quality_rule_added(change: Change) -> str:
    """The contract promises one more quality rule.

    Consumers benefit from it. Check existing data against the rule first, or the first run will fail.

    Example: "at most 0.1 % of orders without a payment".
    """
    return f"quality rule {change.subject!r}{_where(change)} added; check that existing data satisfies it"


@kind("quality", {Direction.REMOVED: Grade(Bump.MAJOR, READERS)})
def quality_rule_removed(change: Change) -> str:
    """A quality rule is no longer promised.

    Why it hurts: consumers that relied on it now have to check the data themselves, and will find problems late.

    Example: the row-count check of a daily feed is dropped because it was noisy.

    Instead: correct the threshold, or waive the rule with an owner, a reason and an end date.
    """
    return f"quality rule {change.subject!r}{_where(change)} removed; consumers lose that promise"


@kind("quality", {Direction.TIGHTENED: Grade(Bump.MINOR)})
def quality_rule_tightened(change: Change) -> str:
    """A quality rule is stricter than before.

    Example: at most 5 nulls instead of 10.
    """
    return f"quality rule {change.subject!r}{_where(change)} tightened: {change.before} -> {change.after}"


@kind("quality", {Direction.LOOSENED: Grade(Bump.MAJOR, READERS)})
def quality_rule_relaxed(change: Change) -> str:
    """A quality rule is less strict than before.

    Why it hurts: consumers rely on the old threshold.

    Example: at most 10 % nulls instead of 1 %.

    Instead: use a waiver with an end date for a temporary problem, and a MAJOR version for a permanent change.
    """
    return f"quality rule {change.subject!r}{_where(change)} relaxed: {change.before} -> {change.after}"


@kind("quality", {Direction.REPLACED: Grade(Bump.MAJOR, READERS)})
def quality_rule_changed(change: Change) -> str:
    """A quality rule was replaced by one that cannot be compared with it.

    Why it hurts: two queries cannot be compared automatically, so the new rule may be weaker than the old promise.

    Example: the SQL of a rule is rewritten.

    Instead: add the new rule next to the old one, and remove the old one in the next MAJOR version. A team that reviews
    every rewritten rule can re-grade this kind.
    """
    return f"quality rule {change.subject!r}{_where(change)} changed: {change.before} -> {change.after}"


@kind("relationship", {Direction.ADDED: Grade(Bump.MINOR)})
def relationship_added(change: Change) -> str:
    """The contract promises that values refer to another object.

    Example: `customer_id` refers to `customers.customer_id`.
    """
    return f"relationship to {change.subject!r}{_where(change)} added"


@kind("relationship", {Direction.REMOVED: Grade(Bump.MAJOR, READERS)})
def relationship_removed(change: Change) -> str:
    """The contract no longer promises that values refer to another object.

    Why it hurts: joins that always matched may now lose rows.

    Example: `customer_id` may now identify guests that have no profile.
    """
    return f"relationship to {change.subject!r}{_where(change)} removed; joins may lose rows"
