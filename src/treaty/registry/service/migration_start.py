"""The start of a migration, acknowledgements, windows and reminders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from treaty.governance.lifecycle import days_in
from treaty.registry.access.actors import CALENDAR
from treaty.registry.model import StepAnswer
from treaty.registry.rules import Acknowledgement, Approval, RegistryRules
from treaty.registry.service import migration_status
from treaty.registry.service.affected_consumers import AffectedConsumer, find_affected
from treaty.registry.service.judgement import Judgement
from treaty.registry.service.migration_status import ConsumerStatus
from treaty.registry.store import Connection, migration_records, versions
from treaty.registry.store.migration_records import ConsumerState, MigrationState, StoredMigration
from treaty.registry.store.transaction import Transaction
from treaty.registry.store.visibility import Sight, public_sight, sees_consumer, visible_consumers

_MAX_DAYS = 36_500


@dataclass(frozen=True)
class Waiting:
    """What a version waits for: acknowledgements of critical consumers, and an approval."""

    consumers: tuple[AffectedConsumer, ...]
    approval: bool
    unconfirmed: tuple[AffectedConsumer, ...] = ()
    """Critical consumers that it does not wait for, because their teams have not confirmed them."""

    def __bool__(self) -> bool:
        """Whether the version must be proposed first."""
        return bool(self.consumers) or self.approval


def readers(connection: Connection, judgement: Judgement) -> Sequence[AffectedConsumer]:
    """Return the consumers of the old line, and those behind other lines that are hit.

    None if the version does not break consumers, or does not open a line.
    """
    moves = judgement.before is not None and judgement.verdict.opens_line and judgement.breaks_consumers
    return find_affected(connection, judgement).consumers if moves else ()


def waits(rules: RegistryRules, judgement: Judgement, affected: Sequence[AffectedConsumer]) -> Waiting:
    """Return what an admissible version waits for, given the consumers of the old line."""
    required = rules.acknowledgement is Acknowledgement.REQUIRED
    return Waiting(
        tuple(reader for reader in affected if required and reader.must_acknowledge),
        judgement.breaks_consumers and rules.approval is Approval.REQUIRED,
        tuple(reader for reader in affected if required and reader.is_unconfirmed),
    )


def propose(
    transaction: Transaction, actor: str, judgement: Judgement, affected: Sequence[AffectedConsumer], proposal: int
) -> int:
    """Start a migration that waits for acknowledgements, and request them; once for each proposal."""
    known = migration_records.proposed_as(transaction.connection, proposal)
    if known is not None:
        return known.id
    identity = _add(transaction, actor, judgement, affected, MigrationState.PROPOSED, proposal)
    contract = judgement.candidate.contract
    critical = [reader for reader in affected if reader.must_acknowledge]
    sight = public_sight(transaction)
    names = ", ".join(visible_consumers(critical, sight))
    transaction.notify(
        "migration.proposed",
        contract.id,
        f"{contract.id} {contract.version} waits for acknowledgement by {names}",
        version=contract.version,
        details={
            "migration": identity,
            "proposal": proposal,
            "consumers": {
                reader.name: [change.message for change in reader.impact.changes]
                for reader in critical
                if sees_consumer(sight, reader)
            },
        },
        parties={party for reader in critical for party in reader.parties},
    )
    return identity


def begin(transaction: Transaction, actor: str, rules: RegistryRules, judgement: Judgement) -> None:
    """Start the window of a migration when its version is registered."""
    if judgement.before is None or not judgement.verdict.opens_line:
        return
    contract = judgement.candidate.contract
    waiting = migration_records.waiting_for(transaction.connection, contract.id, contract.version)
    if waiting is None:
        affected = readers(transaction.connection, judgement)
        if not affected:
            return
        identity = _add(transaction, actor, judgement, affected, MigrationState.OPEN, None)
    else:
        identity = waiting.id
    plan, today = contract.treaty.migration, transaction.now.date()
    ends = window_end(today, plan.window if plan else None)
    migration_records.change(
        transaction,
        identity,
        state=MigrationState.OPEN.value,
        opened_at=transaction.now,
        ends_on=ends,
        remind_on=next_reminder(ends, rules.reminders, today),
    )


def window_end(start: date, window: str | None) -> date | None:
    """Return the day a window ends; None without a length."""
    days = days_in(window)
    return None if days is None else start + timedelta(days=min(days, _MAX_DAYS))


def next_reminder(ends: date | None, days_before: Sequence[int], after: date) -> date | None:
    """Return the next day to remind consumers: some days before the end, and the day after it."""
    if ends is None:
        return None
    days = sorted({ends - timedelta(days=days) for days in days_before} | {ends + timedelta(days=1)})
    return next((day for day in days if day > after), None)


def _add(
    transaction: Transaction,
    actor: str,
    judgement: Judgement,
    affected: Sequence[AffectedConsumer],
    state: MigrationState,
    proposal: int | None,
) -> int:
    contract, before = judgement.candidate.contract, judgement.before
    assert before is not None  # noqa: S101 - the first line has no consumers yet
    plan = contract.treaty.migration
    identity = transaction.record(
        actor,
        "migration.open" if state is MigrationState.OPEN else "migration.propose",
        f"{before.line} -> {judgement.candidate.line}",
        before=before.digest,
        after=judgement.candidate.digest,
        details={"version": contract.version, "consumers": [reader.name for reader in affected], "proposal": proposal},
    )
    migration_records.add(
        transaction,
        {
            "id": identity,
            "contract": contract.id,
            "major": before.major,
            "version": before.version,
            "to_major": judgement.candidate.parts[0],
            "to_version": contract.version,
            "guide": plan.guide if plan else None,
            "window": plan.window if plan else None,
            "owner": plan.owner if plan else None,
            "state": state.value,
            "proposal": proposal,
            "opened_at": transaction.now,
        },
    )
    for reader in affected:
        values = {
            "state": ConsumerState.WAITING.value,
            "effect": reader.impact.effect.value,
            "consumer_class": reader.subscribed.subscription.consumer_class.value,
            "team": reader.subscribed.team,
            "via": str(reader.via) if reader.via else None,
            "changed_at": transaction.now,
            "changed_by": actor,
        }
        migration_records.put_consumer(transaction, identity, reader.name, values)
    return identity


def remind(transaction: Transaction, rules: RegistryRules, limit: int = 100) -> list[StepAnswer]:
    """Remind consumers that have not moved, on the configured days and once after the window has ended."""
    today = transaction.now.date()
    return [
        _reminded(transaction, rules, migration, today)
        for migration in migration_records.due(transaction.connection, today, limit)
    ]


def due_reminders(
    connection: Connection, sight: Sight, rules: RegistryRules, today: date, limit: int = 1_000
) -> list[StepAnswer]:
    """Return the reminders that a tick on a day would send, without sending them."""
    return [
        _reminder(connection, sight, migration, today, _left(connection, rules, migration, today))
        for migration in migration_records.due(connection, today, limit)
    ]


def _left(
    connection: Connection, rules: RegistryRules, migration: StoredMigration, today: date
) -> list[ConsumerStatus]:
    statuses = migration_status.consumer_statuses(connection, rules, migration, today)
    return [status for status in statuses if status.is_left]


def _reminder(
    connection: Connection, sight: Sight, migration: StoredMigration, today: date, left: Sequence[ConsumerStatus]
) -> StepAnswer:
    ends = migration.ends_on or today
    when = f"ends on {ends}" if ends >= today else f"ended on {ends}"
    names = ", ".join(visible_consumers(left, sight)) or "none"
    members = versions.versions_in_line(connection, migration.line)
    return StepAnswer(
        contract=migration.contract,
        version=migration.version,
        before=members[0].status.value if members else "gone",
        after=members[0].status.value if members else "gone",
        reason=f"the window {when}; still to move: {names}",
    )


def _reminded(transaction: Transaction, rules: RegistryRules, migration: StoredMigration, today: date) -> StepAnswer:
    left = _left(transaction.connection, rules, migration, today)
    sight = public_sight(transaction)
    reminder = _reminder(transaction.connection, sight, migration, today, left)
    ends = migration.ends_on or today
    transaction.record(
        CALENDAR,
        "migration.remind",
        f"{migration.line} -> {migration.to_line}",
        details={"migration": migration.id, "consumers": [status.consumer for status in left]},
    )
    migration_records.change(
        transaction, migration.id, remind_on=next_reminder(migration.ends_on, rules.reminders, today)
    )
    if left:
        parties = {status.consumer for status in left} | {status.team for status in left if status.team}
        parties |= versions.owners_of(transaction.connection, migration.line) | (
            {migration.owner} if migration.owner else set()
        )
        transaction.notify(
            "migration.reminder" if ends >= today else "migration.overdue",
            migration.contract,
            f"Migration from {migration.line} to {migration.to_line}: {reminder.reason}",
            version=migration.to_version,
            details={
                "migration": migration.id,
                "ends_on": str(ends),
                "guide": migration.guide,
                "consumers": {status.consumer: status.state.value for status in left if sees_consumer(sight, status)},
            },
            parties=parties,
        )
    return reminder
