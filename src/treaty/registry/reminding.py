"""Consumers who are still to move are reminded, by the calendar."""

from __future__ import annotations

from datetime import date

from treaty.registry import boards
from treaty.registry.answers import StepAnswer
from treaty.registry.ground_rules import GroundRules
from treaty.registry.opening import next_reminder
from treaty.registry.store import kept, moving
from treaty.registry.store.moving import KeptMigration
from treaty.registry.store.transaction import Transaction

_CLOCK = "calendar"


def remind(transaction: Transaction, rules: GroundRules, limit: int = 100) -> list[StepAnswer]:
    """Remind those who are still to move, as often as the settings say, and once after the window has ended."""
    today = transaction.now.date()
    return [_reminded(transaction, rules, one, today) for one in moving.due(transaction.connection, today, limit)]


def _reminded(transaction: Transaction, rules: GroundRules, one: KeptMigration, today: date) -> StepAnswer:
    left = [it for it in boards.standings(transaction.connection, rules, one, today) if it.is_left]
    ends = one.ends_on or today
    when = f"ends on {ends}" if ends >= today else f"ended on {ends}"
    names = ", ".join(it.consumer for it in left) or "nobody"
    said = f"the window {when}; still to move: {names}"
    transaction.record(
        _CLOCK,
        "migration.remind",
        f"{one.line} -> {one.to_line}",
        details={"migration": one.id, "consumers": [it.consumer for it in left]},
    )
    moving.change(transaction, one.id, remind_on=next_reminder(one.ends_on, rules.reminders, today))
    if left:
        parties = {it.consumer for it in left} | {it.team for it in left if it.team}
        parties |= kept.owners_of(transaction.connection, one.line) | ({one.owner} if one.owner else set())
        transaction.notify(
            "migration.reminder" if ends >= today else "migration.overdue",
            one.contract,
            f"{one.line} -> {one.to_line}: {said}",
            version=one.to_version,
            details={
                "migration": one.id,
                "ends_on": str(ends),
                "guide": one.guide,
                "consumers": {it.consumer: it.state.value for it in left},
            },
            parties=parties,
        )
    members = kept.in_line(transaction.connection, one.line)
    status = members[0].status.value if members else "gone"
    return StepAnswer(contract=one.contract, version=one.version, before=status, after=status, reason=said)
