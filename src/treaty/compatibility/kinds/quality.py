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

    Consumers gain by it. Check old data against it first, or the first run will fail.

    Example: "at most 0.1 % of orders without a payment".
    """
    return f"quality rule {change.subject!r}{_where(change)} added; check that existing data keeps it"


@kind("quality", {Direction.REMOVED: Grade(Bump.MAJOR, READERS)})
def quality_rule_removed(change: Change) -> str:
    """A quality rule is no longer promised.

    Why it hurts: consumers who relied on it must now check for themselves, and will find out late.

    Example: the row-count check of a daily feed is dropped because it was noisy.

    Instead: mend the threshold, or waive the rule with an owner, a reason and an end date.
    """
    return f"quality rule {change.subject!r}{_where(change)} removed; consumers lose that promise"


@kind("quality", {Direction.TIGHTENED: Grade(Bump.MINOR)})
def quality_rule_tightened(change: Change) -> str:
    """A quality rule asks for more than before.

    Example: at most 5 nulls, before 10.
    """
    return f"quality rule {change.subject!r}{_where(change)} tightened: {change.before} -> {change.after}"


@kind("quality", {Direction.LOOSENED: Grade(Bump.MAJOR, READERS)})
def quality_rule_relaxed(change: Change) -> str:
    """A quality rule asks for less than before.

    Why it hurts: consumers built on the old threshold.

    Example: at most 10 % nulls, before 1 %.

    Instead: a waiver with an end date for a bad week; a MAJOR version for a lasting change.
    """
    return f"quality rule {change.subject!r}{_where(change)} relaxed: {change.before} -> {change.after}"


@kind("quality", {Direction.REPLACED: Grade(Bump.MAJOR, READERS)})
def quality_rule_changed(change: Change) -> str:
    """A quality rule is another one than before, and the two cannot be compared.

    Why it hurts: nobody can tell from two queries that the new one asks for no less; the old promise is gone.

    Example: the SQL of a rule is rewritten.

    Instead: add the new rule beside the old one, and remove the old one with the next MAJOR version. A team that reads
    every rewritten rule may re-grade this kind.
    """
    return f"quality rule {change.subject!r}{_where(change)} changed: {change.before} -> {change.after}"


@kind("relationship", {Direction.ADDED: Grade(Bump.MINOR)})
def relationship_added(change: Change) -> str:
    """The contract promises that values refer to another dataset.

    Example: `customer_id` refers to `customers.customer_id`.
    """
    return f"relationship to {change.subject!r}{_where(change)} added"


@kind("relationship", {Direction.REMOVED: Grade(Bump.MAJOR, READERS)})
def relationship_removed(change: Change) -> str:
    """The contract no longer promises that values refer to another dataset.

    Why it hurts: joins that always matched may now lose rows.

    Example: `customer_id` may name guests who have no profile.
    """
    return f"relationship to {change.subject!r}{_where(change)} removed; joins may lose rows"
